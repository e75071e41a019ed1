// What a launch through the dispatcher costs the launching thread more than cuLaunchKernelEx of the same kernel.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <random>
#include <thread>

#include "attune/error.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/in_processes.hpp"
#include "bench/support/json.hpp"
#include "bench/support/launch_arguments.hpp"
#include "bench/support/launch_samples.hpp"
#include "bench/support/quantile.hpp"
#include "bench/support/raw_launch.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/ticks.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::bench {
namespace {

constexpr const char* kMethod =
    "Each thread has a stream, buffers and a workspace of its own and repeats: raw cuLaunchKernelEx, Kernel::launch, BoundKernel::launch "
    "and Plan::launch of the same function, geometry and arguments, and the raw launch once more after late_ns of "
    "waiting (what any work of that length before a launch costs where threads contend for the driver), in an order drawn anew for each round, "
    "with one more raw launch that does not count: the bare launches' function is loaded by itself, and threads may wait for each other by function, "
    "so that both are launched as often. Every call "
    "is timed alone on its thread by the time-stamp counter; after `rounds_per_batch` rounds the thread waits for "
    "its stream, outside the timed part, so that the launch queue is never full. raw_ns and dispatched_ns are "
    "quantiles over all threads, less timer_ns; added_ns is the difference of the two distributions' quantiles; its "
    "interval is the distribution-free 95 % interval of the median over `parts` consecutive parts of the run; "
    "paired_ns are quantiles of the differences within rounds, whose tails hold the noise of both calls. "
    "driver_calls_ns: one call of what dispatch asks the driver besides, alone on one thread. All of this runs in `processes` processes, one "
    "after the other, since where code and data lie moves a process's figures by more than the interval within it tells: of several, each figure "
    "is the median over them, and intervals are the distribution-free 95 % intervals of those medians.";

struct Settings {
  std::string output;
  std::string synthetic;
  std::vector<int> threads{1, 8};
  int processes = 9;
  int batches = 100;
  int rounds_per_batch = 100;
  int device = 0;
};

constexpr int kWarmUpBatches = 4;

/// As long as what a dispatched launch adds, in its order of magnitude; the figures themselves are in the results.
constexpr double kLateNs = 60;

/// What one thread launches.
class Launcher {
 public:
  Launcher(Runtime& runtime, const LaunchCase& problem, std::shared_ptr<const gpu::Module> code)
      : kernel_(runtime.kernel(problem.template_name, problem.choices)),
        plan_(kernel_.plan({problem.n})),
        n_(problem.n),
        in_(static_cast<std::size_t>(problem.n) * 8),
        out_(static_cast<std::size_t>(problem.n) * 8),
        workspace_(std::max<std::size_t>(plan_.workspace_bytes(), 256)),
        arguments_(launch_arguments(problem.template_name, sizeof(float), reinterpret_cast<void*>(in_.address()),
                                    reinterpret_cast<void*>(out_.address()))),
        raw_(problem, plan_.decision().configuration, arguments_, workspace_.address(), code),
        further_(problem, plan_.decision().configuration, arguments_, workspace_.address(), std::move(code)) {
    for (const auto* buffer : {&in_, &workspace_}) {
      gpu::check(gpu::Driver::get().cuMemsetD8Async(buffer->address(), 0, buffer->bytes(), stream_.get()), "cuMemsetD8Async", "zeroing");
    }
    stream_.synchronize();
  }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const RawLaunch& raw() const { return raw_; }
  [[nodiscard]] const gpu::Stream& stream() const { return stream_; }

  /// Ticks of one launch.
  std::uint32_t timed(Path path) {
    CUresult result = CUDA_SUCCESS;
    const std::uint64_t start = ticks();
    if (path == kLateRaw) {
      while (ticks() - start < late_ticks_) {
      }
    }
    if (path == kRaw || path == kLateRaw) {
      result = raw_(stream_.get());
    } else if (path == kFurtherRaw) {
      result = further_(stream_.get());
    } else if (path == kKernel) {
      kernel_.launch(&n_, 1, arguments_.data(), arguments_.size(), stream_.get());
    } else if (path == kBound) {
      bound_.launch(&n_, 1, arguments_.data(), arguments_.size());
    } else {
      plan_.launch(arguments_, reinterpret_cast<void*>(workspace_.address()), stream_.get());
    }
    const std::uint64_t end = ticks();
    if (result != CUDA_SUCCESS) gpu::check(result, "cuLaunchKernelEx", "launching without the dispatcher");
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(end - start, UINT32_MAX));
  }

