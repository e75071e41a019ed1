#pragma once
#include <cstdint>

namespace attune::bench {

/// The finaliser of SplitMix64: neighbouring indices give unrelated values.
__device__ inline std::uint32_t random_bits(std::uint64_t index, std::uint32_t seed) {
  std::uint64_t z = (index + 1) * 0x9E3779B97F4A7C15ull + seed;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return static_cast<std::uint32_t>(z >> 32);
}

}  // namespace attune::bench
