// What a kernel that only reads reaches on this device: the ceiling that reductions are compared with.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "bench/support/batch.hpp"
#include "bench/support/kernels.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/window_pool.hpp"
#include "tuner/base/text.hpp"

namespace attune::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kScreenSamples = 3;

struct Settings {
  std::filesystem::path output;
  std::string sizes = "2^28..2^32:x2";
  int device = 0;
  int rounds = 21;
};

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

/// One size: every shape is screened, the fastest three are measured, the best median is the row.
class SizeBench {
 public:
  SizeBench(const Sampler& sampler, const WindowPool& pool, const spec::DeviceInfo& device, std::size_t bytes)
      : sampler_(&sampler),
        pool_(&pool),
        sm_count_(device.sm_count),
        bytes_(bytes / 16 * 16),
        sink_(sizeof(unsigned)) {}

  Json row(int rounds) const {
    if (pool_->windows(bytes_) == 0) {
      return {{"bytes", bytes_},
              {"error", fmt::format("not measured: {} bytes do not fit the {} bytes of data", bytes_, pool_->bytes())}};
    }
    Json best;
    for (const Candidate& candidate : fastest(3)) {
      const Batch batch = batch_of(candidate.shape);
      std::vector<double> samples;
      for (int round = 0; round < rounds; ++round) samples.push_back(batch.sample_us());
      const auto timing = measure::summarise({samples}, batch.calls());
      if (!best.is_null() && best.at("us").get<double>() <= timing.median_us) continue;
      best = {{"bytes", bytes_},
              {"us", timing.median_us},
              {"spread", relative_half(timing.low_us, timing.high_us, timing.median_us)},
              {"bytes_per_s", static_cast<double>(bytes_) / timing.median_us * 1e6},
              {"block_size", candidate.shape.block_size},
              {"items", candidate.shape.items},
              {"blocks_per_sm", candidate.shape.blocks_per_sm},
              {"rounds", rounds},
              {"calls", batch.calls()}};
    }
    return best;
  }

 private:
  Batch batch_of(const ReadShape& shape) const {
    return {*sampler_, measure::CachePolicy::Cold, pool_->windows(bytes_), [this, shape](std::int64_t window) {
              read(pool_->window(window, bytes_), bytes_, shape, sm_count_,
                   reinterpret_cast<unsigned*>(sink_.address()), sampler_->stream().get());
            }};
  }

  std::vector<Candidate> fastest(std::size_t count) const {
    std::vector<Candidate> all;
    for (const ReadShape& shape : shapes()) {
      const Batch batch = batch_of(shape);
      double us = batch.sample_us();
      for (int i = 1; i < kScreenSamples; ++i) us = std::min(us, batch.sample_us());
      all.push_back({shape, us});
    }
    std::sort(all.begin(), all.end(),
              [](const Candidate& a, const Candidate& b) { return a.screened_us < b.screened_us; });
    all.resize(std::min(count, all.size()));
    return all;
  }

  const Sampler* sampler_;
  const WindowPool* pool_;
  int sm_count_;
  std::size_t bytes_;
  gpu::Buffer sink_;
};

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);  // before minutes of measuring
  const auto device = gpu::read_device(settings.device);
  const gpu::Context context(settings.device);
  const gpu::Stream stream;
  const Sampler sampler(stream, device);
  const WindowPool pool(stream);
  std::vector<Json> rows;
  double ceiling = 0;
  for (const std::int64_t bytes : base::parse_counts(settings.sizes)) {
    rows.push_back(SizeBench(sampler, pool, device, static_cast<std::size_t>(bytes)).row(settings.rounds));
    ceiling = std::max(ceiling, rows.back().value("bytes_per_s", 0.0));
    fmt::print(stderr, "{}\n", rows.back().dump());
  }
  const auto path =
      write_results(folder, "read_ceiling", device, {{"policy", "cold/graph"}, {"bytes_per_s", ceiling}}, rows);
  fmt::print(stderr, "{:.3f} TB/s; written to {}\n", ceiling * 1e-12, path.string());
  return ceiling > 0 ? 0 : 1;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::bench::Settings settings;
  CLI::App app{"Measures the read bandwidth of a device and writes <output>/<device>/read_ceiling.json"};
  app.add_option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  app.add_option("--sizes", settings.sizes, "Bytes read by one call")->capture_default_str();
  app.add_option("--device", settings.device, "Ordinal of the device")->capture_default_str();
  app.add_option("--rounds", settings.rounds, "Samples of each finalist")
      ->check(CLI::Range(1, 10001))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return attune::bench::run(settings);
  } catch (const attune::Error& error) {
    fmt::print(stderr, "read_ceiling: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  }
}
