#include "tuner/session/portfolio.hpp"

#include "attune/error.hpp"

namespace attune::session {

std::vector<space::Ordinal> portfolio_of(const db::Database& database, const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                         const std::string& policy, const space::SearchSpace& space) {
  std::vector<space::Ordinal> ordinals;
  for (const auto& row : database.candidates(kernel.content_hash, spec::family_text(problem), policy)) {
    try {
      if (const auto ordinal = space.find(spec::configuration_from_text(kernel, row.configuration))) ordinals.push_back(*ordinal);
    } catch (const UsageError&) {
      continue;  // a row that is not of this template's space is no proposal; dispatch refuses it and says so
    }
  }
  return ordinals;
}

std::set<std::string> portfolio_of(const std::vector<db::BestRow>& rows, const std::string& default_configuration) {
  std::set<std::string> names{default_configuration};
  for (const auto& row : rows) names.insert(row.configuration);
  return names;
}

}  // namespace attune::session
