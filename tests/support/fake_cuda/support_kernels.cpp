// attune's own device kernels on the host: the text of tuner/verify/support.cu and of the built-in references itself, compiled as C++ with
// a loop in place of the grid, so that fills, guards, checks and answers are the same bit for bit. One exception: attune_read, which would
// read gigabytes for nobody.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

constexpr double kSupportUs = 2;  // nobody tunes them
constexpr double kBytesPerUs = 4.5e6;

namespace device {

#include "tests/support/device_on_host.inc"

/// Runs a kernel of the text, with its arguments read by their types: a changed signature needs no change here.
template <auto kernel>
struct OnHost;

template <class... Arguments, void (*kernel)(Arguments...)>
struct OnHost<kernel> {
  static Effect run(const KernelLaunch& launch) {
    run_grid(launch, std::index_sequence_for<Arguments...>{});
    return {kSupportUs, Fault::None};
  }

 private:
  /// The kernels stride over a row of blocks, so that any number of threads gives the same answer; the tail of
  /// attune_check_zero needs up to seven. Rows are told apart.
  template <std::size_t... index>
  static void run_grid(const KernelLaunch& launch, std::index_sequence<index...>) {
    const std::tuple<Arguments...> arguments{launch.argument<Arguments>(index)...};
    gridDim = {1, launch.grid.y, 1};
    blockDim = {std::min(launch.block.x, 8u), 1, 1};
    blockIdx = threadIdx = {0, 0, 0};
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y) {
      for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) kernel(std::get<index>(arguments)...);
    }
  }
};

}  // namespace device

/// attune_read(vectors, count, sink): only takes its time.
Effect read(const KernelLaunch& launch) {
  const auto vectors = launch.argument<device::u64>(1);
  return {1 + static_cast<double>(vectors * sizeof(device::uint4)) / kBytesPerUs, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& support_kernels() {
  using namespace device;
  static const std::vector<RegisteredKernel> kernels = {{"attune_fill", OnHost<attune_fill>::run},
                                                        {"attune_guard", OnHost<attune_guard>::run},
                                                        {"attune_check_guard", OnHost<attune_check_guard>::run},
                                                        {"attune_check_zero", OnHost<attune_check_zero>::run},
                                                        {"attune_check_said", OnHost<attune_check_said>::run},
                                                        {"attune_check_values_said", OnHost<attune_check_values_said>::run},
                                                        {"attune_compare", OnHost<attune_compare>::run},
                                                        {"attune_note", OnHost<attune_note>::run},
                                                        {"attune_magnitude", OnHost<attune_magnitude>::run},
                                                        {"attune_read_plants", OnHost<attune_read_plants>::run},
                                                        {"attune_plant", OnHost<attune_plant>::run},
                                                        {"attune_unplant", OnHost<attune_unplant>::run},
                                                        {"attune_alter", OnHost<attune_alter>::run},
#include "references/kernels.inc"
                                                        {"attune_read", read}};
  return kernels;
}

}  // namespace attune::fake_cuda
