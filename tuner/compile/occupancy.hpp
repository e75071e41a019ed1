#pragma once
#include <cstdint>

#include "tuner/compile/compiler.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::compile {

struct Occupancy {
  int blocks_per_sm = 0;
  double fraction = 0;          ///< resident threads / threads an SM can hold
  const char* limited_by = "";  ///< "registers", "shared memory", "blocks", "threads"; "none" when the SM is full
};

/// Theoretical occupancy of a kernel from its compiled resources (ptxas' figures); 0 blocks when it cannot be launched.
/// Units:    bytes per block beyond the static ones
/// Throws:   UsageError (block or bytes below what makes sense), Error (an architecture that cuda_occupancy.h does not
/// know) Source:   cuda_occupancy.h (carveout default)
[[nodiscard]] Occupancy occupancy(const KernelResources& kernel, int block_threads, std::int64_t dynamic_shared_bytes,
                                  const spec::DeviceInfo& device);

}  // namespace attune::compile
