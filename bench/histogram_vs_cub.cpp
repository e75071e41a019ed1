// Dispatched histograms beside CUB's, in one process, sample by sample in random order, once asked with the skew of the samples
// stated and once without; large inputs also beside a kernel that only reads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>

#include "attune/error.hpp"
#include "attune/runtime.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/comparison_options.hpp"
#include "bench/support/contender.hpp"
#include "bench/support/cub_reduce.hpp"
#include "bench/support/histogram_input.hpp"
#include "bench/support/json.hpp"
#include "bench/support/kernels.hpp"
#include "bench/support/read_shapes.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/sorting_histogram.hpp"
#include "bench/support/weighted_histogram.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"

namespace attune::bench {
namespace {

/// From here on a histogram of few bins should read as fast as a kernel that only reads.
constexpr std::size_t kCeilingBytes = std::size_t{1} << 28;
/// Sums of positive f32 in any order: far above rounding, far below what one lost tile would do.
constexpr double kWeightTolerance = 1e-3;
/// Bins from which on sorting is worth a look.
constexpr int kSortedBins = 16384;

struct Settings : ComparisonOptions {
  Settings() {
    policies = "cold";
    rounds = 21;
  }
  HistogramFilter problems;
};

struct Bench {
  const spec::DeviceInfo& device;
  const Sampler& sampler;
  WindowPool& pool;
  const Settings& settings;
  std::optional<ReadShape> read_shape;  ///< the fastest; inputs that need one are all about as large
  std::mt19937 random{1};

