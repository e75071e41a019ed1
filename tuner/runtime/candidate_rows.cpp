#include "tuner/runtime/candidate_rows.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tuner/base/json.hpp"
#include "tuner/runtime/lookup.hpp"

namespace attune::runtime {

std::vector<Candidate> CandidateRows::of(const spec::Problem& family, Evidence& evidence) {
  std::vector<Candidate> candidates;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    read(layer, [&] {
      const auto& rows = evidence.candidates(layers_[layer], spec::family_text(family));
      if (rows.empty()) return;
      const auto infos = described_devices(layer);
      std::size_t unverified = 0;
      for (const auto& row : rows) {
        if (row.objective != objective_) {
          unverified += row.objective == db::kUnverifiedTime ? 1 : 0;
          continue;
        }
        if (auto candidate = place_row(row, layer, family, infos)) candidates.push_back(std::move(*candidate));
      }
      if (unverified > 0)
        tell(fmt::format("{}: {} result(s) are unverified, since the template has no reference; Options::unverified dispatches them",
                         layers_[layer].path.string(), unverified));
    });
  }
  std::sort(candidates.begin(), candidates.end(), nearer);
  return candidates;
}

std::optional<Candidate> CandidateRows::best_of(std::size_t layer, const spec::Problem& family, const db::Query& query) {
  std::optional<Candidate> candidate;
  read(layer, [&] {
    auto row = layers_[layer].database.best_of(query);
    if (row) candidate = place_row(std::move(*row), layer, family, described_devices(layer));
  });
  return candidate;
}

void CandidateRows::return_to(const Mark& mark) {
  passed_over_.resize(mark.told);
  unreadable_ = mark.unreadable;
}

std::map<std::string, std::string> CandidateRows::described_devices(std::size_t layer) const {
  std::map<std::string, std::string> infos;
  for (auto& row : layers_[layer].database.devices()) infos.emplace(row.hard_key, std::move(row.info_json));
  return infos;
}

std::optional<Candidate> CandidateRows::place_row(db::BestRow recorded, std::size_t layer, const spec::Problem& family,
                                                  const std::map<std::string, std::string>& infos) {
  Candidate candidate;
  candidate.row = std::move(recorded);
  candidate.layer = layer;
  candidate.problem = {family.choices, {}};
  const db::BestRow& row = candidate.row;
  const spec::Problem& donor_problem = candidate.problem;
  const auto refuse = [&](const std::string& reason) {
    passed_over_.push_back(fmt::format("{} ({}): {}", row.problem, layers_[layer].path.string(), reason));
    return std::nullopt;
  };
  try {
    base::parse_json(row.sizes_json).get_to(candidate.problem.sizes);
    if (!same_sizes(donor_problem)) return refuse("its sizes " + row.sizes_json + " are not those of the template");
    candidate.size_distance = donor_problem.sizes == problem_.sizes ? 0 : size_distance(donor_problem, problem_);
    const auto info = infos.find(row.device_key);
    if (info == infos.end()) return refuse("its device " + row.device_key + " is not described there");
    const spec::DeviceInfo donor = donor_of(row, described(info->second));
    if (donor.backend != device_.backend) return refuse("its device is of the backend " + donor.backend);
    set_tier(candidate, donor, device_, device_key_);
    if (donor_problem.sizes != problem_.sizes) generalise(candidate);
  } catch (const std::exception& error) {  // json and field errors: the row is damaged, the others are not
    return refuse(fmt::format("the row cannot be read: {}", error.what()));
  }
  return candidate;
}

void CandidateRows::generalise(Candidate& candidate) const {
  db::BestRow& row = candidate.row;
  try {
    const auto configuration = spec::configuration_from_text(kernel_, row.configuration);
    if (!spec::is_specialised(kernel_, configuration)) return;
    candidate.specialised = std::exchange(row.configuration, spec::to_text(kernel_, spec::for_any_size(kernel_, configuration)));
    candidate.specialised_us = row.median_us;
  } catch (const UsageError&) {
    return;  // not in the space: told when it is tried
  }
  row.cubin_key.clear();
  row.median_us = 0;
  candidate.generalised = true;
}

const spec::DeviceInfo& CandidateRows::described(const std::string& info_json) {
  const auto known = donors_.find(info_json);
  if (known != donors_.end()) return known->second;
  return donors_.emplace(info_json, spec::DeviceInfo::from_json(base::parse_json(info_json))).first->second;
}

bool CandidateRows::same_sizes(const spec::Problem& donor) const {
  return std::equal(donor.sizes.begin(), donor.sizes.end(), problem_.sizes.begin(), problem_.sizes.end(),
                    [](const auto& a, const auto& b) { return a.first == b.first; });
}

}  // namespace attune::runtime