  void run(const Settings& settings, double tick_ns, unsigned seed, Samples& samples) {
    late_ticks_ = static_cast<std::uint64_t>(kLateNs / tick_ns);
    std::mt19937 random(seed);
    std::array<Path, kPaths> order{kRaw, kKernel, kBound, kPlan, kLateRaw, kFurtherRaw};
    for (auto& path : samples)
      path.reserve(static_cast<std::size_t>(settings.batches) * static_cast<std::size_t>(settings.rounds_per_batch));
    for (int batch = -kWarmUpBatches; batch < settings.batches; ++batch) {
      for (int round = 0; round < settings.rounds_per_batch; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (const Path path : order) {
          const std::uint32_t taken = timed(path);
          if (batch >= 0) samples[path].push_back(taken);
        }
      }
      stream_.synchronize();
    }
  }

 private:
  Kernel kernel_;
  Plan plan_;
  std::int64_t n_;
  gpu::Buffer in_, out_, workspace_;
  std::vector<Argument> arguments_;
  RawLaunch raw_, further_;
  gpu::Stream stream_;
  BoundKernel bound_ = kernel_.on(stream_.get());
  std::uint64_t late_ticks_ = 0;
};

/// The tuner's launches of all threads, started together.
std::vector<Samples> measure(const gpu::Context& context, Runtime& runtime, const LaunchCase& problem, const Settings& settings,
                             double tick_ns, int threads) {
  std::vector<std::unique_ptr<Launcher>> launchers;
  const auto code = load_code(problem, runtime.kernel(problem.template_name, problem.choices).plan({problem.n}).decision().configuration);
  for (int i = 0; i < threads; ++i) launchers.push_back(std::make_unique<Launcher>(runtime, problem, code));
  std::vector<Samples> samples(static_cast<std::size_t>(threads));
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
  std::atomic<int> ready{0};
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < launchers.size(); ++i) {
    workers.emplace_back([&, i] {
      try {
        context.make_current();
        ++ready;
        while (ready < threads) std::this_thread::yield();
        launchers[i]->run(settings, tick_ns, static_cast<unsigned>(i + 1), samples[i]);
      } catch (...) {
        failures[i] = std::current_exception();
        ready = threads;
      }
    });
  }
  for (auto& worker : workers) worker.join();
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return samples;
}

/// Median cost of one call of `call`, ten at a time.
template <class Call>
double call_ns(double tick_ns, Call&& call) {
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t start = ticks();
    for (int k = 0; k < 10; ++k) call();
    values.push_back(static_cast<double>(ticks() - start) * tick_ns / 10);
  }
  return quantile(values, 0.5);
}

Json driver_calls(double tick_ns) {
  const auto& driver = gpu::Driver::get();
  const gpu::Stream stream;
  CUcontext context = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  unsigned long long id = 0;
  return {{"cuCtxGetCurrent", call_ns(tick_ns, [&] { driver.cuCtxGetCurrent(&context); })},
          {"cuStreamIsCapturing", call_ns(tick_ns, [&] { driver.cuStreamIsCapturing(stream.get(), &status); })},
          {"cuStreamGetId", call_ns(tick_ns, [&] { driver.cuStreamGetId(stream.get(), &id); })}};
}

/// The first of these sizes whose default plan is one launch, with scratch or without.
LaunchCase case_with(Runtime& runtime, LaunchCase problem, const std::vector<std::int64_t>& sizes, bool with_scratch) {
  for (const std::int64_t n : sizes) {
    problem.n = n;
    const auto plan = runtime.kernel(problem.template_name, problem.choices).plan({n});
    if ((plan.workspace_bytes() > 0) == with_scratch) return problem;
  }
  throw UsageError(
      fmt::format("failed choosing a size of '{}': none has a plan {} scratch", problem.template_name, with_scratch ? "with" : "without"));
}

