#pragma once
#include <cstddef>
#include <vector>

#include "bench/support/batch.hpp"
#include "bench/support/kernels.hpp"
#include "bench/support/window_pool.hpp"

namespace attune::bench {

/// A kernel that only reads windows of one size, cold: what a reduction of them cannot beat.
class ReadBench {
 public:
  ReadBench(const Sampler& sampler, const WindowPool& pool, const spec::DeviceInfo& device, std::size_t bytes);
  /// The `count` fastest shapes by the least of three samples, fastest first.
  [[nodiscard]] std::vector<ReadShape> fastest(std::size_t count) const;
  [[nodiscard]] Batch batch_of(const ReadShape& shape) const;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  const Sampler* sampler_;
  const WindowPool* pool_;
  int sm_count_;
  std::size_t bytes_;  ///< a multiple of 16
  gpu::Buffer sink_;
};

}  // namespace attune::bench
