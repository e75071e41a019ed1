// What a kernel that only reads reaches on this device: the ceiling that reductions are compared with.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/read_shapes.hpp"
#include "bench/support/result_file.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"

namespace attune::bench {
namespace {

struct Settings {
  std::filesystem::path output;
  std::string sizes = "2^28..2^32:x2";
  int device = 0;
  int rounds = 21;
};

/// One size: every shape is screened, the fastest three are measured, the best median is the row.
Json row_of(const Sampler& sampler, const WindowPool& pool, const spec::DeviceInfo& device, std::size_t bytes, int rounds) {
  const ReadBench bench(sampler, pool, device, bytes);
  if (pool.windows(bench.bytes()) == 0) {
    return {{"bytes", bench.bytes()},
            {"error", fmt::format("not measured: {} bytes do not fit the {} bytes of data", bench.bytes(), pool.bytes())}};
  }
  Json best;
  for (const ReadShape& shape : bench.fastest(3)) {
    const Batch batch = bench.batch_of(shape);
    std::vector<double> samples;
    for (int round = 0; round < rounds; ++round) samples.push_back(batch.sample_us());
    const auto timing = measure::summarise({samples}, batch.calls());
    if (!best.is_null() && best.at("us").get<double>() <= timing.median_us) continue;
    best = {{"bytes", bench.bytes()},
            {"us", timing.median_us},
            {"spread", relative_half(timing.low_us, timing.high_us, timing.median_us)},
            {"bytes_per_s", static_cast<double>(bench.bytes()) / timing.median_us * 1e6},
            {"block_size", shape.block_size},
            {"items", shape.items},
            {"blocks_per_sm", shape.blocks_per_sm},
            {"rounds", rounds},
            {"calls", batch.calls()}};
  }
  return best;
}

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
    rows.push_back(row_of(sampler, pool, device, static_cast<std::size_t>(bytes), settings.rounds));
    ceiling = std::max(ceiling, rows.back().value("bytes_per_s", 0.0));
    fmt::print(stderr, "{}\n", dump_json(rows.back()));
  }
  const auto path = write_results(folder, "read_ceiling", device, {{"policy", "cold/graph"}, {"bytes_per_s", ceiling}}, rows);
  fmt::print(stderr, "{:.3f} TB/s; written to {}\n", ceiling * 1e-12, path.string());
  return ceiling > 0 ? 0 : 1;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Measures the read bandwidth of a device and writes <output>/<device>/read_ceiling.json"};
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--sizes", settings.sizes, "Bytes read by one call").with_default();
  line.option("--device", settings.device, "Ordinal of the device").with_default();
  line.option("--rounds", settings.rounds, "Samples of each finalist").within(1, 10001).with_default();
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