std::vector<Json> rows_of(const gpu::Context& context, Runtime& runtime, const LaunchCase& problem, const Settings& settings,
                          double tick_ns, double timer_ns) {
  std::vector<Json> rows;
  for (const int threads : settings.threads) {
    const Launcher shown(
        runtime, problem,
        load_code(problem, runtime.kernel(problem.template_name, problem.choices).plan({problem.n}).decision().configuration));
    const bool scratch = shown.plan().workspace_bytes() > 0;
    const auto samples = measure(context, runtime, problem, settings, tick_ns, threads);
    for (const Path path : {kKernel, kBound, kPlan, kLateRaw}) {
      Json row{{"threads", threads},
               {"path", std::string(path_name(path)) + (scratch ? "+scratch" : "")},
               {"problem", {{"template", problem.template_name}, {"choices", problem.choices}, {"n", problem.n}}},
               {"configuration", parse_json(shown.plan().decision().configuration)},
               {"grid", shown.raw().config().gridDimX},
               {"block", shown.raw().config().blockDimX},
               {"scratch_bytes", shown.plan().workspace_bytes()}};
      row.update(row_of(samples, path, tick_ns, timer_ns));
      fmt::print(stderr, "{} thread(s), {}: raw {:.0f} ns, added {:.0f} ns (p50), {:.0f} ns (p99)\n", threads,
                 row["path"].get<std::string>(), row["raw_ns_p50"].get<double>(), row["added_ns_p50"].get<double>(),
                 row["added_ns_p99"].get<double>());
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

int run_in_processes(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  std::vector<std::string> words{
      "--batches", std::to_string(settings.batches), "--rounds",  std::to_string(settings.rounds_per_batch),
      "--device",  std::to_string(settings.device),  "--threads", fmt::format("{}", fmt::join(settings.threads, ","))};
  if (!settings.synthetic.empty()) words.insert(words.end(), {"--synthetic", settings.synthetic});
  Json result = medians_of(results_of_processes(settings.processes, words, "dispatch_overhead"));
  const auto device = spec::DeviceInfo::from_json(base::parse_json(dump_json(result.at("device"))));
  const auto rows = result.at("rows").get<std::vector<Json>>();
  result.erase("rows");
  result["processes"] = settings.processes;
  fmt::print("{}\n", write_results(folder, "dispatch_overhead", device, result, rows).string());
  return 0;
}

int run(const Settings& settings) {
  if (settings.processes > 1) return run_in_processes(settings);
  const auto folder = results_folder(settings.output);
  const test::TempFolder scratch;  // no databases: the template's default, whatever this machine has tuned
  ::setenv("ATTUNE_DB", (scratch / "none.db").c_str(), 1);
  ::setenv("ATTUNE_SHIPPED_DB", (scratch / "none.db").c_str(), 1);
  const auto device = gpu::read_device(settings.device);
  const gpu::Context context(settings.device);
  LaunchCase plain{"reduce", {{"T", "f32"}, {"op", "sum"}}, 0, {}}, with_scratch = plain;
  Options options;
  if (!settings.synthetic.empty()) {
    options.templates = {settings.synthetic};
    plain = {"synthetic", {{"T", "i32"}, {"faults", "none"}}, 0, options.templates};
    with_scratch = {"tickets", {}, 0, options.templates};
  }
  const double tick_ns = ns_per_tick();
  const double timer_ns = call_ns(tick_ns, [] { static_cast<void>(ticks()); });
  std::vector<Json> rows;
  Json calls;
  {
    Runtime runtime(options);
    plain = case_with(runtime, plain, {1000, 100, 1}, false);
    with_scratch = case_with(runtime, with_scratch, {1000, 20000, 200000}, true);
    calls = driver_calls(tick_ns);
    for (const auto& problem : {plain, with_scratch}) {
      auto measured = rows_of(context, runtime, problem, settings, tick_ns, timer_ns);
      rows.insert(rows.end(), measured.begin(), measured.end());
    }
  }
  const Json fields{{"method", kMethod},
                    {"processes", 1},
                    {"batches", settings.batches},
                    {"rounds_per_batch", settings.rounds_per_batch},
                    {"parts", kParts},
                    {"timer_ns", timer_ns},
                    {"late_ns", kLateNs},
                    {"hardware_threads", std::thread::hardware_concurrency()},
                    {"driver_calls_ns", calls}};
  fmt::print("{}\n", write_results(folder, "dispatch_overhead", device, fields, rows).string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Measures what a launch through attune's dispatcher adds to cuLaunchKernelEx"};
  line.option("--output", settings.output, "Results folder (default: bench/results of the source tree)");
  line.option("--synthetic", settings.synthetic, "Folder of the templates synthetic and tickets, for the fake driver (docs/testing.md)");
  line.option("--threads", settings.threads, "Numbers of launching threads").separated_by(',').with_default();
  line.option("--processes", settings.processes, "Processes that measure, one after the other").with_default().within(1, 100);
  line.option("--batches", settings.batches, "Batches of each thread, in each process").with_default().within(25, 1000000);
  line.option("--rounds", settings.rounds_per_batch, "Rounds of launches between two waits").with_default().within(1, 300);
  line.option("--device", settings.device, "Ordinal of the GPU").with_default();
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
