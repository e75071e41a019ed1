#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <unordered_map>

namespace attune::space {

/// Uniform in [0, bound). std::uniform_int_distribution and std::shuffle are left to each standard library: one seed
/// would give another order on another platform, and a tuning run would not repeat. Requires: bound > 0.
[[nodiscard]] std::uint64_t draw_below(std::mt19937_64& random, std::uint64_t bound);

/// A uniformly random order of 0 .. size-1, drawn one element at a time: Fisher-Yates over an array of which only the
/// displaced entries exist, so that the first draws of a huge space cost nothing but themselves.
class LazyPermutation {
 public:
  explicit LazyPermutation(std::uint64_t size) : size_(size) {}
  /// Nothing once every element has been drawn.
  [[nodiscard]] std::optional<std::uint64_t> next(std::mt19937_64& random);

 private:
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> displaced_;  ///< place -> element, where they differ
};

}  // namespace attune::space
