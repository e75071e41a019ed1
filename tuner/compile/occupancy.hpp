#pragma once
#include "tuner/compile/compiler.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::compile {

struct Occupancy {
  int blocks_per_sm = 0;
  double fraction = 0;          ///< resident threads / threads an SM can hold
  const char* limited_by = "";  ///< "threads", "registers", "shared memory", "blocks", "none"
};

/// Theoretical occupancy of a kernel from its compiled resources. Source: cuda_occupancy.h (carveout default).
[[nodiscard]] Occupancy occupancy(const KernelResources& kernel, int block_threads, std::int64_t dynamic_shared_bytes,
                                  const spec::DeviceInfo& device);

}  // namespace attune::compile
