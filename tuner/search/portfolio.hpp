#pragma once
#include <vector>

#include "tuner/search/strategy.hpp"

namespace attune::search {

/// The first configuration, then the winners in their order, each once, and nothing else.
class Portfolio final : public Strategy {
 public:
  /// Requires: all ordinals of one space.
  Portfolio(std::optional<space::Ordinal> first, const std::vector<space::Ordinal>& winners);
  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal, std::optional<double>) override {}

 private:
  std::vector<space::Ordinal> order_;
  std::size_t next_ = 0;
};

}  // namespace attune::search
