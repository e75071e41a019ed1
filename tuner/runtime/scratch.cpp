#include "tuner/runtime/scratch.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace attune::runtime {

void ScratchPool::Claim::clean(const gpu::Driver& driver, CUstream stream) const noexcept {
  // When this fails as well the context is lost and nothing will run in it again.
  if (scratch_->zero.bytes() > 0) driver.cuMemsetD8Async(scratch_->zero.address(), 0, scratch_->zero.bytes(), stream);
}

ScratchPool::Claim ScratchPool::claim(const gpu::Driver& driver, CUcontext context, CUstream stream, std::size_t zero_bytes,
                                      std::size_t plain_bytes) {
  unsigned long long stream_id = 0;
  const CUresult result = driver.cuStreamGetId(stream, &stream_id);
  if (result != CUDA_SUCCESS) gpu::check(result, "cuStreamGetId", "finding the scratch of a stream");  // describes only then
  const std::uint64_t hash = mix(mix(0, reinterpret_cast<std::uint64_t>(context)), stream_id);
  Scratch* scratch = table_.find(hash, [&](Scratch& entry) {
    return entry.context == context && entry.stream_id == stream_id && !entry.busy.exchange(true, std::memory_order_acquire);
  });
  if (scratch == nullptr) scratch = add(hash, context, stream_id);
  Claim claim(scratch);
  if (!claim.holds(zero_bytes, plain_bytes)) grow(driver, *scratch, stream, zero_bytes, plain_bytes);
  return claim;
}

void ScratchPool::enlarge(const Claim& claim, const gpu::Driver& driver, CUstream stream, std::size_t zero_bytes, std::size_t plain_bytes) {
  grow(driver, *claim.scratch_, stream, zero_bytes, plain_bytes);
}

Scratch* ScratchPool::add(std::uint64_t hash, CUcontext context, std::uint64_t stream_id) {
  const std::lock_guard lock(mutex_);
  all_.push_back(std::make_unique<Scratch>(context, stream_id));
  table_.insert(hash, all_.back().get());
  return all_.back().get();
}

void ScratchPool::grow(const gpu::Driver& driver, Scratch& scratch, CUstream stream, std::size_t zero_bytes, std::size_t plain_bytes) {
  const std::lock_guard lock(mutex_);
  const auto enlarge = [&](gpu::Buffer& buffer, std::size_t bytes) {
    if (buffer.bytes() >= bytes) return false;
    gpu::Buffer larger(std::max(bytes, 2 * buffer.bytes()));
    if (buffer.bytes() > 0) outgrown_.emplace_back(scratch.context, std::move(buffer));
    buffer = std::move(larger);
    return true;
  };
  if (enlarge(scratch.zero, zero_bytes)) {
    gpu::check(driver.cuMemsetD8Async(scratch.zero.address(), 0, scratch.zero.bytes(), stream), "cuMemsetD8Async",
               fmt::format("zeroing {} bytes of scratch", scratch.zero.bytes()));
  }
  enlarge(scratch.plain, plain_bytes);
}

void ScratchPool::release(CUcontext context) noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& scratch : all_) {
    if (scratch->context != context) continue;
    scratch->zero = gpu::Buffer();
    scratch->plain = gpu::Buffer();
  }
  std::erase_if(outgrown_, [&](const auto& entry) { return entry.first == context; });
}

}  // namespace attune::runtime
