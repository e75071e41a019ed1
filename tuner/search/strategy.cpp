#include "tuner/search/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "attune/error.hpp"
#include "tuner/base/text.hpp"
#include "tuner/search/annealing.hpp"
#include "tuner/search/auto.hpp"
#include "tuner/search/differential.hpp"
#include "tuner/search/exhaustive.hpp"
#include "tuner/search/forest.hpp"
#include "tuner/search/genetic.hpp"
#include "tuner/search/local.hpp"
#include "tuner/search/model.hpp"
#include "tuner/search/polished.hpp"
#include "tuner/search/portfolio.hpp"
#include "tuner/search/random.hpp"
#include "tuner/search/swarm.hpp"

namespace attune::search {
namespace {

constexpr std::pair<const char*, StrategyKind> kNames[] = {
    {"annealing", StrategyKind::Annealing},   {"auto", StrategyKind::Auto},     {"differential", StrategyKind::Differential},
    {"exhaustive", StrategyKind::Exhaustive}, {"forest", StrategyKind::Forest}, {"genetic", StrategyKind::Genetic},
    {"local", StrategyKind::Local},           {"model", StrategyKind::Model},   {"portfolio", StrategyKind::Portfolio},
    {"random", StrategyKind::Random},         {"swarm", StrategyKind::Swarm},   {"winners", StrategyKind::Winners}};

/// Nothing of the kinds that learn nothing, or end with the neighbours of the fastest by themselves.
std::unique_ptr<Strategy> unpolished(const StrategyOptions& options, const space::SearchSpace& space) {
  switch (options.kind) {
    case StrategyKind::Forest:
      return std::make_unique<Forest>(space, options.seed, options.first);
    case StrategyKind::Local:
      return std::make_unique<Local>(space, options.seed, options.first);
    case StrategyKind::Genetic:
      return std::make_unique<Genetic>(space, options.seed, options.first);
    case StrategyKind::Differential:
      return std::make_unique<Differential>(space, options.seed, options.first);
    case StrategyKind::Swarm:
      return std::make_unique<Swarm>(space, options.seed, options.first);
    case StrategyKind::Annealing:
      return std::make_unique<Annealing>(space, options.seed, options.first);
    default:
      return nullptr;
  }
}

}  // namespace

const char* name(StrategyKind kind) {
  for (const auto& [text, named] : kNames)
    if (named == kind) return text;
  return "";
}

StrategyKind strategy_named(const std::string& text) {
  for (const auto& [known, kind] : kNames)
    if (text == known) return kind;
  const std::string near = base::closest(text, strategy_names());
  throw UsageError(fmt::format("there is no strategy '{}'; known: {}{}", text, fmt::join(strategy_names(), ", "),
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const auto& [text, kind] : kNames) names.emplace_back(text);
  return names;
}

bool needs_winners(StrategyKind kind) { return kind == StrategyKind::Portfolio || kind == StrategyKind::Winners; }

bool expects(StrategyKind kind) { return kind == StrategyKind::Auto || kind == StrategyKind::Model; }

bool learns(StrategyKind kind) { return kind != StrategyKind::Exhaustive && kind != StrategyKind::Random && !needs_winners(kind); }

std::unique_ptr<Strategy> make_strategy(const StrategyOptions& options, const space::SearchSpace& space) {
  if (options.first && *options.first >= space.size()) {
    throw UsageError(fmt::format("failed starting strategy '{}': the first configuration is number {} of a space of {}", name(options.kind),
                                 *options.first, space.size()));
  }
  if (auto strategy = unpolished(options, space)) return std::make_unique<Polished>(std::move(strategy), space);
  switch (options.kind) {
    case StrategyKind::Auto:
      return std::make_unique<Auto>(space, options);
    case StrategyKind::Model:
      return std::make_unique<Model>(space, options.seed, options.first, options.hints, options.promise);
    case StrategyKind::Exhaustive:
      return std::make_unique<Exhaustive>(space.size(), options.first);
    case StrategyKind::Random:
      return std::make_unique<Random>(space.size(), options.seed, options.first);
    default:
      return std::make_unique<Portfolio>(options.first, options.winners);
  }
}

}  // namespace attune::search
