#pragma once
#include <vector>

namespace attune::base {

/// Processors that this process may run on (sched_getaffinity: a container's share, not the machine), ascending.
/// Throws: EnvironmentError when the system does not tell.
[[nodiscard]] std::vector<int> available_cpus();

/// Which processors time and which compile. A compile that shares a core with a GPU worker delays its launches, and
/// that is in the measured time of everything that is not a graph.
struct CpuPlan {
  std::vector<std::vector<int>> timing;  ///< one set for each GPU worker; an empty set: not pinned
  std::vector<int> compiling;            ///< the rest; empty: no restriction
  int compile_workers = 1;
};

/// A core of its own for each GPU worker when one is left for compiling then, else nothing is pinned. Timing gets the
/// highest numbers: interrupts of disks and networks are served by the lowest by default.
/// Requires: gpu_workers >= 0; `available` ascending.
[[nodiscard]] CpuPlan plan_cpus(const std::vector<int>& available, int gpu_workers);

/// The calling thread gives way, for as long as it lives, to what else runs here at the usual priority: it gets about a third of what such
/// a thread gets of a processor that they share. Where the system refuses, it does not.
void give_way() noexcept;

}  // namespace attune::base
