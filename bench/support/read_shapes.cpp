#include "bench/support/read_shapes.hpp"

#include <algorithm>

namespace attune::bench {
namespace {

constexpr int kScreenSamples = 3;

struct Candidate {
  ReadShape shape;
  double screened_us = 0;
};

std::vector<ReadShape> shapes() {
  std::vector<ReadShape> result;
  for (const int block_size : {256, 512, 1024}) {
    for (const int items : kReadItems) {
      for (const int blocks_per_sm : {1, 2, 4, 8, 16}) {
        if (block_size * blocks_per_sm <= 4096) result.push_back({block_size, items, blocks_per_sm});
      }
    }
  }
  return result;
}

}  // namespace

ReadBench::ReadBench(const Sampler& sampler, const WindowPool& pool, const spec::DeviceInfo& device, std::size_t bytes)
    : sampler_(&sampler), pool_(&pool), sm_count_(device.sm_count), bytes_(bytes / 16 * 16), sink_(sizeof(unsigned)) {}

Batch ReadBench::batch_of(const ReadShape& shape) const {
  return {*sampler_, measure::CachePolicy::Cold, pool_->windows(bytes_), [this, shape](std::int64_t window) {
            read(pool_->window(window, bytes_), bytes_, shape, sm_count_, reinterpret_cast<unsigned*>(sink_.address()),
                 sampler_->stream().get());
          }};
}

std::vector<ReadShape> ReadBench::fastest(std::size_t count) const {
  std::vector<Candidate> all;
  for (const ReadShape& shape : shapes()) {
    const Batch batch = batch_of(shape);
    double us = batch.sample_us();
    for (int i = 1; i < kScreenSamples; ++i) us = std::min(us, batch.sample_us());
    all.push_back({shape, us});
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.screened_us < b.screened_us; });
  all.resize(std::min(count, all.size()));
  std::vector<ReadShape> result;
  for (const Candidate& candidate : all) result.push_back(candidate.shape);
  return result;
}

}  // namespace attune::bench
