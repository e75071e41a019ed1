#include "tuner/search/trials.hpp"

#include <limits>
#include <utility>

namespace attune::search {

std::optional<double> Trials::cost(space::Ordinal ordinal) const {
  const auto found = costs_.find(ordinal);
  return found == costs_.end() ? std::nullopt : found->second;
}

std::optional<space::Ordinal> Trials::propose_any(std::mt19937_64& random) {
  if (const auto first = std::exchange(first_, std::nullopt); first && costs_.try_emplace(*first).second) return first;
  while (const auto ordinal = order_.next(random))
    if (costs_.try_emplace(*ordinal).second) return ordinal;
  return std::nullopt;
}

std::optional<double> Trials::report(space::Ordinal ordinal, std::optional<double> median_us) {
  std::optional<double>& cost = costs_[ordinal];
  if (cost) return std::nullopt;
  cost = median_us.value_or(std::numeric_limits<double>::infinity());
  return cost;
}

}  // namespace attune::search
