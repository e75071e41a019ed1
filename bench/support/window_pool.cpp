#include "bench/support/window_pool.hpp"

#include <algorithm>

#include "bench/support/kernels.hpp"

namespace attune::bench {
namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 30;
constexpr double kShareOfFree = 0.6;
constexpr std::size_t kAlignment = 4096;
constexpr std::uint32_t kSeed = 20;

std::size_t pool_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  gpu::check(gpu::Driver::get().cuMemGetInfo(&free, &total), "cuMemGetInfo", "reading the free memory");
  const auto share = static_cast<std::size_t>(static_cast<double>(free) * kShareOfFree);
  return std::min(kMostBytes, share / kAlignment * kAlignment);
}

std::size_t stride(std::size_t window_bytes) { return (window_bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

WindowPool::WindowPool(const gpu::Stream& stream) : data_(pool_bytes()) { fill(element_, stream); }

void WindowPool::fill(Element element, const gpu::Stream& stream) {
  fill_random(element, reinterpret_cast<void*>(data_.address()), data_.bytes(), kSeed, stream.get());
  stream.synchronize();
  element_ = element;
}

void WindowPool::fill_windows(std::size_t window_bytes, std::int64_t count,
                              const std::function<void(void* window, std::int64_t index)>& write, const gpu::Stream& stream) {
  for (std::int64_t index = 0; index < count; ++index) {
    write(reinterpret_cast<void*>(data_.address() + static_cast<std::size_t>(index) * stride(window_bytes)), index);
  }
  stream.synchronize();
}

std::int64_t WindowPool::windows(std::size_t window_bytes) const {
  return static_cast<std::int64_t>(data_.bytes() / stride(std::max<std::size_t>(window_bytes, 1)));
}

const void* WindowPool::window(std::int64_t index, std::size_t window_bytes) const {
  return reinterpret_cast<const void*>(data_.address() + static_cast<std::size_t>(index) * stride(window_bytes));
}

double WindowPool::sum_of_first_window(std::int64_t count, const gpu::Stream& stream) const {
  const auto& driver = gpu::Driver::get();
  const gpu::Buffer sum(sizeof(double));
  gpu::check(driver.cuMemsetD8Async(sum.address(), 0, sizeof(double), stream.get()), "cuMemsetD8Async", "clearing the reference");
  add_in_double(element_, window(0, 0), count, reinterpret_cast<double*>(sum.address()), stream.get());
  double result = 0;
  gpu::check(driver.cuMemcpyDtoHAsync(&result, sum.address(), sizeof(double), stream.get()), "cuMemcpyDtoHAsync", "reading the reference");
  stream.synchronize();
  return result;
}

}  // namespace attune::bench
