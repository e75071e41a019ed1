#pragma once
#include "tuner/verify/support.hpp"

namespace attune::worker {

/// What a pure read of 4 GiB reaches on the device, best of a few grid shapes; cold. Units: bytes per second. 0 when the device has too
/// little free memory. Throws: CudaError.
[[nodiscard]] double read_ceiling_bytes_per_s(verify::Support& support, const spec::DeviceInfo& device);

}  // namespace attune::worker
