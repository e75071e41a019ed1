#include "tuner/session/portfolio.hpp"

#include <algorithm>

#include "attune/error.hpp"

namespace attune::session {

namespace {

/// Adds what is of this space and not there yet.
void propose(std::vector<space::Ordinal>& ordinals, const std::vector<db::BestRow>& rows, const spec::KernelTemplate& kernel, const space::SearchSpace& space) {
  const auto add = [&](const spec::Configuration& configuration) {
    const auto ordinal = space.find(configuration);
    if (ordinal && std::find(ordinals.begin(), ordinals.end(), *ordinal) == ordinals.end()) ordinals.push_back(*ordinal);
  };
  for (const auto& row : rows) {
    try {
      const auto configuration = spec::configuration_from_text(kernel, row.configuration);
      add(configuration);
      add(spec::for_any_size(kernel, configuration));
    } catch (const UsageError&) {
      continue;  // a row that is not of this template's space is no proposal; dispatch refuses it and says so
    }
  }
}

}  // namespace

std::vector<space::Ordinal> portfolio_of(const db::Database& database, const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                         const std::string& policy, const space::SearchSpace& space) {
  std::vector<space::Ordinal> ordinals;
  propose(ordinals, database.candidates(kernel.content_hash, spec::family_text(problem), policy), kernel, space);
  return ordinals;
}

std::vector<space::Ordinal> winners_of(const db::Database& database, const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                       const std::string& policy, const space::SearchSpace& space) {
  auto ordinals = portfolio_of(database, kernel, problem, policy, space);
  propose(ordinals, database.best({.template_hash = kernel.content_hash, .policy = policy}), kernel, space);
  return ordinals;
}

std::set<std::string> portfolio_of(const std::vector<db::BestRow>& rows, const std::string& default_configuration) {
  std::set<std::string> names{default_configuration};
  for (const auto& row : rows) names.insert(row.configuration);
  return names;
}

}  // namespace attune::session
