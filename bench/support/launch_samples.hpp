#pragma once
// How long launches of each path took, and what rows of result files say of it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/support/json.hpp"

namespace attune::bench {

/// A way to launch. kFurtherRaw does not count: with it the one function is launched as often as the other.
enum Path : std::size_t { kRaw, kKernel, kBound, kPlan, kLateRaw, kFurtherRaw, kPaths };

/// Ticks of each path, one entry for each round; the threads' one after the other.
using Samples = std::array<std::vector<std::uint32_t>, kPaths>;

/// Parts of a run, each with quantiles of its own, which the intervals are of.
inline constexpr int kParts = 25;

/// As rows of result files name it.
[[nodiscard]] const char* path_name(Path path);

/// What a row says of a path beside the raw launch. `samples`: one entry a thread. `timer_ns`: what reading the counter takes.
[[nodiscard]] Json row_of(const std::vector<Samples>& samples, Path path, double tick_ns, double timer_ns);

}  // namespace attune::bench
