#include "tuner/runtime/evidence.hpp"

#include "attune/error.hpp"

namespace attune::runtime {
namespace {

/// A program that asks for ever other sizes begins anew.
constexpr std::size_t kMostKeptBytes = 64 << 20;

}  // namespace

void Evidence::begin(const std::vector<Layer>& layers, const std::string& template_hash, const std::string& device_key,
                     const std::string& policy) {
  std::vector<db::Database::Version> versions;
  bool readable = true;
  for (const auto& layer : layers) {
    try {
      versions.push_back(layer.database.version());
    } catch (const DatabaseError&) {  // the decision meets and tells it
      readable = false;
    }
  }
  const bool same = template_hash == template_hash_ && device_key == device_key_ && policy == policy_ && versions == versions_;
  if (readable_ && readable && same && kept_bytes_ < kMostKeptBytes) return;
  databases_.clear();
  kept_bytes_ = 0;
  readable_ = readable;
  template_hash_ = template_hash;
  device_key_ = device_key;
  policy_ = policy;
  versions_ = std::move(versions);
}

const std::vector<db::BestRow>& Evidence::candidates(const Layer& layer, const std::string& family) {
  auto& candidates = databases_[&layer.database].candidates;
  const auto found = candidates.find(family);
  if (found != candidates.end()) return found->second;
  auto rows = layer.database.candidates(template_hash_, family, policy_);
  for (const auto& row : rows) kept_bytes_ += sizeof row + row.detail_json.size();
  return candidates.emplace(family, std::move(rows)).first->second;
}

const Evidence::Known* Evidence::find(const db::Database& database, const std::string& problem, const std::string& configuration) const {
  const auto of_database = databases_.find(&database);
  if (of_database == databases_.end()) return nullptr;
  const auto of_problem = of_database->second.known.find(problem);
  if (of_problem == of_database->second.known.end()) return nullptr;
  const auto known = of_problem->second.find(configuration);
  return known == of_problem->second.end() ? nullptr : &known->second;
}

const Evidence::Known& Evidence::keep(const db::Database& database, const std::string& problem, const std::string& configuration,
                                      Known known) {
  kept_bytes_ += sizeof known + configuration.size();
  return databases_[&database].known[problem][configuration] = known;
}

}  // namespace attune::runtime
