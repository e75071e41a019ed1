// The dispatched reduction beside cub::DeviceReduce::Sum, in one process, sample by sample in random order.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "attune/error.hpp"
#include "attune/runtime.hpp"
#include "bench/support/batch.hpp"
#include "bench/support/cub_sum.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/window_pool.hpp"
#include "tuner/base/text.hpp"

namespace attune::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Sizes that are tuned, and two that never are.
constexpr char kSizes[] = "2^10..2^30:x4,3000017,100000007";
constexpr int kPoisonByte = 0xA5;
/// All elements are positive: relative to their sum, far above f32's rounding and below what one lost tile would do.
constexpr double kTolerance = 3e-6;

struct Settings {
  std::vector<std::filesystem::path> databases;
  std::filesystem::path output;
  std::string sizes = kSizes;
  int device = 0;
  int rounds = 41;
  bool quick = false;
};

/// A result in device memory.
class Output {
 public:
  Output() : value_(sizeof(float)) {}
  [[nodiscard]] float* address() const { return reinterpret_cast<float*>(value_.address()); }

  void poison(const gpu::Stream& stream) const {
    gpu::check(gpu::Driver::get().cuMemsetD8Async(value_.address(), kPoisonByte, sizeof(float), stream.get()),
               "cuMemsetD8Async", "poisoning the result");
  }

  [[nodiscard]] float read(const gpu::Stream& stream) const {
    float result = 0;
    gpu::check(gpu::Driver::get().cuMemcpyDtoHAsync(&result, value_.address(), sizeof(float), stream.get()),
               "cuMemcpyDtoHAsync", "reading the result");
    stream.synchronize();
    return result;
  }

 private:
  gpu::Buffer value_;
};

gpu::Buffer zeroed(std::size_t bytes, const gpu::Stream& stream) {
  gpu::Buffer buffer(std::max<std::size_t>(bytes, 256));
  gpu::check(gpu::Driver::get().cuMemsetD8Async(buffer.address(), 0, buffer.bytes(), stream.get()), "cuMemsetD8Async",
             "clearing scratch");
  return buffer;
}

/// One of the two that are compared: what it enqueues and where its result goes.
struct Contender {
  const char* name;
  Output output;
  Batch batch;
  std::vector<double> samples_us;
};

struct Bench {
  const spec::DeviceInfo& device;
  const Sampler& sampler;
  const WindowPool& pool;
  std::mt19937 random{1};
};

/// Interleaved samples: each round takes one of each, in random order.
void measure_rounds(Bench& bench, std::array<Contender*, 2> contenders, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    if (bench.random() % 2 == 0) std::swap(contenders[0], contenders[1]);
    for (Contender* contender : contenders) contender->samples_us.push_back(contender->batch.sample_us());
  }
}

/// Runs one more batch over a poisoned result; its last call works on window 0. Returns the relative error.
/// Throws: Error when the result is wrong.
double checked_error(const Bench& bench, const Contender& contender, double expected) {
  contender.output.poison(bench.sampler.stream());
  static_cast<void>(contender.batch.sample_us());
  const double got = contender.output.read(bench.sampler.stream());
  const double error = std::abs(got - expected) / expected;
  if (!(error <= kTolerance))
    throw Error(fmt::format("wrong result of {}: {} where double precision gives {}", contender.name, got, expected));
  return error;
}

Json row_of(const Contender& dispatched, const Contender& cub, const Decision& decision, std::int64_t n) {
  const auto ours = measure::summarise({dispatched.samples_us}, dispatched.batch.calls());
  const auto theirs = measure::summarise({cub.samples_us}, cub.batch.calls());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < cub.samples_us.size(); ++i)
    ratios.push_back(cub.samples_us[i] / dispatched.samples_us[i]);
  const auto ratio = measure::compare_paired(ratios);
  return {{"attune_us", ours.median_us},
          {"attune_spread", relative_half(ours.low_us, ours.high_us, ours.median_us)},
          {"peer", cub.name},
          {"peer_us", theirs.median_us},
          {"peer_spread", relative_half(theirs.low_us, theirs.high_us, theirs.median_us)},
          {"ratio", ratio.median_ratio},
          {"spread", relative_half(ratio.low, ratio.high, ratio.median_ratio)},
          {"bytes_per_s", static_cast<double>(n) * sizeof(float) / ours.median_us * 1e6},
          {"configuration", Json::parse(decision.configuration)},
          {"tier", name(decision.tier)},
          {"rounds", dispatched.samples_us.size()},
          {"attune_calls", dispatched.batch.calls()},
          {"peer_calls", cub.batch.calls()}};
}

