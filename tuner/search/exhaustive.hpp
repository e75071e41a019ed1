#pragma once
#include "tuner/search/strategy.hpp"

namespace attune::search {

/// Every configuration in enumeration order, after `first`.
class Exhaustive final : public Strategy {
 public:
  Exhaustive(std::uint64_t space_size, std::optional<space::Ordinal> first) : size_(space_size), first_(first) {}
  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal, std::optional<double>) override {}

 private:
  std::uint64_t size_;
  std::optional<space::Ordinal> first_;
  bool first_proposed_ = false;
  space::Ordinal next_ = 0;
};

}  // namespace attune::search
