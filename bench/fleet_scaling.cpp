// How many times as fast a fleet on the GPUs of one host tunes as one of them: a plan of as many shards as GPUs, whose tasks run one after
// the other, each on its GPU, and then the same plan anew, whose tasks run at once.
#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <future>
#include <map>

#include "attune/error.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/child.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/scaling.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/file_descriptor.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/text.hpp"
#include "tuner/gpu/handles.hpp"

namespace attune::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Settings {
  fs::path output;
  int gpus = 4, problems = 300, budget = 190;
  int smallest = 1'000'000, step = 83'000;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class FleetScaling {
 public:
  explicit FleetScaling(const Settings& settings) : settings_(settings), executable_(attune_executable()) {
    if (settings_.gpus < 2 || settings_.problems <= settings_.gpus)
      throw UsageError(fmt::format("{} problems on {} GPUs: give at least two GPUs, and more problems than GPUs: one is tuned by all",
                                   settings_.problems, settings_.gpus));
    const auto cpus = base::available_cpus();
    const std::size_t each = cpus.size() / static_cast<std::size_t>(settings_.gpus);
    if (each == 0) throw EnvironmentError(fmt::format("{} processors are too few for {} tasks", cpus.size(), settings_.gpus));
    for (int i = 0; i < settings_.gpus; ++i) {  // as a scheduler would give them
      const auto begin = cpus.begin() + static_cast<std::ptrdiff_t>(each) * i;
      cpus_.push_back(fmt::format("{}", fmt::join(std::vector<int>(begin, begin + static_cast<std::ptrdiff_t>(each)), ",")));
    }
  }

  Json row() {
    compile_first();
    Json alone = Json::array(), together = Json::array();
    double one_by_one_s = 0, starts_s = 0;
    std::map<std::string, std::vector<double>> problem_s;
    plan("alone");
    for (int shard = 0; shard < settings_.gpus; ++shard) {
      const AttuneRun run = task("alone", shard);
      alone.push_back(use_of_devices(run, 1));
      one_by_one_s += run.wall_s;
      starts_s += starting_s(alone.back());
      for (const auto& event : run.events) {
        if (event.at("event") == "problem") problem_s[base::dump_json(event.at("problem"))].push_back(event.at("elapsed_s"));
      }
    }
    plan("together");
    const auto start = Clock::now();
    std::vector<std::future<AttuneRun>> tasks;
    for (int shard = 0; shard < settings_.gpus; ++shard)
      tasks.push_back(std::async(std::launch::async, [=, this] { return task("together", shard); }));
    for (auto& running : tasks) together.push_back(use_of_devices(running.get(), 1));
    const double tasks_s = seconds_since(start);
    merge();
    const double merge_s = seconds_since(start) - tasks_s;
    double again_s = 0;
    for (const auto& [problem, times] : problem_s) {
      for (const double time : times) again_s += time * static_cast<double>(times.size() - 1) / static_cast<double>(times.size());
    }
    // A single task for all problems would start and end once, tune a control problem once, and leave nothing to merge.
    const double single_task_s = one_by_one_s - again_s - starts_s * (settings_.gpus - 1) / settings_.gpus;
    return {{"case", "fleet"},
            {"gpus", settings_.gpus},
            {"budget", settings_.budget},
            {"problems", problem_s.size()},
            {"speedup", one_by_one_s / tasks_s},
            {"speedup_with_merge", (one_by_one_s + merge_s) / (tasks_s + merge_s)},
            {"speedup_over_single_task", single_task_s / (tasks_s + merge_s)},
            {"one_by_one_s", one_by_one_s},
            {"together_s", tasks_s},
            {"merge_s", merge_s},
            {"single_task_s", single_task_s},
            {"alone", std::move(alone)},
            {"together", std::move(together)}};
  }

 private:
  [[nodiscard]] std::vector<std::string> problems(int step) const {
    const int last = (settings_.problems - 1) / step * step;
    return {"reduce",
            "--T",
            "f32",
            "--op",
            "sum",
            "--size",
            fmt::format("{}..{}:+{}", settings_.smallest, settings_.smallest + settings_.step * last, settings_.step * step),
            "--strategy",
            "random",
            "--budget",
            std::to_string(settings_.budget)};
  }

  /// Few codes are of one problem alone: what tasks would compile lies in the cache when they are timed.
  void compile_first() {
    constexpr int kSomeOf = 8;
    std::vector<std::string> words = problems(kSomeOf);
    words.insert(words.begin(), "tune");
    words.insert(words.end(), {"--device", "all", "--db", (scratch_ / "first.db").string()});
    (void)run_attune(executable_, words, scratch_.path(), Cache::Kept);
  }

  /// What it prints.
  [[nodiscard]] std::string command(std::vector<std::string> words) const {
    words.insert(words.begin(), executable_.string());
    const fs::path printed = scratch_ / "printed";
    const base::FileDescriptor file(::open(printed.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    wait_for(start(words, file.get()), words);
    return base::read_file(printed);
  }

  /// Throws: Error where a shard is not whole. Shards that disagree do not concern this.
  void merge() const {
    const auto report =
        parse_json(command({"fleet", "merge", (scratch_ / "together").string(), "--db", (scratch_ / "all.db").string(), "--json"}));
    for (const auto& shard : report.at("shards")) {
      if (shard.at("state") != "finished") throw Error("failed measuring a fleet: not all of its shards were finished");
    }
  }

  void plan(const std::string& name) const {
    std::vector<std::string> words = problems(1);
    words.insert(words.begin(), {"fleet", "plan"});
    words.insert(words.end(), {"--shards", std::to_string(settings_.gpus), "-o", (scratch_ / name).string()});
    static_cast<void>(command(std::move(words)));
  }

  [[nodiscard]] AttuneRun task(const std::string& plan, int shard) const {
    return run_attune(
        "/usr/bin/taskset",
        {"--cpu-list", cpus_[static_cast<std::size_t>(shard)], executable_.string(), "fleet", "run", (scratch_ / plan).string(), "--shard",
         std::to_string(shard), "--device", std::to_string(shard), "--scratch", scratch_.path().string()},
        scratch_.path(), Cache::Kept);
  }

  const Settings& settings_;
  fs::path executable_;
  std::vector<std::string> cpus_;
  test::TempFolder scratch_;
};

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  Json row = FleetScaling(settings).row();
  row.update({{"date", base::utc_now()}, {"content", content_hash()}});
  fmt::print("{}\n", dump_json(row));
  const auto path = write_results(folder, "fleet_scaling", gpu::read_device(0), Json::object(), {row});
  fmt::print("written to {}\n", path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{
      "How much faster a fleet on the GPUs of this host tunes than one of them; writes <output>/<device>/fleet_scaling.json"};
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--gpus", settings.gpus, "GPUs, and shards of the plan").with_default();
  line.option("--problems", settings.problems, "Problems of the plan").with_default();
  line.option("--smallest", settings.smallest, "Elements of the smallest problem").with_default();
  line.option("--step", settings.step, "Elements by which the next is larger").with_default();
  line.option("--budget", settings.budget, "Configurations tried of each of them, at random").with_default();
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
