// How fast tuning is, how well it keeps the GPU busy, how it scales over the GPUs of one host, and what it takes of memory:
// the real command with empty caches, every configuration verified and committed.
#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <map>
#include <numeric>
#include <set>

#include "attune/error.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/median.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/gpu/handles.hpp"

namespace attune::bench {
namespace {

struct Settings {
  std::string output;
  std::string templates = ATTUNE_BENCH_SOURCES "/templates";
  int repeats = 5;
  int learning = 0;
  std::vector<int> gpus;
  // Many short problems: one is tuned by one GPU, so that at the end the others are idle for half of the last ones' time in the mean.
  int scaling_problems = 192;
  int scaling_budget = 190;
  bool scaling_apart = false;
  bool memory = false;
};

class TuningRate {
 public:
  explicit TuningRate(const Settings& settings) : settings_(settings), executable_(attune_executable()) {}

  /// The 300 configurations on which peers were measured (60 sources), n = 2^24, one command each time.
  [[nodiscard]] Json peer_space() {
    std::vector<double> rates, whole, gpu_busy, compile_busy, waiting;
    Json row{{"case", "peer_space_300"}, {"problem", {{"T", "f32"}, {"op", "sum"}, {"n", 1 << 24}}}, {"policy", "cold/graph"}};
    std::uint64_t verified = 0;
    for (int i = 0; i < settings_.repeats; ++i) {
      const AttuneRun run = tune({settings_.templates + "/peer_space", "--T", "f32", "--op", "sum", "--size", "2^24"});
      const auto& problem = run.event("problem");
      const auto& used = problem.at("utilisation");
      const auto records = verified_records(run);
      if (records != 300) throw Error(fmt::format("failed measuring the rate: {} of 300 configurations were verified", records));
      verified = records;
      const double wall_s = used.at("wall_s");
      rates.push_back(300 / wall_s);
      whole.push_back(300 / run.wall_s);
      gpu_busy.push_back(used.at("gpu_busy_s").get<double>() / wall_s);
      waiting.push_back(used.at("idle_waiting_compile_s").get<double>() / wall_s);
      compile_busy.push_back(used.at("compile_busy_s").get<double>() / used.at("compile_worker_s").get<double>());
    }
    row.update({{"configs_per_s", base::median(rates)},
                {"configs_per_s_runs", rates},
                {"whole_command_configs_per_s", base::median(whole)},
                {"gpu_busy", base::median(gpu_busy)},
                {"compile_busy", base::median(compile_busy)},
                {"gpu_waited_for_compiles", base::median(waiting)},
                {"verified", verified}});
    return row;
  }

  /// What the default strategy takes of searches that its budget does not cover, of reductions that take microseconds; and beside it random
  /// search, which thinks of nothing: what devices wait for then they do not wait for a strategy.
  [[nodiscard]] std::vector<Json> learning() {
    constexpr int kBudget = 1000;
    std::vector<Json> rows;
    for (const char* const strategy : {"auto", "random"}) {
      std::map<std::string, std::vector<double>> shares;
      std::vector<double> rates;
      for (int i = 0; i < settings_.learning; ++i) {
        const AttuneRun run = tune({"reduce", "--T", "f32", "--op", "sum", "--size", "2^22", "--strategy", strategy, "--budget",
                                    std::to_string(kBudget), "--seed", std::to_string(i + 1)});
        const auto& problem = run.event("problem");
        const auto& used = problem.at("utilisation");
        const double wall_s = used.at("wall_s");
        rates.push_back(problem.at("measured").get<double>() / wall_s);
        for (const char* const what : {"searching_s", "gpu_busy_s", "idle_waiting_compile_s", "idle_other_s"})
          shares[what].push_back(used.at(what).get<double>() / wall_s);
      }
      rows.push_back({{"case", "learning"},
                      {"strategy", strategy},
                      {"budget", kBudget},
                      {"configs_per_s", base::median(rates)},
                      {"configs_per_s_runs", rates},
                      {"searching", base::median(shares["searching_s"])},
                      {"gpu_busy", base::median(shares["gpu_busy_s"])},
                      {"gpu_waited_for_compiles", base::median(shares["idle_waiting_compile_s"])},
                      {"gpu_waited_otherwise", base::median(shares["idle_other_s"])},
                      {"gpu_waited_otherwise_runs", shares["idle_other_s"]}});
    }
    return rows;
  }

