#include "tuner/search/portfolio.hpp"

#include <algorithm>

namespace attune::search {

Portfolio::Portfolio(const StrategyOptions& options) {
  if (options.first) order_.push_back(*options.first);
  for (const auto ordinal : options.portfolio) {
    if (std::find(order_.begin(), order_.end(), ordinal) == order_.end()) order_.push_back(ordinal);
  }
}

std::optional<space::Ordinal> Portfolio::propose() {
  if (next_ == order_.size()) return std::nullopt;
  return order_[next_++];
}

}  // namespace attune::search
