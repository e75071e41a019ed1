// How fast tuning is, how well it keeps the GPU busy, how it scales over the GPUs of one host, and what it takes of memory:
// the real command with empty caches, every configuration verified and committed.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "attune/error.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/scaling.hpp"
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
  ScalingSettings scaling;
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

  /// What the default strategy takes of searches that its budget does not cover; and beside it, in turn, random search, which thinks of
  /// nothing: what devices wait for then they do not wait for a strategy. Once with empty caches, once where all code is there, which is
  /// as fast as configurations can come.
  [[nodiscard]] std::vector<Json> learning() {
    const std::vector<std::string> large{"reduce", "--T", "f32", "--op", "sum", "--size", "2^22"};
    const std::vector<std::string> small{settings_.templates + "/peer_space", "--T", "f32", "--op", "sum", "--size", "2^24"};
    std::vector<Json> rows = learning(large, "n = 2^22, nothing compiled", 1000, Cache::Empty);
    (void)tune(small);  // compiles
    for (Json& row : learning(small, "300, n = 2^24, all compiled", 250, Cache::Kept)) rows.push_back(std::move(row));
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
  /// With an empty database.
  [[nodiscard]] AttuneRun tune(std::vector<std::string> words, Cache cache = Cache::Empty) {
    const auto database = scratch_.path() / fmt::format("{}.db", ++commands_);
    words.insert(words.begin(), "tune");
    words.insert(words.end(), {"--db", database.string()});
    AttuneRun run = run_attune(executable_, words, scratch_.path(), cache);
    std::filesystem::remove(database);
    return run;
  }

  [[nodiscard]] std::vector<Json> learning(const std::vector<std::string>& problem, const char* of, int budget, Cache cache) {
    constexpr std::array kShares = {"searching_s", "gpu_busy_s", "idle_waiting_compile_s", "idle_other_s"};
    const std::vector<std::string> strategies{"auto", "random"};
    std::map<std::string, std::map<std::string, std::vector<double>>> shares;
    std::map<std::string, std::vector<double>> rates;
    for (int seed = 1; seed <= settings_.learning; ++seed) {
      for (const auto& strategy : strategies) {
        auto words = problem;
        words.insert(words.end(), {"--strategy", strategy, "--budget", std::to_string(budget), "--seed", std::to_string(seed)});
        const AttuneRun run = tune(words, cache);
        const auto& searched = run.event("problem");
        const auto& used = searched.at("utilisation");
        const double wall_s = used.at("wall_s");
        rates[strategy].push_back(searched.at("measured").get<double>() / wall_s);
        for (const char* const what : kShares) shares[strategy][what].push_back(used.at(what).get<double>() / wall_s);
      }
    }
    std::vector<Json> rows;
    for (const auto& strategy : strategies) {
      auto& share = shares[strategy];
      rows.push_back({{"case", "learning"},
                      {"strategy", strategy},
                      {"of", of},
                      {"budget", budget},
                      {"configs_per_s", base::median(rates[strategy])},
                      {"configs_per_s_runs", rates[strategy]},
                      {"searching", base::median(share["searching_s"])},
                      {"gpu_busy", base::median(share["gpu_busy_s"])},
                      {"gpu_waited_for_compiles", base::median(share["idle_waiting_compile_s"])},
                      {"gpu_waited_otherwise", base::median(share["idle_other_s"])},
                      {"gpu_waited_otherwise_runs", share["idle_other_s"]}});
    }
    return rows;
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
  for (auto& row : Scaling(settings.scaling, attune_executable()).rows()) rows.push_back(std::move(row));
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
              "Searches of each kind by the default strategy and as many by random search, for what thinking takes")
      .with_default();
  line.option("--gpus", settings.scaling.gpus, "Numbers of GPUs to scale over, e.g. 2,4").separated_by(',');
  line.option("--scaling-problems", settings.scaling.problems, "Problems that GPUs share").with_default();
  line.option("--scaling-rounds", settings.scaling.rounds, "Times that each GPU tunes its share of them alone and then all do together")
      .with_default()
      .within(1, 1000);
  line.option("--scaling-budget", settings.scaling.budget, "Configurations tried of each of them, at random").with_default();
  line.flag("--scaling-apart", settings.scaling.apart, "Also all of those GPUs at once by a command each");
  line.flag("--memory", settings.memory, "Also a space of a million configurations");
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