  /// As many problems on the first 2, 4, ... devices at once as each of them tunes its share of alone before, one after the other: devices
  /// of one kind differ by several per cent, and one of them alone would tell of itself. All together they do it before and after, since
  /// moments differ as much. Code that the first command compiled is kept for the others. Where `apart` is asked for, they also tune their
  /// shares at the same time by a command each: what the machine allows programs that know nothing of each other. Throws: UsageError.
  [[nodiscard]] std::vector<Json> scaling() {
    std::vector<Json> rows;
    for (const int gpus : settings_.gpus) {
      if (gpus < 2 || settings_.scaling_problems % gpus != 0)
        throw UsageError(
            fmt::format("{} problems are not shared equally by {} GPUs; state at least 2, and a multiple as --scaling-problems",
                        settings_.scaling_problems, gpus));
      std::string devices = "0";
      for (int i = 1; i < gpus; ++i) devices += fmt::format(",{}", i);
      const double before_s = tune_share(0, 1, devices, Cache::Empty).wall_s;
      Json alone = Json::array();
      double one_by_one_s = 0, starts_s = 0;
      for (int i = 0; i < gpus; ++i) {
        const AttuneRun run = tune_share(i, gpus, std::to_string(i), Cache::Kept);
        one_by_one_s += run.wall_s;
        alone.push_back({{"command_s", run.wall_s}});
        alone.back().update(use_of_devices(run, 1));
        starts_s += alone.back().at("before_first_problem_s").get<double>() + alone.back().at("after_last_problem_s").get<double>();
      }
      one_by_one_s -= starts_s * (gpus - 1) / gpus;  // one command for all would start and end once
      const AttuneRun run = tune_share(0, 1, devices, Cache::Kept);
      rows.push_back({{"case", "scaling"},
                      {"gpus", gpus},
                      {"budget", settings_.scaling_budget},
                      {"speedup", one_by_one_s / ((before_s + run.wall_s) / 2)},
                      {"speedup_before", one_by_one_s / before_s},
                      {"speedup_after", one_by_one_s / run.wall_s},
                      {"one_by_one_s", one_by_one_s},
                      {"command_s", run.wall_s},
                      {"command_before_s", before_s}});
      rows.back().update(use_of_devices(run, gpus));
      rows.back()["alone"] = std::move(alone);
      if (settings_.scaling_apart) rows.back().update(apart(gpus, one_by_one_s + starts_s * (gpus - 1) / gpus));
      fmt::print(stderr, "{}\n", dump_json(rows.back()));
    }
    return rows;
  }

  /// A space of a million configurations of which a few are measured.
  [[nodiscard]] Json memory() {
    const AttuneRun run = tune({settings_.templates + "/million", "--size", "2^20", "--strategy", "random", "--budget", "300"});
    const auto& problem = run.event("problem");
    return {{"case", "million_configurations"},
            {"space_size", problem.at("space_size")},
            {"measured", problem.at("measured")},
            {"parent_bytes", run.parent_bytes}};
  }

 private:
  [[nodiscard]] AttuneRun tune(std::vector<std::string> words, Cache cache = Cache::Empty) {
    return tune_into(++commands_, std::move(words), cache);
  }

  [[nodiscard]] AttuneRun tune_into(int number, std::vector<std::string> words, Cache cache) const {
    const auto database = scratch_.path() / fmt::format("{}.db", number);
    words.insert(words.begin(), "tune");
    words.insert(words.end(), {"--db", database.string()});
    AttuneRun run = run_attune(executable_, words, scratch_.path(), cache);
    std::filesystem::remove(database);
    return run;
  }

  /// Every `share`-th of the problems, from the one at `first` on.
  [[nodiscard]] AttuneRun tune_share(int first, int share, const std::string& devices, Cache cache) {
    return tune_share(first, share, devices, cache, ++commands_);
  }

  [[nodiscard]] AttuneRun tune_share(int first, int share, const std::string& devices, Cache cache, int number) const {
    constexpr int kSmallest = 1'000'000, kStep = 83'000;
    const int last = settings_.scaling_problems - share + first;
    const auto sizes = fmt::format("{}..{}:+{}", kSmallest + kStep * first, kSmallest + kStep * last, kStep * share);
    return tune_into(number,
                     {"reduce", "--T", "f32", "--op", "sum", "--size", sizes, "--strategy", "random", "--budget",
                      std::to_string(settings_.scaling_budget), "--device", devices},
                     cache);
  }

  /// `one_by_one_s`: of the same commands, each started and ended by itself.
  [[nodiscard]] Json apart(int gpus, double one_by_one_s) {
    std::vector<std::future<AttuneRun>> commands;
    for (int i = 0; i < gpus; ++i) {
      const int database = ++commands_;
      commands.push_back(
          std::async(std::launch::async, [=, this] { return tune_share(i, gpus, std::to_string(i), Cache::Kept, database); }));
    }
    Json all = Json::array();
    double last_s = 0;
    for (auto& command : commands) {
      const AttuneRun run = command.get();
      last_s = std::max(last_s, run.wall_s);
      all.push_back({{"command_s", run.wall_s}});
      all.back().update(use_of_devices(run, 1));
    }
    return {{"speedup_apart", one_by_one_s / last_s}, {"apart", std::move(all)}};
  }

