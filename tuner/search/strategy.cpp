#include "tuner/search/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attune/error.hpp"
#include "tuner/base/text.hpp"
#include "tuner/search/exhaustive.hpp"
#include "tuner/search/portfolio.hpp"
#include "tuner/search/random.hpp"

namespace attune::search {

std::vector<std::string> strategy_names() { return {"exhaustive", "portfolio", "random", "winners"}; }

std::unique_ptr<Strategy> make_strategy(const std::string& name, const space::SearchSpace& space,
                                        const StrategyOptions& options) {
  if (options.first && *options.first >= space.size()) {
    throw UsageError(fmt::format("failed starting strategy '{}': the first configuration is number {} of a space of {}",
                                 name, *options.first, space.size()));
  }
  if (name == "exhaustive") return std::make_unique<Exhaustive>(space.size(), options.first);
  if (name == "random") return std::make_unique<Random>(space.size(), options);
  if (name == "portfolio" || name == "winners") return std::make_unique<Portfolio>(options);
  const std::string near = base::closest(name, strategy_names());
  throw UsageError(fmt::format("failed starting strategy '{}': there is no such strategy; known: {}{}", name,
                               fmt::join(strategy_names(), ", "),
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

}  // namespace attune::search
