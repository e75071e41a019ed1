#include "tuner/search/portfolio.hpp"

#include <algorithm>

namespace attune::search {

Portfolio::Portfolio(std::optional<space::Ordinal> first, const std::vector<space::Ordinal>& winners) {
  if (first) order_.push_back(*first);
  for (const auto ordinal : winners) {
    if (std::find(order_.begin(), order_.end(), ordinal) == order_.end()) order_.push_back(ordinal);
  }
}

std::optional<space::Ordinal> Portfolio::propose() {
  if (next_ == order_.size()) return std::nullopt;
  return order_[next_++];
}

}  // namespace attune::search
