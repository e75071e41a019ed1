// How fast tuning is, how well it keeps the GPU busy, how it scales over the GPUs of one host, and what it takes of memory:
// the real command with empty caches, every configuration verified and committed.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
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
  std::vector<int> gpus;
  // Many short problems, 192 of them: one is tuned by one GPU, so that at the end the others are idle for half of the last ones' time in
  // the mean. 1, 2, 4 and 8 GPUs have as many each.
  std::string scaling_sizes = "1000000..16853000:+83000";
  int scaling_budget = 380;
  bool memory = false;
};

class TuningRate {
 public:
  /// `uuid`: of the first device.
  TuningRate(const Settings& settings, std::string uuid) : settings_(settings), executable_(attune_executable()), uuid_(std::move(uuid)) {}

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

  /// The same problems on the first 1, 2, ... devices. `earlier`: rows of the file that is there, whose time of one device may be compared
  /// with. Throws: UsageError when no row tells that time.
  [[nodiscard]] std::vector<Json> scaling(const std::vector<Json>& earlier) {
    std::vector<Json> rows;
    std::optional<double> one_s = baseline_s(earlier);
    if (settings_.gpus.front() != 1 && !one_s) {
      throw UsageError(
          "failed measuring how tuning scales: neither does --gpus begin with 1, nor has the results' file a row of this GPU alone for this "
          "content and these problems");
    }
    for (const int gpus : settings_.gpus) {
      std::string devices = "0";
      for (int i = 1; i < gpus; ++i) devices += fmt::format(",{}", i);
      const AttuneRun run = tune({"reduce", "--T", "f32", "--op", "sum", "--size", settings_.scaling_sizes, "--strategy", "random",
                                  "--budget", std::to_string(settings_.scaling_budget), "--device", devices});
      if (gpus == 1) one_s = run.wall_s;
      rows.push_back({{"case", "scaling"},
                      {"gpus", gpus},
                      {"uuid", uuid_},
                      {"sizes", settings_.scaling_sizes},
                      {"budget", settings_.scaling_budget},
                      {"speedup", *one_s / run.wall_s},
                      {"command_s", run.wall_s}});
      rows.back().update(use_of_devices(run, gpus));
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
  [[nodiscard]] AttuneRun tune(std::vector<std::string> words) {
    const auto database = scratch_.path() / fmt::format("{}.db", ++commands_);
    words.insert(words.begin(), "tune");
    words.insert(words.end(), {"--db", database.string()});
    AttuneRun run = run_attune(executable_, words, scratch_.path());
    std::filesystem::remove(database);
    return run;
  }

  /// How long the first of these devices took alone, for the same problems with the same sources.
  [[nodiscard]] std::optional<double> baseline_s(const std::vector<Json>& earlier) const {
    for (const auto& row : earlier) {
      const bool of_one =
          row.at("case") == "scaling" && row.at("gpus") == 1 && row.at("content") == content_hash() && row.value("uuid", "") == uuid_;
      if (of_one && row.value("sizes", "") == settings_.scaling_sizes && row.value("budget", 0) == settings_.scaling_budget)
        return row.at("command_s").get<double>();
    }
    return std::nullopt;
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
  std::string uuid_;
  test::TempFolder scratch_;
  int commands_ = 0;
};

/// Every row says when and from which sources it came.
std::vector<Json> rows_there(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  const Json there = parse_json(base::read_file(file));
  return {there.at("rows").begin(), there.at("rows").end()};
}

/// Those that this run did not measure again: scaling needs another machine than the rate. Of scaling those of the same problems.
std::vector<Json> kept_rows(const std::vector<Json>& earlier, const std::vector<Json>& fresh) {
  std::vector<Json> rows;
  for (const auto& row : earlier) {
    const bool again = std::any_of(fresh.begin(), fresh.end(), [&](const Json& f) {
      const auto differs = [&](const char* field) { return f.value(field, Json()) != row.value(field, Json()); };
      const bool another = f.at("case") == "scaling" && differs("gpus") && !differs("uuid") && !differs("sizes") && !differs("budget") &&
                           !differs("content");
      return f.at("case") == row.at("case") && !another;
    });
    if (!again) rows.push_back(row);
  }
  return rows;
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  const auto device = gpu::read_device(0);
  const auto earlier = rows_there(results_path(folder, "tuning_rate", device));
  TuningRate bench(settings, device.uuid);
  std::vector<Json> rows;
  if (settings.repeats > 0) rows.push_back(bench.peer_space());
  if (settings.memory) rows.push_back(bench.memory());
  if (!settings.gpus.empty()) {
    for (auto& row : bench.scaling(earlier)) rows.push_back(std::move(row));
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
  line.option("--gpus", settings.gpus,
              "Numbers of GPUs to scale over: 1,2,4; without 1 the file's row of the same GPU alone is what they are compared with")
      .separated_by(',');
  line.option("--scaling-sizes", settings.scaling_sizes, "Sizes of the problems that GPUs share").with_default();
  line.option("--scaling-budget", settings.scaling_budget, "Configurations tried of each of them, at random").with_default();
  line.flag("--memory", settings.memory, "Also a space of a million configurations");
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