  /// What the devices did while the command ran. Shares are of all devices' time from its start to its end.
  [[nodiscard]] static Json use_of_devices(const AttuneRun& run, int gpus) {
    std::vector<double> elapsed_s, ended_s;
    double first_s = run.wall_s, searching_s = 0;
    for (std::size_t i = 0; i < run.events.size(); ++i) {
      const auto& event = run.events[i];
      if (event.at("event") != "problem") continue;
      elapsed_s.push_back(event.at("elapsed_s"));
      ended_s.push_back(run.event_s[i]);
      first_s = std::min(first_s, ended_s.back() - elapsed_s.back());
      searching_s += event.at("utilisation").at("wall_s").get<double>();
    }
    if (elapsed_s.empty()) throw Error("failed measuring how tuning scales: no problem was tuned");
    const double ending_s = *std::max_element(ended_s.begin(), ended_s.end()), told_s = run.event_s.back();
    const double devices_s = gpus * run.wall_s, tuning_s = std::accumulate(elapsed_s.begin(), elapsed_s.end(), 0.0);
    const auto& used = run.event("end").at("utilisation");
    const auto share = [&](const char* what) { return used.at(what).get<double>() / devices_s; };
    return {{"tuning", tuning_s / devices_s},
            {"searching", searching_s / devices_s},
            {"gpu_busy", share("gpu_busy_s")},
            {"gpu_waited_for_compiles", share("idle_waiting_compile_s")},
            {"gpu_waited_otherwise", share("idle_other_s")},
            {"before_first_problem_s", first_s},
            {"after_last_problem_s", run.wall_s - ending_s},
            {"after_last_event_s", run.wall_s - told_s},
            {"problems", elapsed_s.size()},
            {"problem_s", elapsed_s},
            {"problem_end_s", ended_s},
            {"configurations", verified_records(run)}};
  }

  /// Configurations whose record was committed as verified.
  [[nodiscard]] static std::uint64_t verified_records(const AttuneRun& run) {
    std::set<std::string> verified;
    for (const auto& event : run.events) {
      if (event.at("event") == "record" && event.at("verified").get<bool>()) {
        verified.insert(base::dump_json(event.at("problem")) + base::dump_json(event.at("configuration")));
      }
    }
    return verified.size();
  }

  const Settings& settings_;
  std::filesystem::path executable_;
  test::TempFolder scratch_;
  int commands_ = 0;
};

/// Every row says when and from which sources it came.
std::vector<Json> rows_there(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  const Json there = parse_json(base::read_file(file));
  return {there.at("rows").begin(), there.at("rows").end()};
}

/// Those of cases that this run did not measure again: scaling needs another machine than the rate.
std::vector<Json> kept_rows(const std::vector<Json>& earlier, const std::vector<Json>& fresh) {
  std::vector<Json> rows;
  for (const auto& row : earlier) {
    const bool again = std::any_of(fresh.begin(), fresh.end(), [&](const Json& f) { return f.at("case") == row.at("case"); });
    if (!again) rows.push_back(row);
  }
  return rows;
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  const auto device = gpu::read_device(0);
  const auto earlier = rows_there(results_path(folder, "tuning_rate", device));
  TuningRate bench(settings);
  std::vector<Json> rows;
  if (settings.repeats > 0) rows.push_back(bench.peer_space());
  if (settings.learning > 0) {
    for (auto& row : bench.learning()) rows.push_back(std::move(row));
  }
  if (settings.memory) rows.push_back(bench.memory());
  if (!settings.gpus.empty()) {
    for (auto& row : bench.scaling()) rows.push_back(std::move(row));
  }
  for (auto& row : rows) row.update({{"date", base::utc_now()}, {"content", content_hash()}});
  const auto kept = kept_rows(earlier, rows);
  rows.insert(rows.end(), kept.begin(), kept.end());
  for (const auto& row : rows) fmt::print(stderr, "{}\n", dump_json(row));
  const auto path = write_results(folder, "tuning_rate", device, Json::object(), rows);
  fmt::print(stderr, "written to {}\n", path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{
      "Measures how fast tuning is and writes <output>/<device>/tuning_rate.json; rows that are not measured again stay, with their "
      "own date"};
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--templates", settings.templates, "Folder of the benchmark's templates").with_default();
  line.option("--repeats", settings.repeats, "Runs of the 300-configuration space; 0: leave it out").with_default();
  line.option("--learning", settings.learning,
              "Searches of 1,000 configurations by the default strategy and by random search, for what thinking takes")
      .with_default();
  line.option("--gpus", settings.gpus, "Numbers of GPUs to scale over, e.g. 2,4").separated_by(',');
  line.option("--scaling-problems", settings.scaling_problems, "Problems that GPUs share").with_default();
  line.option("--scaling-budget", settings.scaling_budget, "Configurations tried of each of them, at random").with_default();
  line.flag("--scaling-apart", settings.scaling_apart, "Also all of those GPUs at once by a command each");
  line.flag("--memory", settings.memory, "Also a space of a million configurations");
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
