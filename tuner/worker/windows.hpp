#pragma once
#include <cstddef>

#include "tuner/measure/measurement.hpp"

namespace attune::worker {

constexpr int kMostCalls = 2000;

/// How many windows (complete sets of data buffers) a cold batch can use: what the target takes at the fastest
/// imaginable speed. Hot batches use one.
[[nodiscard]] int windows_wanted(measure::CachePolicy policy, std::size_t window_bytes);

/// The windows (complete sets of data buffers) of a pool, in groups that are timed apart because their data differ in kind
/// (docs/measurement.md). Group 0 begins with window 0, whose right answer is known. Nearly every problem has one group.
struct WindowGroups {
  int groups = 1;
  int each = 1;  ///< windows of a group

  [[nodiscard]] int windows() const { return groups * each; }
  [[nodiscard]] int group_of(int window) const { return window / each; }
  /// Where call `call` of a batch of `calls` works: the last one on the first window of its group, those before it go
  /// round the others, from the `first`-th on.
  [[nodiscard]] int window_of(int group, int call, int calls, int first) const;
};

/// As many windows a group as a batch can use and `affordable_bytes` hold, all groups alike and none without a window.
[[nodiscard]] WindowGroups window_groups(int groups, measure::CachePolicy policy, std::size_t window_bytes, std::size_t affordable_bytes);

}  // namespace attune::worker
