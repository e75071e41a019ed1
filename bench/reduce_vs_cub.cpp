// Dispatched reductions beside CUB's, in one process, sample by sample in random order; large inputs also beside a kernel
// that only reads.
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
#include "bench/support/json.hpp"
#include "bench/support/launch_arguments.hpp"
#include "bench/support/read_shapes.hpp"
#include "bench/support/reduction_problem.hpp"
#include "bench/support/result_file.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"

namespace attune::bench {
namespace {

/// Sizes that are tuned, and five that never are.
constexpr char kCounts[] = "2^10..2^30:x4,100000007,3000017,50331648,30000,700001,12345678";
/// From here on a reduction should read as fast as a kernel that only reads.
constexpr std::size_t kCeilingBytes = std::size_t{1} << 30;

struct Settings : ComparisonOptions {
  Settings() {
    policies = "both";
    rounds = 41;
  }
  std::string counts = kCounts;
  std::string problems;
};

struct Bench {
  const spec::DeviceInfo& device;
  const Sampler& sampler;
  WindowPool& pool;
  std::mt19937 random{1};
};

/// Relative difference of attune's results from CUB's, and of a floating-point sum from one in double precision.
/// Throws: Error when they differ by more than the problem's tolerance.
double checked_difference(const Bench& bench, const ReductionProblem& problem, const Contender& attune, const Contender& cub) {
  auto ours = results_of(attune, bench.sampler.stream());
  auto theirs = results_of(cub, bench.sampler.stream());
  ours.resize(problem.output_bytes());
  theirs.resize(problem.output_bytes());
  double difference = checked_difference(problem, ours, theirs, cub.name);
  const double tolerance = problem.tolerance();
  if (tolerance == 0) return 0;
  const bool wide = problem.peer.element == Element::F64;
  if (problem.peer.rows == 1) {
    const double expected = bench.pool.sum_of_first_window(problem.peer.columns, bench.sampler.stream());
    double got = 0;
    if (wide) {
      std::memcpy(&got, ours.data(), sizeof got);
    } else {
      float narrow = 0;
      std::memcpy(&narrow, ours.data(), sizeof narrow);
      got = narrow;
    }
    difference = std::max(difference, std::abs(got - expected) / expected);
  }
  if (!(difference <= tolerance)) throw Error(fmt::format("wrong result: it differs by {:.3g} of it", difference));
  return difference;
}

Json row_of(const ReductionProblem& problem, const Contender& attune, const Contender& cub, const Decision& decision) {
  Json row = comparison_fields(attune, cub, problem.input_bytes());
  row["configuration"] = parse_json(decision.configuration);
  row["tier"] = name(decision.tier);
  return row;
}

Json measure_row(Bench& bench, Runtime& runtime, const ReductionProblem& problem, const measure::Policy& policy, int rounds) {
  const std::size_t bytes = problem.input_bytes();
  const auto windows = bench.pool.windows(bytes);
  if (windows == 0)
    throw EnvironmentError(fmt::format("not measured: {} bytes do not fit the {} bytes of data", bytes, bench.pool.bytes()));
  const gpu::Stream& stream = bench.sampler.stream();
  const std::uint32_t value_bytes = problem.peer.element == Element::F64 ? 8 : 4;
  const Kernel kernel = runtime.kernel(problem.template_name, problem.choices);
  const Plan plan = problem.sizes.size() == 1 ? kernel.plan({problem.sizes[0]}) : kernel.plan({problem.sizes[0], problem.sizes[1]});
  const gpu::Buffer scratch = zeroed(plan.workspace_bytes(), stream);
  const gpu::Buffer temporary(std::max<std::size_t>(cub_bytes(problem.peer), 256));

  Contender attune{"attune", gpu::Buffer(problem.output_bytes()), std::nullopt, {}, {}};
  Contender cub{cub_name(problem.peer), gpu::Buffer(problem.output_bytes()), std::nullopt, {}, {}};
  attune.batch.emplace(bench.sampler, policy.cache, windows, [&, out = static_cast<char*>(attune.out())](std::int64_t window) {
    auto arguments = launch_arguments(problem.template_name, value_bytes, bench.pool.window(window, bytes), out);
    if (problem.peer.op == CubReduction::Operator::ArgMax) arguments.push_back(Argument::pointer(out + 8));
    plan.launch(arguments.data(), arguments.size(), reinterpret_cast<void*>(scratch.address()), stream.get());
  });
  cub.batch.emplace(bench.sampler, policy.cache, windows, [&, out = cub.out()](std::int64_t window) {
    cub_reduce(problem.peer, reinterpret_cast<void*>(temporary.address()), temporary.bytes(), bench.pool.window(window, bytes), out,
               stream.get());
  });
  std::vector<Contender*> contenders{&attune, &cub};

  const ReadBench reading(bench.sampler, bench.pool, bench.device, bytes);
  Contender ceiling{"read", gpu::Buffer(), std::nullopt, {}, {}};
  if (policy.cache == measure::CachePolicy::Cold && bytes >= kCeilingBytes) {
    ceiling.batch.emplace(reading.batch_of(reading.fastest(1).front()));
    contenders.push_back(&ceiling);
  }
  measure_rounds(contenders, rounds, bench.random);
  const double difference = checked_difference(bench, problem, attune, cub);
  Json row = row_of(problem, attune, cub, plan.decision());
  row["difference"] = difference;
  if (ceiling.batch) row.update(ceiling_fields(attune, ceiling));
  return row;
}

void tell(const Json& row, const std::string& kind) {
  const auto& problem = row.at("problem");
  const std::string size = problem.contains("n") ? base::format_count(problem.at("n"))
                                                 : fmt::format("{} x {}", dump_json(problem.at("rows")), dump_json(problem.at("columns")));
  const std::string policy = row.at("policy");
  if (row.contains("error")) {
    fmt::print(stderr, "{} {} {:>10}: {}\n", policy, kind, size, row.at("error").get<std::string>());
    return;
  }
  fmt::print(
      stderr, "{} {} {:>10}: attune {:.3f} us, CUB {:.3f} us, ratio {:.3f} (spread {:.2f} %){}, {}\n", policy, kind, size,
      row.at("attune_us").get<double>(), row.at("peer_us").get<double>(), row.at("ratio").get<double>(),
      row.at("spread").get<double>() * 100,
      row.contains("share_of_ceiling") ? fmt::format(", {:.1f} % of the ceiling", 100 * row.at("share_of_ceiling").get<double>()) : "",
      row.at("tier").get<std::string>());
}

bool wanted(const Settings& settings, const ReductionProblem& problem) {
  return settings.problems.empty() || ("," + settings.problems + ",").find("," + problem.kind() + ",") != std::string::npos;
}

/// Rows of one policy. A row that cannot be measured says why instead.
std::vector<Json> measure_policy(Bench& bench, const Settings& settings, measure::CachePolicy cache) {
  const measure::Policy policy{cache, measure::LaunchMode::Graph};
  Options options;
  options.databases = settings.databases;
  options.policy = measure::to_text(policy);
  Runtime runtime(options);
  for (const std::string& notice : runtime.notices()) fmt::print(stderr, "note: {}\n", notice);
  std::vector<Json> rows;
  std::optional<Element> filled;
  for (const ReductionProblem& problem : reduction_problems(base::parse_counts(settings.counts))) {
    if (!wanted(settings, problem)) continue;
    if (filled != problem.peer.element) bench.pool.fill(problem.peer.element, bench.sampler.stream());
    filled = problem.peer.element;
    Json row{{"problem", problem.to_json()}, {"policy", options.policy}};
    try {
      row.update(measure_row(bench, runtime, problem, policy, settings.rounds_taken()));
    } catch (const CudaError&) {
      throw;  // the context is lost: later rows would only repeat it
    } catch (const Error& error) {
      row["error"] = error.what();
    }
    tell(row, problem.kind());
    rows.push_back(std::move(row));
  }
  return rows;
}

/// What the rows say together, for the log; documents compute it from the rows.
void summarise(const std::vector<Json>& rows, const std::string& policy) {
  double logs = 0, least = HUGE_VAL;
  int count = 0;
  for (const Json& row : rows) {
    if (row.contains("error") || row.at("policy") != policy) continue;
    const double ratio = row.at("ratio");
    logs += std::log(ratio);
    least = std::min(least, ratio);
    ++count;
  }
  if (count > 0) fmt::print(stderr, "{}: geometric mean of {} ratios {:.3f}, least {:.3f}\n", policy, count, std::exp(logs / count), least);
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);  // before minutes of measuring
  const auto device = gpu::read_device(settings.device);
  const gpu::Context context(settings.device);
  const gpu::Stream stream;
  const Sampler sampler(stream, device);
  WindowPool pool(stream);
  Bench bench{device, sampler, pool};
  std::vector<Json> rows;
  for (const auto cache : settings.caches()) {
    const measure::Policy policy{cache, measure::LaunchMode::Graph};
    auto measured = measure_policy(bench, settings, cache);
    summarise(measured, measure::to_text(policy));
    rows.insert(rows.end(), std::make_move_iterator(measured.begin()), std::make_move_iterator(measured.end()));
  }
  const Json fields{{"peer_version", "CUB " + cub_version()},
                    {"ratio_is", "median of the rounds' peer / attune; above 1 attune is faster"},
                    {"share_of_ceiling_is", "median of the rounds' time of a kernel that only reads / attune's, same bytes"},
                    {"quick", settings.quick}};
  const auto path = write_results(folder, "reduce_vs_cub", device, fields, rows);
  fmt::print(stderr, "written to {}\n", path.string());
  return exit_code_of(rows);
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Compares attune's reductions with CUB's, cold and hot, and writes <output>/<device>/reduce_vs_cub.json"};
  line.option("--sizes", settings.counts, "Numbers of elements").with_default();
  line.option("--problems", settings.problems, "Kinds of problem, comma-separated, e.g. \"f32 sum,f32 arg-max,f32 row sum\"; default: all");
  settings.add_to(line);
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
