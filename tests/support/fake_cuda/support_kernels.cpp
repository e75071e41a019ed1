// attune's own device kernels on the host: the text of tuner/measure/support.cu itself, compiled as C++ with a loop in
// place of the grid, so that fills, guards, checks and comparisons are the same bit for bit. Two exceptions: attune_reduce,
// whose barriers a loop over threads cannot pass, and attune_read, which would read gigabytes for nobody.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

constexpr double kSupportUs = 2;  // nobody tunes them
constexpr double kBytesPerUs = 4.5e6;

namespace device {

thread_local Extent blockIdx, threadIdx, blockDim, gridDim;

struct uint4 {
  unsigned x, y, z, w;
};

// The text's own u64, u32.
inline unsigned long long atomicAdd(unsigned long long* target, unsigned long long value) {
  const auto before = *target;
  *target += value;
  return before;
}
inline void atomicAdd(double* target, double value) { *target += value; }
inline void atomicMax(unsigned long long* target, unsigned long long value) { *target = std::max(*target, value); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
__extension__ typedef unsigned __int128 Wide;
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(Wide{a} * b >> 64);
}
inline void __syncthreads() { throw std::logic_error("a kernel with barriers needs a host version"); }

struct Half;
void convert(float& value, Half x);
void convert(Half& value, float x);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline
// The only assembly of the text converts `x` between f16 and f32 into `value`.
#define asm(...) convert(value, x)
#include "tuner/measure/support.cu"
#include "tuner/measure/support_histogram.cu"
#include "tuner/measure/support_reduce.cu"
#include "tuner/measure/support_rows.cu"
#undef asm
#undef __forceinline__
#undef __shared__
#undef __global__
#undef __device__
#pragma GCC diagnostic pop

void convert(float& value, Half x) { value = static_cast<float>(std::bit_cast<_Float16>(x.bits)); }
void convert(Half& value, float x) { value.bits = std::bit_cast<unsigned short>(static_cast<_Float16>(x)); }

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
    blockDim = {8, 1, 1};
    blockIdx = threadIdx = {0, 0, 0};
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y) {
      for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) kernel(std::get<index>(arguments)...);
    }
  }
};

Partial share_of_block(const void* source, const void* other, u64 count, int type, const Mapping& mapping, u64 block, u64 blocks) {
  std::array<Partial, kReduceThreads> shared;
  for (u64 thread = 0; thread < kReduceThreads; ++thread)
    shared[thread] = share_of_thread(source, other, count, type, mapping, block * kReduceThreads + thread, blocks * kReduceThreads);
  for (u32 half = kReduceThreads / 2; half > 0; half /= 2) {
    for (u32 thread = 0; thread < half; ++thread) combine(shared[thread], shared[thread + half]);
  }
  return shared[0];
}

}  // namespace device

/// attune_reduce(source, other, count, type, mapping, partials).
Effect reduce(const KernelLaunch& launch) {
  const auto* const source = launch.argument<const void*>(0);
  const auto* const other = launch.argument<const void*>(1);
  const auto count = launch.argument<device::u64>(2);
  const int type = launch.argument<int>(3);
  const auto mapping = launch.argument<device::Mapping>(4);
  auto* const partials = launch.argument<device::Partial*>(5);
  for (device::u64 block = 0; block < launch.grid.x; ++block) {
    const bool empty = block * device::kReduceThreads >= count;
    partials[block] = empty ? device::no_elements() : device::share_of_block(source, other, count, type, mapping, block, launch.grid.x);
  }
  return {kSupportUs, Fault::None};
}

/// attune_read(vectors, count, sink): only takes its time.
Effect read(const KernelLaunch& launch) {
  const auto vectors = launch.argument<device::u64>(1);
  return {1 + static_cast<double>(vectors * sizeof(device::uint4)) / kBytesPerUs, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& support_kernels() {
  using namespace device;
  static const std::vector<RegisteredKernel> kernels = {{"attune_fill", OnHost<attune_fill>::run},
                                                        {"attune_check_fill", OnHost<attune_check_fill>::run},
                                                        {"attune_guard", OnHost<attune_guard>::run},
                                                        {"attune_check_guard", OnHost<attune_check_guard>::run},
                                                        {"attune_check_zero", OnHost<attune_check_zero>::run},
                                                        {"attune_compare", OnHost<attune_compare>::run},
                                                        {"attune_reduce_rows", OnHost<attune_reduce_rows>::run},
                                                        {"attune_join_rows", OnHost<attune_join_rows>::run},
                                                        {"attune_compare_rows", OnHost<attune_compare_rows>::run},
                                                        {"attune_fill_histogram", OnHost<attune_fill_histogram>::run},
                                                        {"attune_count", OnHost<attune_count>::run},
                                                        {"attune_compare_counts", OnHost<attune_compare_counts>::run},
                                                        {"attune_reduce", reduce},
                                                        {"attune_extreme", OnHost<attune_extreme>::run},
                                                        {"attune_find_extreme", OnHost<attune_find_extreme>::run},
                                                        {"attune_read", read}};
  return kernels;
}

}  // namespace attune::fake_cuda
