#include "tuner/worker/read_ceiling.hpp"

#include <vector>

#include "tuner/base/median.hpp"

namespace attune::worker {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 30;
constexpr int kRepetitions = 5;

double median_us(verify::Support& support, const gpu::Buffer& buffer, unsigned blocks, unsigned threads) {
  const gpu::Event start;
  const gpu::Event end;
  std::vector<double> times_us;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    support.evict();  // also hides the launch's latency
    start.record(support.stream());
    support.read(buffer.address(), buffer.bytes(), blocks, threads);
    end.record(support.stream());
    end.synchronize();
    times_us.push_back(gpu::elapsed_us(start, end));
  }
  return base::median(std::move(times_us));
}

}  // namespace

double read_ceiling_bytes_per_s(verify::Support& support, const spec::DeviceInfo& device) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  gpu::check(gpu::Driver::get().cuMemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo", "reading the free device memory");
  if (free_bytes < kBytes + kBytes / 4) return 0;
  const gpu::Buffer buffer(kBytes);
  support.fill({buffer.address(), static_cast<std::int64_t>(kBytes / 4), spec::ElementType::U32}, spec::DataValues::Random, 1);
  double best_us = 0;
  for (const unsigned threads : {256u, 512u, 1024u}) {
    for (const unsigned per_sm : {1u, 2u, 4u, 8u}) {
      if (threads * per_sm > 2048) continue;
      const double us = median_us(support, buffer, static_cast<unsigned>(device.sm_count) * per_sm, threads);
      if (best_us == 0 || us < best_us) best_us = us;
    }
  }
  return static_cast<double>(kBytes) / best_us * 1e6;
}

}  // namespace attune::worker
