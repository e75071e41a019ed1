#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {

struct DeviceSettings {
  std::string name = "Fake GPU";
  int compute_capability = 90;
  int sm_count = 132;
  std::size_t memory_bytes = std::size_t{3} << 30;  ///< below what attune's read ceiling needs: that reads 4 GiB
  int l2_bytes = 8 << 20;
  double speed = 1;  ///< times are divided by it
};

/// What happens to one launch of a kernel, whatever its arguments.
struct PlannedFault {
  std::string kernel;
  std::uint64_t launch = 0;  ///< counted from 0, in each process anew
  Fault fault = Fault::None;
  double stall_ms = 0;  ///< really slept before it
};

/// What the fake driver pretends, from the environment variable ATTUNE_FAKE_CUDA: a JSON text or the path of a file.
/// docs/testing.md lists the members.
struct Settings {
  std::vector<DeviceSettings> devices;
  std::vector<int> visible;  ///< those that a process sees, as indices of `devices`, in the order of its ordinals
  double noise = 0;          ///< relative standard deviation of a submission's time
  double drift_per_s = 0;    ///< relative, per second of virtual time
  double real_time = 0;      ///< share of the virtual time that synchronising really waits
  double loading_us = 0;     ///< that the first submission of a loaded kernel takes besides
  std::uint64_t seed = 1;
  CUresult init_result = CUDA_SUCCESS;
  int driver_version = 13000;
  std::vector<PlannedFault> faults;

  /// Throws: std::runtime_error naming the member that is wrong.
  [[nodiscard]] static Settings from_environment();
};

}  // namespace attune::fake_cuda