  [[nodiscard]] const gpu::Stream& stream() const { return sampler.stream(); }
};

/// One of the two ways to ask attune.
struct Asked {
  SkewIs how;
  Plan plan;
  gpu::Buffer scratch;
  Contender contender;
};

Asked ask(Bench& bench, Runtime& runtime, const HistogramInput& input, SkewIs how) {
  const HistogramProblem& problem = input.problem;
  const Plan plan = runtime.kernel("histogram", problem.choices(how)).plan({problem.peer.pixels, problem.peer.bins});
  return {how, plan, zeroed(plan.workspace_bytes(), bench.stream()),
          Contender{"attune", gpu::Buffer(problem.output_bytes()), std::nullopt, {}, {}}};
}

/// Requires: `asked` and `input` stay where they are.
void enqueue_with_attune(Bench& bench, const HistogramInput& input, Asked& asked, measure::CachePolicy cache) {
  asked.contender.batch.emplace(bench.sampler, cache, input.windows, [&](std::int64_t window) {
    asked.plan.launch(input.arguments(bench.pool.window(window, input.bytes), asked.contender.out()),
                      reinterpret_cast<void*>(asked.scratch.address()), bench.stream().get());
  });
}

/// CUB; of weights, which it does not know, the kernel one would write instead.
void enqueue_with_peer(Bench& bench, const HistogramInput& input, Contender& peer, const gpu::Buffer& temporary,
                       measure::CachePolicy cache) {
  peer.batch.emplace(bench.sampler, cache, input.windows, [&](std::int64_t window) {
    const HistogramProblem& problem = input.problem;
    const auto* samples = static_cast<const char*>(bench.pool.window(window, input.bytes));
    if (problem.weighted) {
      weighted_histogram(reinterpret_cast<const std::int32_t*>(samples), reinterpret_cast<const float*>(samples + problem.weights_at()),
                         problem.samples(), problem.peer.bins, static_cast<float*>(peer.out()), bench.device.sm_count,
                         bench.stream().get());
    } else {
      cub_histogram(problem.peer, reinterpret_cast<void*>(temporary.address()), temporary.bytes(), samples, peer.out(),
                    bench.stream().get());
    }
  });
}

/// Sorting waits for the device within a call: timed by events around it, whose time has the host's in it.
std::function<double()> timed_sorting(Bench& bench, const HistogramInput& input, SortingHistogram& sorting, measure::CachePolicy cache) {
  return [&bench, &input, &sorting, cache] {
    const auto* samples = static_cast<const std::int32_t*>(bench.pool.window(0, input.bytes));
    const gpu::Event start, end;
    if (cache == measure::CachePolicy::Cold)
      bench.sampler.evict();
    else
      sorting.count(samples, bench.stream().get());
    start.record(bench.stream());
    sorting.count(samples, bench.stream().get());
    end.record(bench.stream());
    end.synchronize();
    return gpu::elapsed_us(start, end);
  };
}

template <class T>
std::vector<T> as(const std::vector<unsigned char>& bytes, std::size_t output_bytes) {
  std::vector<T> values(output_bytes / sizeof(T));
  std::memcpy(values.data(), bytes.data(), output_bytes);
  return values;
}

/// What window 0 should give: CUB's counts, which must add up to the samples, or weights added in double precision.
std::vector<double> expected(const Bench& bench, const HistogramInput& input, const Contender& peer) {
  const HistogramProblem& problem = input.problem;
  std::vector<double> values(problem.output_bytes() / 4);
  if (problem.weighted) {
    const gpu::Buffer sums = zeroed(values.size() * sizeof(double), bench.stream());
    const auto* samples = static_cast<const char*>(bench.pool.window(0, input.bytes));
    weighted_histogram_in_double(reinterpret_cast<const std::int32_t*>(samples),
                                 reinterpret_cast<const float*>(samples + problem.weights_at()), problem.samples(),
                                 reinterpret_cast<double*>(sums.address()), bench.stream().get());
    gpu::check(gpu::Driver::get().cuMemcpyDtoHAsync(values.data(), sums.address(), values.size() * sizeof(double), bench.stream().get()),
               "cuMemcpyDtoHAsync", "reading the reference");
    bench.stream().synchronize();
    return values;
  }
  const auto counts = as<std::uint32_t>(results_of(peer, bench.stream()), problem.output_bytes());
  values.assign(counts.begin(), counts.end());
  double total = 0;
  for (const double value : values) total += value;
  const double counted = static_cast<double>(problem.peer.pixels) * problem.peer.active;
  if (total != counted) throw Error(fmt::format("wrong data: {} counts {} of {} samples", peer.name, total, counted));
  return values;
}

/// Throws: Error naming the first bin that is wrong.
void check_bins(const HistogramProblem& problem, const std::vector<double>& got, const std::vector<double>& wanted) {
  const double tolerance = problem.weighted ? kWeightTolerance : 0;
  for (std::size_t bin = 0; bin < wanted.size(); ++bin) {
    if (std::abs(got[bin] - wanted[bin]) <= tolerance * wanted[bin]) continue;
    throw Error(fmt::format("wrong result: {} in bin {}, where {} is right", got[bin], bin, wanted[bin]));
  }
}

void check_result(const Bench& bench, const HistogramInput& input, const Contender& contender, const std::vector<double>& wanted) {
  const auto bytes = results_of(contender, bench.stream());
  std::vector<double> got;
  if (input.problem.weighted) {
    const auto sums = as<float>(bytes, input.problem.output_bytes());
    got.assign(sums.begin(), sums.end());
  } else {
    const auto counts = as<std::uint32_t>(bytes, input.problem.output_bytes());
    got.assign(counts.begin(), counts.end());
  }
  check_bins(input.problem, got, wanted);
}

Json row_of(const HistogramInput& input, const Asked& asked, const Contender& peer, const Contender& ceiling, const Contender& sorting) {
  Json row = comparison_fields(asked.contender, peer, input.bytes);
  row["configuration"] = parse_json(asked.plan.decision().configuration);
  row["tier"] = name(asked.plan.decision().tier);
  if (ceiling.batch) row.update(ceiling_fields(asked.contender, ceiling));
  if (!sorting.samples_us.empty()) {
    row["sort_us"] = measure::summarise({sorting.samples_us}, sorting.calls()).median_us;
    row["sort_ratio"] = ratio_to(asked.contender, sorting).median_ratio;
  }
  return row;
}

Json head_of(const HistogramProblem& problem, SkewIs how, const std::string& policy) {
  Json head{{"problem", problem.to_json()},
            {"kind", problem.kind()},
            {"skew", name(problem.skew)},
            {"skew_stated", how == SkewIs::Stated},
            {"policy", policy}};
  if (problem.extra) head["extra"] = true;
  return head;
}

/// A row for the skew stated and one for it unknown, without their heads.
std::vector<Json> measure_both(Bench& bench, Runtime& runtime, const HistogramProblem& problem, measure::CachePolicy cache) {
  const HistogramInput input(bench.pool, problem, cache, bench.stream());
  Asked stated = ask(bench, runtime, input, SkewIs::Stated), unknown = ask(bench, runtime, input, SkewIs::Unknown);
  enqueue_with_attune(bench, input, stated, cache);
  enqueue_with_attune(bench, input, unknown, cache);
  Contender peer{problem.weighted ? "shared-memory atomics by hand" : cub_histogram_name(input.problem.peer),
                 gpu::Buffer(problem.output_bytes()),
                 std::nullopt,
                 {},
                 {}};
  const gpu::Buffer temporary(std::max<std::size_t>(problem.weighted ? 0 : cub_histogram_bytes(input.problem.peer), 256));
  enqueue_with_peer(bench, input, peer, temporary, cache);
  std::vector<Contender*> contenders{&stated.contender, &unknown.contender, &peer};

  const ReadBench reading(bench.sampler, bench.pool, bench.device, input.bytes);
  Contender ceiling{"read", gpu::Buffer(), std::nullopt, {}, {}};
  if (cache == measure::CachePolicy::Cold && input.bytes >= kCeilingBytes) {
    if (!bench.read_shape) bench.read_shape = reading.fastest(1).front();
    ceiling.batch.emplace(reading.batch_of(*bench.read_shape));
    contenders.push_back(&ceiling);
  }
  std::optional<SortingHistogram> sorter;
  Contender sorting{"thrust::sort", gpu::Buffer(), std::nullopt, {}, {}};
  if (bench.settings.problems.extra && problem.kind() == fmt::format("i32 {}", problem.peer.bins) && problem.peer.bins >= kSortedBins &&
      problem.skew == Skew::Uniform) {
    sorter.emplace(problem.samples());
    sorting.uncaptured = timed_sorting(bench, input, *sorter, cache);
    static_cast<void>(sorting.sample_us());  // allocates what later calls reuse
    contenders.push_back(&sorting);
  }
  measure_rounds(contenders, bench.settings.rounds_taken(), bench.random);

  const auto wanted = expected(bench, input, peer);
  if (sorter) {
    const auto counts = sorter->counts(problem.peer.bins);
    check_bins(problem, {counts.begin(), counts.end()}, wanted);
  }
  std::vector<Json> rows;
  for (const Asked* asked : {&stated, &unknown}) {
    try {
      check_result(bench, input, asked->contender, wanted);
      rows.push_back(row_of(input, *asked, peer, ceiling, sorting));
    } catch (const CudaError&) {
      throw;
    } catch (const Error& error) {
      rows.push_back({{"configuration", parse_json(asked->plan.decision().configuration)}, {"error", error.what()}});
    }
  }
  return rows;
}

void tell(const Json& row) {
  const std::string what =
      fmt::format("{} {} {}{} {:>5}", row.at("policy").get<std::string>(), row.at("kind").get<std::string>(),
                  row.at("skew").get<std::string>(), row.at("skew_stated") ? "" : "?", base::format_count(row.at("problem").at("n")));
  if (row.contains("error")) {
    fmt::print(stderr, "{}: {}\n", what, row.at("error").get<std::string>());
    return;
  }
  fmt::print(
      stderr, "{}: attune {:.3f} us, {} {:.3f} us, ratio {:.3f} (spread {:.2f} %){}{}, {}\n", what, row.at("attune_us").get<double>(),
      row.at("peer").get<std::string>(), row.at("peer_us").get<double>(), row.at("ratio").get<double>(),
      row.at("spread").get<double>() * 100,
      row.contains("share_of_ceiling") ? fmt::format(", {:.1f} % of the ceiling", 100 * row.at("share_of_ceiling").get<double>()) : "",
      row.contains("sort_ratio") ? fmt::format(", by sorting {:.3f}", row.at("sort_ratio").get<double>()) : "",
      row.at("tier").get<std::string>());
}

/// Rows of one policy, two a problem. A row that cannot be measured says why instead.
std::vector<Json> measure_policy(Bench& bench, measure::CachePolicy cache) {
  Options options;
  options.databases = bench.settings.databases;
  options.policy = measure::to_text(measure::Policy{cache, measure::LaunchMode::Graph});
  Runtime runtime(options);
  for (const std::string& notice : runtime.notices()) fmt::print(stderr, "note: {}\n", notice);
  std::vector<Json> rows;
  for (const HistogramProblem& problem : histogram_problems(bench.settings.problems)) {
    std::vector<Json> both;
    try {
      both = measure_both(bench, runtime, problem, cache);
    } catch (const CudaError&) {
      throw;  // the context is lost: later rows would only repeat it
    } catch (const Error& error) {
      both.assign(2, Json{{"error", error.what()}});
    }
    for (const SkewIs how : {SkewIs::Stated, SkewIs::Unknown}) {
      Json row = head_of(problem, how, options.policy);
      row.update(both[how == SkewIs::Stated ? 0 : 1]);
      tell(row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// What the rows of the grid say together, for the log; documents compute it from the rows.
void summarise(const std::vector<Json>& rows, const std::string& policy, SkewIs how) {
  double logs = 0, least = HUGE_VAL;
  int count = 0, slower = 0;
  std::vector<std::string> close;
  for (const Json& row : rows) {
    if (row.contains("error") || row.contains("extra") || row.at("skew_stated") != (how == SkewIs::Stated)) continue;
    const double ratio = row.at("ratio");
    logs += std::log(ratio);
    least = std::min(least, ratio);
    ++count;
    slower += ratio < 1;
    if (ratio >= 1.05) continue;
    close.push_back(fmt::format("  {:.3f} {} {} {}", ratio, row.at("kind").get<std::string>(), row.at("skew").get<std::string>(),
                                base::format_count(row.at("problem").at("n"))));
  }
  if (count == 0) return;
  fmt::print(stderr, "{}, skew {}: geometric mean of {} ratios {:.3f}, least {:.3f}; {} below 1.05, {} below 1.0\n", policy,
             how == SkewIs::Stated ? "stated" : "unknown", count, std::exp(logs / count), least, close.size(), slower);
  for (const std::string& line : close) fmt::print(stderr, "{}\n", line);
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);  // before minutes of measuring
  static_cast<void>(histogram_problems(settings.problems));
  const auto device = gpu::read_device(settings.device);
  const gpu::Context context(settings.device);
  const gpu::Stream stream;
  const Sampler sampler(stream, device);
  WindowPool pool(stream);
  Bench bench{device, sampler, pool, settings, std::nullopt};
  std::vector<Json> rows;
  for (const auto cache : settings.caches()) {
    const auto policy = measure::to_text(measure::Policy{cache, measure::LaunchMode::Graph});
    auto measured = measure_policy(bench, cache);
    for (const SkewIs how : {SkewIs::Stated, SkewIs::Unknown}) summarise(measured, policy, how);
    rows.insert(rows.end(), std::make_move_iterator(measured.begin()), std::make_move_iterator(measured.end()));
  }
  const Json fields{{"peer_version", "CUB " + cub_version()},
                    {"ratio_is", "median of the rounds' peer / attune; above 1 attune is faster"},
                    {"skew_stated_is", "whether attune was told the skew; false: the plan for the best worst case of all skews"},
                    {"share_of_ceiling_is", "median of the rounds' time of a kernel that only reads / attune's, same bytes"},
                    {"sort_ratio_is", "the same of copy, thrust::sort and thrust::reduce_by_key, plain calls that wait for the device"},
                    {"quick", settings.quick}};
  const auto path = write_results(folder, "histogram_vs_cub", device, fields, rows);
  fmt::print(stderr, "written to {}\n", path.string());
  return exit_code_of(rows);
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Compares attune's histograms with CUB's and writes <output>/<device>/histogram_vs_cub.json"};
  line.option("--sizes", settings.problems.counts, "Numbers of pixels; default: four of each kind");
  line.option("--problems", settings.problems.kinds,
              "Kinds of problem, comma-separated, e.g. \"u8 256,i32 2048,i32 2048 scaled,f32 256,i32 100 edges\"; default: the grid");
  line.option("--skews", settings.problems.skews, "Skews, comma-separated: uniform, zipf, hot, constant, sorted; default: all but sorted");
  line.flag("--extra", settings.problems.extra,
            "Also sorted samples, weights, three of four channels, a million bins and sorting with Thrust; not in the means");
  settings.add_to(line);
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
