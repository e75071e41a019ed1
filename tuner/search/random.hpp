#pragma once
#include <random>

#include "tuner/search/strategy.hpp"
#include "tuner/space/permutation.hpp"

namespace attune::search {

/// A uniformly random order without repetition, after `first`; one seed gives one order on every platform.
/// The baseline that every other strategy is scored against.
class Random final : public Strategy {
 public:
  Random(std::uint64_t space_size, std::uint64_t seed, std::optional<space::Ordinal> first);
  [[nodiscard]] std::optional<space::Ordinal> propose() override;
  void report(space::Ordinal, std::optional<double>) override {}

 private:
  std::mt19937_64 random_;
  space::LazyPermutation order_;
  std::optional<space::Ordinal> first_;
  bool first_proposed_ = false;
};

}  // namespace attune::search
