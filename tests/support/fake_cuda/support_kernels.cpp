// attune's own device kernels on the host: the text of tuner/measure/support.cu itself, compiled as C++ with a loop in
// place of the grid, so that fills, guards, checks and comparisons are the same bit for bit. Two exceptions: attune_reduce,
// whose barriers a loop over threads cannot pass, and attune_read, which would read gigabytes for nobody.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {
namespace device {

struct Index {
  unsigned x = 0;
  unsigned y = 0;
};
thread_local Index blockIdx, threadIdx, blockDim, gridDim;

struct uint4 {
  unsigned x, y, z, w;
};

// The text's own u64, u32.
inline unsigned long long atomicAdd(unsigned long long* target, unsigned long long value) {
  const auto before = *target;
  *target += value;
  return before;
}
inline void atomicMax(unsigned long long* target, unsigned long long value) { *target = std::max(*target, value); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
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
#undef asm
#undef __forceinline__
#undef __shared__
#undef __global__
#undef __device__
#pragma GCC diagnostic pop

void convert(float& value, Half x) { value = static_cast<float>(std::bit_cast<_Float16>(x.bits)); }
void convert(Half& value, float x) { value.bits = std::bit_cast<unsigned short>(static_cast<_Float16>(x)); }

/// The kernels stride over the grid, so that any geometry gives the same answer; attune_check_zero's tail needs up to
/// seven threads.
template <class Kernel>
void for_each_thread(Kernel&& kernel) {
  gridDim.x = 1;
  blockDim.x = 8;
  blockIdx.x = 0;
  for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) kernel();
}

/// What one thread of attune_reduce has before the first barrier.
Partial share_of_thread(const void* source, u64 count, int type, u64 first, u64 stride) {
  Partial mine = {0.0, 0.0, 0, ~0ull, 0};
  with_type(type, [&](auto tag) {
    typedef typename decltype(tag)::Type T;
    const T* const in = static_cast<const T*>(source);
    for (u64 i = first; i < count; i += stride) {
      const double value = Element<T>::to_double(in[i]);
      u64 integer = 0;
      if constexpr (!Element<T>::kFloating) integer = static_cast<u64>(static_cast<long long>(in[i]));
      combine(mine, Partial{value, std::fabs(value), integer, ordered(in[i]), ordered(in[i])});
    }
  });
  return mine;
}

Partial share_of_block(const void* source, u64 count, int type, u64 block, u64 blocks) {
  std::array<Partial, kReduceThreads> shared;
  for (u64 thread = 0; thread < kReduceThreads; ++thread)
    shared[thread] = share_of_thread(source, count, type, block * kReduceThreads + thread, blocks * kReduceThreads);
  for (u32 half = kReduceThreads / 2; half > 0; half /= 2) {
    for (u32 thread = 0; thread < half; ++thread) combine(shared[thread], shared[thread + half]);
  }
  return shared[0];
}

}  // namespace device

constexpr double kBytesPerUs = 4.5e6;
constexpr double kLaunchUs = 1;

std::size_t element_bytes(int type) {
  std::size_t bytes = 0;
  device::with_type(type, [&](auto tag) { bytes = sizeof(typename decltype(tag)::Type); });
  return bytes;
}

/// Runs `kernel` when all `bytes` bytes from the first argument on belong to the device.
template <class Kernel>
Effect over(const KernelLaunch& launch, std::size_t bytes, Kernel&& kernel) {
  if (!launch.may_access(launch.argument<void*>(0), bytes)) return {kLaunchUs, Fault::IllegalAddress};
  device::for_each_thread(kernel);
  return {kLaunchUs + static_cast<double>(bytes) / kBytesPerUs, Fault::None};
}

using device::Partial;
using device::Slot;
using device::u64;

Effect fill(const KernelLaunch& l) {
  return over(l, l.argument<u64>(1) * element_bytes(l.argument<int>(2)), [&] {
    device::attune_fill(l.argument<void*>(0), l.argument<u64>(1), l.argument<int>(2), l.argument<int>(3), l.argument<u64>(4));
  });
}

Effect check_fill(const KernelLaunch& l) {
  return over(l, l.argument<u64>(1) * element_bytes(l.argument<int>(2)), [&] {
    device::attune_check_fill(l.argument<void*>(0), l.argument<u64>(1), l.argument<int>(2), l.argument<int>(3), l.argument<u64>(4),
                              l.argument<Slot*>(5));
  });
}

/// One row of blocks a guard zone.
template <class Zones>
Effect over_zones(const KernelLaunch& l, Zones&& zones) {
  const auto all = l.argument<device::Regions>(0);
  for (unsigned row = 0; row < l.grid.y; ++row) {
    const device::Region& region = all.regions[row];
    const std::size_t bytes = region.count * static_cast<std::size_t>(region.element_bytes);
    if (!l.may_access(region.start, bytes)) return {kLaunchUs, Fault::IllegalAddress};
    device::blockIdx.y = row;
    device::for_each_thread([&] { zones(all); });
  }
  device::blockIdx.y = 0;
  return {kLaunchUs, Fault::None};
}

Effect guard(const KernelLaunch& l) {
  return over_zones(l, [](const device::Regions& all) { device::attune_guard(all); });
}

Effect check_guard(const KernelLaunch& l) {
  return over_zones(l, [&](const device::Regions& all) { device::attune_check_guard(all, l.argument<Slot*>(1)); });
}

Effect check_zero(const KernelLaunch& l) {
  return over(l, l.argument<u64>(1), [&] { device::attune_check_zero(l.argument<void*>(0), l.argument<u64>(1), l.argument<Slot*>(2)); });
}

Effect compare(const KernelLaunch& l) {
  return over(l, l.argument<u64>(2) * element_bytes(l.argument<int>(3)), [&] {
    device::attune_compare(l.argument<void*>(0), l.argument<void*>(1), l.argument<u64>(2), l.argument<int>(3), l.argument<double>(4),
                           l.argument<double>(5), l.argument<Slot*>(6));
  });
}

Effect reduce(const KernelLaunch& l) {
  const auto source = l.argument<const void*>(0);
  const auto count = l.argument<u64>(1);
  const int type = l.argument<int>(2);
  const std::size_t bytes = count * element_bytes(type);
  if (!l.may_access(source, bytes)) return {kLaunchUs, Fault::IllegalAddress};
  const Partial nothing = device::share_of_thread(source, 0, type, 0, 1);
  for (u64 block = 0; block < l.grid.x; ++block) {
    const bool empty = block * device::kReduceThreads >= count;
    l.argument<Partial*>(3)[block] = empty ? nothing : device::share_of_block(source, count, type, block, l.grid.x);
  }
  return {kLaunchUs + static_cast<double>(bytes) / kBytesPerUs, Fault::None};
}

Effect read(const KernelLaunch& l) {
  const std::size_t bytes = l.argument<u64>(1) * sizeof(device::uint4);
  if (!l.may_access(l.argument<void*>(0), bytes)) return {kLaunchUs, Fault::IllegalAddress};
  return {kLaunchUs + static_cast<double>(bytes) / kBytesPerUs, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& support_kernels() {
  static const std::vector<RegisteredKernel> kernels = {
      {"attune_fill", fill},           {"attune_check_fill", check_fill}, {"attune_guard", guard}, {"attune_check_guard", check_guard},
      {"attune_check_zero", check_zero}, {"attune_compare", compare},     {"attune_reduce", reduce}, {"attune_read", read}};
  return kernels;
}

}  // namespace attune::fake_cuda