Json measure_row(Bench& bench, const Reduce<float>& sum, const measure::Policy& policy, std::int64_t n, int rounds) {
  const auto bytes = static_cast<std::size_t>(n) * sizeof(float);
  const auto windows = bench.pool.windows(bytes);
  if (windows == 0)
    throw EnvironmentError(
        fmt::format("not measured: {} bytes do not fit the {} bytes of data", bytes, bench.pool.bytes()));
  const gpu::Stream& stream = bench.sampler.stream();
  const Plan plan = sum.plan(n);
  const gpu::Buffer scratch = zeroed(plan.workspace_bytes(), stream);
  const gpu::Buffer temporary(std::max<std::size_t>(cub_sum_bytes(n), 256));

  Output our_result;
  Output their_result;
  const Enqueue run_ours = [&, out = our_result.address()](std::int64_t window) {
    plan.launch({Argument::pointer(bench.pool.window(window, bytes)), Argument::pointer(out)},
                reinterpret_cast<void*>(scratch.address()), stream.get());
  };
  const Enqueue run_cub = [&, out = their_result.address()](std::int64_t window) {
    cub_sum(reinterpret_cast<void*>(temporary.address()), temporary.bytes(), bench.pool.window(window, bytes), out, n,
            stream.get());
  };
  Contender dispatched{"attune", std::move(our_result), Batch(bench.sampler, policy.cache, windows, run_ours), {}};
  Contender cub{
      "cub::DeviceReduce::Sum", std::move(their_result), Batch(bench.sampler, policy.cache, windows, run_cub), {}};

  measure_rounds(bench, {&dispatched, &cub}, rounds);
  const double expected = bench.pool.sum_of_first_window(n, stream);
  const double our_error = checked_error(bench, dispatched, expected);
  const double their_error = checked_error(bench, cub, expected);
  Json row = row_of(dispatched, cub, plan.decision(), n);
  row["attune_error"] = our_error;
  row["peer_error"] = their_error;
  return row;
}

/// Rows of one policy. A row that cannot be measured says why instead.
std::vector<Json> measure_policy(Bench& bench, const Settings& settings, measure::CachePolicy cache) {
  const measure::Policy policy{cache, measure::LaunchMode::Graph};
  Options options;
  options.databases = settings.databases;
  options.policy = measure::to_text(policy);
  Runtime runtime(options);
  for (const std::string& notice : runtime.notices()) fmt::print(stderr, "note: {}\n", notice);
  const auto sum = runtime.reduce<float>(Op::Sum);
  std::vector<Json> rows;
  for (const std::int64_t n : base::parse_counts(settings.sizes)) {
    Json row{{"problem", {{"T", "f32"}, {"op", "sum"}, {"n", n}}}, {"policy", options.policy}};
    try {
      row.update(measure_row(bench, sum, policy, n, settings.quick ? std::min(settings.rounds, 7) : settings.rounds));
      fmt::print(stderr, "{} {:>10}: attune {:.3f} us, CUB {:.3f} us, ratio {:.3f} (spread {:.2f} %), {}\n",
                 options.policy, n, row["attune_us"].get<double>(), row["peer_us"].get<double>(),
                 row["ratio"].get<double>(), row["spread"].get<double>() * 100, row["tier"].get<std::string>());
    } catch (const CudaError&) {
      throw;  // the context is lost: later rows would only repeat it
    } catch (const Error& error) {
      row["error"] = error.what();
      fmt::print(stderr, "{} {:>10}: {}\n", options.policy, n, error.what());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);  // before minutes of measuring
  const auto device = gpu::read_device(settings.device);
  const gpu::Context context(settings.device);
  const gpu::Stream stream;
  const Sampler sampler(stream, device);
  const WindowPool pool(stream);
  Bench bench{device, sampler, pool};
  std::vector<Json> rows;
  for (const auto cache : {measure::CachePolicy::Cold, measure::CachePolicy::Hot}) {
    auto measured = measure_policy(bench, settings, cache);
    rows.insert(rows.end(), std::make_move_iterator(measured.begin()), std::make_move_iterator(measured.end()));
  }
  const Json fields{{"peer_version", "CUB " + cub_version()},
                    {"ratio_is", "median of the rounds' peer / attune; above 1 attune is faster"},
                    {"quick", settings.quick}};
  const auto path = write_results(folder, "reduce_vs_cub", device, fields, rows);
  fmt::print(stderr, "written to {}\n", path.string());
  const auto failed = std::count_if(rows.begin(), rows.end(), [](const Json& row) { return row.contains("error"); });
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::bench::Settings settings;
  CLI::App app{"Compares attune's f32 sum with CUB's, cold and hot, and writes <output>/<device>/reduce_vs_cub.json"};
  app.add_option("--db", settings.databases,
                 "Tuning database layers in order; default: the user's, then the shipped one");
  app.add_option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  app.add_option("--sizes", settings.sizes, "Numbers of elements")->capture_default_str();
  app.add_option("--device", settings.device, "Ordinal of the device")->capture_default_str();
  app.add_option("--rounds", settings.rounds, "Interleaved samples of each")
      ->check(CLI::Range(1, 10001))
      ->capture_default_str();
  app.add_flag("--quick", settings.quick, "At most 7 rounds; for trying out, not for publishing");
  CLI11_PARSE(app, argc, argv);
  try {
    return attune::bench::run(settings);
  } catch (const attune::Error& error) {
    fmt::print(stderr, "reduce_vs_cub: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  }
}
