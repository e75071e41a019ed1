// What the same bits in every launch cost: the dispatched reproducible sums beside the dispatched ordinary one, in one process,
// interleaved, cold. Also counts the different results of each.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "attune/runtime.hpp"
#include "bench/support/batch.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/window_pool.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/measure/measurement.hpp"

namespace attune::bench {
namespace {

struct Settings {
  std::vector<std::filesystem::path> databases;
  std::string output;
  std::string counts = "2^16,2^20,2^24,2^28";
  int rounds = 41;
};

/// One way to sum: its plan, how a window is summed by it, and its samples.
template <class T>
struct Contender {
  std::string name;
  Plan plan;
  std::function<void(const T* in, T* out)> sum;
  gpu::Buffer scratch, output;
  std::optional<Batch> batch;
  std::vector<double> samples_us;
  std::size_t distinct = 0;
};

template <class T, class FrontEnd>
std::unique_ptr<Contender<T>> contender(const std::string& name, FrontEnd front, std::int64_t n, const gpu::Stream& stream) {
  auto made = std::make_unique<Contender<T>>(Contender<T>{name, front.plan(n), {}, {}, gpu::Buffer(256), {}, {}, 0});
  made->scratch = gpu::Buffer(std::max<std::size_t>(made->plan.workspace_bytes(), 256));
  gpu::check(gpu::Driver::get().cuMemsetD8Async(made->scratch.address(), 0, made->scratch.bytes(), stream.get()), "cuMemsetD8Async",
             "clearing scratch");
  made->sum = [front, plan = made->plan, scratch = reinterpret_cast<void*>(made->scratch.address()), &stream](const T* in, T* out) {
    plan.launch(front.arguments(in, out), scratch, stream.get());
  };
  return made;
}

/// How many bit patterns the sum of the same n elements has over four alignments, eight launches each.
template <class T, class FrontEnd>
std::size_t distinct_results(FrontEnd front, std::int64_t n, const gpu::Stream& stream) {
  constexpr std::size_t kAlignments = 4, kTimes = 8;
  const auto of = contender<T>("", front, n, stream);
  const auto count = static_cast<std::size_t>(n);
  std::vector<T> host(count + kAlignments);
  const gpu::Buffer data(host.size() * sizeof(T));
  std::set<std::uint64_t> seen;
  for (std::size_t shift = 0; shift < kAlignments; ++shift) {
    for (std::size_t i = 0; i < count; ++i) host[i + shift] = static_cast<T>(1) / static_cast<T>(1 + i % 977);
    gpu::check(gpu::Driver::get().cuMemcpyHtoDAsync(data.address(), host.data(), data.bytes(), stream.get()), "cuMemcpyHtoDAsync",
               "copying data");
    stream.synchronize();
    for (std::size_t time = 0; time < kTimes; ++time) {
      of->sum(reinterpret_cast<const T*>(data.address()) + shift, reinterpret_cast<T*>(of->output.address()));
      std::uint64_t bits = 0;
      gpu::check(gpu::Driver::get().cuMemcpyDtoHAsync(&bits, of->output.address(), sizeof(T), stream.get()), "cuMemcpyDtoHAsync",
                 "reading the result");
      stream.synchronize();
      seen.insert(bits);
    }
  }
  return seen.size();
}

template <class T>
void measure_size(std::vector<Json>& rows, Runtime& runtime, const Sampler& sampler, WindowPool& pool, std::int64_t n, int rounds) {
  const gpu::Stream& stream = sampler.stream();
  const char* const type = sizeof(T) == 4 ? "f32" : "f64";
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  std::vector<std::unique_ptr<Contender<T>>> all;
  const auto add = [&](const char* name, auto front) {
    all.push_back(contender<T>(name, front, n, stream));
    all.back()->distinct = distinct_results<T>(front, std::min<std::int64_t>(n, 1 << 22), stream);
  };
  add("reduce", runtime.reduce<T>(Op::Sum));
  add("fixed_order", runtime.reproducible_reduce<T>(Op::Sum, {.accumulate = Accumulate::FixedOrder}));
  add("compensated", runtime.reproducible_reduce<T>(Op::Sum, {.accumulate = Accumulate::Compensated}));
  add("fixed_point", runtime.reproducible_reduce<T>(Op::Sum, {.accumulate = Accumulate::FixedPoint, .resolution = 0x1p-24}));
  for (auto& one : all) {
    one->batch.emplace(sampler, measure::CachePolicy::Cold, pool.windows(bytes), [&, raw = one.get()](std::int64_t window) {
      raw->sum(static_cast<const T*>(pool.window(window, bytes)), reinterpret_cast<T*>(raw->output.address()));
    });
  }
  std::mt19937 random(1);
  std::vector<Contender<T>*> order;
  for (auto& one : all) order.push_back(one.get());
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (auto* one : order) one->samples_us.push_back(one->batch->sample_us());
  }
  for (auto& one : all) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < one->samples_us.size(); ++i) ratios.push_back(one->samples_us[i] / all.front()->samples_us[i]);
    const auto cost = measure::compare_paired(ratios);
    const auto time = measure::summarise({one->samples_us}, one->batch->calls());
    rows.push_back({{"problem", {{"T", type}, {"op", "sum"}, {"n", n}}},
                    {"how", one->name},
                    {"us", time.median_us},
                    {"cost", cost.median_ratio},
                    {"cost_low", cost.low},
                    {"cost_high", cost.high},
                    {"distinct_results", one->distinct},
                    {"configuration", parse_json(one->plan.decision().configuration)}});
    fmt::print(stderr, "{} n={} {}: {:.3f} us, {:.3f} times reduce\n", type, n, one->name, time.median_us, cost.median_ratio);
  }
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  const auto device = gpu::read_device(0);
  const gpu::Context context(0);
  const gpu::Stream stream;
  const Sampler sampler(stream, device);
  WindowPool pool(stream);
  Options options;
  options.databases = settings.databases;
  Runtime runtime(options);
  std::vector<Json> rows;
  const auto counts = base::parse_counts(settings.counts);
  pool.fill(Element::F32, stream);
  for (const auto n : counts) measure_size<float>(rows, runtime, sampler, pool, n, settings.rounds);
  pool.fill(Element::F64, stream);
  for (const auto n : counts) measure_size<double>(rows, runtime, sampler, pool, n, settings.rounds);
  const auto path =
      write_results(folder, "reproducible_cost", device,
                    {{"policy", "cold/graph"},
                     {"cost_is", "median of the rounds' time / that of reduce, with its 95 % interval"},
                     {"distinct_results_is", "bit patterns over four alignments, eight launches each, of at most 2^22 elements"}},
                    rows);
  fmt::print(stderr, "written to {}\n", path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Compares reproducible sums with the ordinary one and writes <output>/<device>/reproducible_cost.json"};
  line.option("--db", settings.databases, "Tuning database layers in order; default: the user's, then the shipped one");
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--sizes", settings.counts, "Numbers of elements").with_default();
  line.option("--rounds", settings.rounds, "Interleaved samples of each").within(1, 10001).with_default();
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
