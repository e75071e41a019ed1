// How well searches find on a GPU what is fast, within a budget of time: each seed is one run of the real command with an empty database;
// then all winners of a case and its mark (bench/marks.json) run off against each other in one process.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>

#include "attune/error.hpp"
#include "attune_build/search_hash.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/device_shares.hpp"
#include "bench/support/json.hpp"
#include "bench/support/paired_run.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/search_cases.hpp"
#include "bench/support/tuned_winner.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/text.hpp"
#include "tuner/runtime/lookup.hpp"

namespace attune::bench {
namespace {

constexpr char kBench[] = "search_quality";
constexpr char kPolicy[] = "cold/graph";

struct Settings {
  std::string output;
  std::filesystem::path marks;
  std::vector<std::string> cases;
  std::vector<std::string> strategies = {"auto"};
  int seeds = 10;
  std::string devices = "0";
  bool keep_cache = false;
  bool find_marks = false;
  int find_s = 120;
};

/// One command, and what it decided.
struct Run {
  std::string strategy;
  int seed = 0;
  int device = 0;
  TunedWinner tuned;
};

std::string budget_text(double seconds) { return fmt::format("{}s", seconds); }

class Quality {
 public:
  Quality(const Settings& settings, std::filesystem::path marks)
      : settings_(settings), file_(std::move(marks)), folder_(results_folder(settings.output)), devices_(settings.devices) {
    read_rows();
  }

  /// Throws before anything is run where a case or a mark is wrong.
  void run() {
    auto cases = file_.named(settings_.cases);
    for (SearchCase& one : cases) one.mark = resolved(one);
    for (const SearchCase& one : cases) measure(one);
  }

  /// Searches long for something faster than each mark that was found so far.
  void find_marks() {
    const auto cases = file_.named(settings_.cases);
    for (const SearchCase& one : cases) {
      if (one.mark.kind == MarkKind::Found) {
        find_mark(one);
      } else if (!settings_.cases.empty()) {
        throw UsageError(fmt::format("failed finding a mark of '{}': its mark is from {}, and stays", one.name, one.mark.from));
      }
    }
  }

 private:
  /// The rows of the file that is there. Throws: UsageError when they are not like those that will join them.
  void read_rows() {
    const auto path = results_path(folder_, kBench, devices_.device());
    if (!std::filesystem::exists(path)) return;
    const auto refuse = [&](const std::string& why) {
      throw UsageError(fmt::format("failed adding to {}: {}; move it away to begin anew", path.string(), why));
    };
    try {
      const Json file = parse_json(base::read_file(path));
      if (file.at("driver") != devices_.device().driver) refuse("it is of another driver, " + dump_json(file.at("driver")));
      const auto device = spec::DeviceInfo::from_json(base::parse_json(dump_json(file.at("device"))));
      if (const auto difference = device.hard_difference(devices_.device()); !difference.empty()) refuse("its device has " + difference);
      for (const Json& row : file.at("rows")) {
        (void)place_of(row);
        rows_.push_back(row);
      }
    } catch (const Json::exception& error) {
      refuse(error.what());
    }
  }

  static std::tuple<std::string, std::string, int> place_of(const Json& row) {
    return {row.at("case"), row.at("strategy"), row.at("seed")};
  }

  /// With the configuration of one that is dispatched.
  [[nodiscard]] Mark resolved(const SearchCase& one) const {
    if (const auto own = one.marks_on.find(devices_.device().name); own != one.marks_on.end()) return own->second;
    if (one.mark.kind != MarkKind::Dispatched) return one.mark;
    for (const auto& path : runtime::shipped_database_paths()) {
      if (!std::filesystem::exists(path)) continue;
      const auto opened = runtime::open_layers({path});
      const auto kernel = spec::TemplateLibrary().find(one.template_name);
      const auto choice = runtime::choose(kernel, one.problem, devices_.device(), opened.layers, {kPolicy});
      return {one.mark.kind, choice.decision.configuration, fmt::format("{} ({})", one.mark.from, name(choice.decision.tier))};
    }
    throw UsageError(fmt::format("failed choosing the mark of '{}': there is no shipped database; name it in ATTUNE_SHIPPED_DB", one.name));
  }

  /// Every strategy with every seed, `budget` each.
  [[nodiscard]] std::vector<Run> search(const SearchCase& one, const std::vector<std::string>& strategies, int seeds,
                                        double budget_s) const {
    const test::TempFolder scratch;
    const auto executable = attune_executable();
    const auto per_strategy = static_cast<std::size_t>(seeds);
    std::vector<Run> runs(strategies.size() * per_strategy);
    devices_.for_each(runs.size(), [&](std::size_t number, int device) {
      Run run{strategies[number / per_strategy], static_cast<int>(number % per_strategy) + 1, device, {}};
      const auto folder = scratch / fmt::format("device{}", device);
      std::filesystem::create_directory(folder);
      auto words = words_of(one);
      words.insert(words.end(), {"--strategy", run.strategy, "--seed", std::to_string(run.seed), "--budget", budget_text(budget_s)});
      run.tuned = tune_once(executable, words, folder, number, device, settings_.keep_cache ? Cache::Kept : Cache::Empty);
      if (run.tuned.problem != spec::to_text(one.problem)) throw Error("failed searching: the command tuned " + run.tuned.problem);
      fmt::print(stderr, "{} {} seed {}: {:.3f} us, {:.1f} s, {}\n", one.name, run.strategy, run.seed, run.tuned.best_us,
                 run.tuned.command_s, run.tuned.winner);
      runs[number] = std::move(run);
    });
    return runs;
  }

  /// The time of each of these over the mark's, paired.
  [[nodiscard]] std::map<std::string, measure::PairedComparison> over_mark(const SearchCase& one,
                                                                           std::set<std::string> configurations) const {
    configurations.insert(one.mark.configuration);
    const auto kernel = spec::TemplateLibrary().find(one.template_name);
    const auto samples = run_off_all(attune_executable(), devices_.ordinals().front(), kernel, one.problem, configurations);
    return ratios_to(samples, one.mark.configuration);
  }

  void measure(const SearchCase& one) {
    const auto runs = search(one, settings_.strategies, settings_.seeds, one.budget_s);
    std::set<std::string> winners;
    for (const Run& run : runs) winners.insert(run.tuned.winner);
    const auto over = over_mark(one, winners);
    std::erase_if(rows_, [&](const Json& row) {
      const auto& names = settings_.strategies;
      return row.at("case") == one.name && std::find(names.begin(), names.end(), row.at("strategy").get<std::string>()) != names.end();
    });
    int reached = 0;
    for (const Run& run : runs) {
      rows_.push_back(row_of(one, run, over.at(run.tuned.winner)));
      reached += rows_.back().at("reached").get<bool>() ? 1 : 0;
    }
    std::sort(rows_.begin(), rows_.end(), [](const Json& a, const Json& b) { return place_of(a) < place_of(b); });
    const auto path = write();
    fmt::print(stderr, "{}: {} of {} reach the goal; written to {}\n", one.name, reached, runs.size(), path.string());
  }

  [[nodiscard]] Json row_of(const SearchCase& one, const Run& run, const measure::PairedComparison& over) const {
    const double behind = over.median_ratio - 1;
    return {{"case", one.name},
            {"seed", run.seed},
            {"strategy", run.strategy},
            {"budget_s", one.budget_s},
            {"command_s", run.tuned.command_s},
            {"behind", behind},
            {"behind_interval", {over.low - 1, over.high - 1}},
            {"reached", reaches(one, behind, over.low - 1, run.tuned.command_s)},
            {"goal_behind", one.goal_behind},
            {"goal_command_s", one.goal_command_s ? Json(*one.goal_command_s) : Json(nullptr)},
            {"problem", parse_json(spec::to_text(one.problem))},
            {"winner", parse_json(run.tuned.winner)},
            {"best_us", run.tuned.best_us},
            {"mark", parse_json(one.mark.configuration)},
            {"mark_from", one.mark.from},
            {"device_ordinal", run.device},
            {"processors", devices_.processors()},
            {"compiled_code_kept", settings_.keep_cache},
            {"content", content_hash()},
            {"search_content", build::kSearchHash},
            {"date", base::utc_now()}};
  }

  [[nodiscard]] std::filesystem::path write() const {
    const Json fields{
        {"policy", kPolicy},
        {"means",
         {{"behind", "time over the mark's less 1: the median of an epoch's paired ratios over the epochs of one run-off"},
          {"behind_interval", "of that median, 95 %"},
          {"reached", "behind is at most the goal, or cannot be told from 0 where that is the goal; and the command took no longer"},
          {"processors", "that a command had; compiled code is what it makes of them"},
          {"search_content", "digest of the sources of tuner/space, search and simulate"}}}};
    return write_results(folder_, kBench, devices_.device(), fields, rows_);
  }

  /// One search on each device, and what the file's rows name.
  void find_mark(const SearchCase& one) {
    const auto runs = search(one, {"auto"}, static_cast<int>(devices_.ordinals().size()), settings_.find_s);
    std::set<std::string> candidates;
    for (const Run& run : runs) candidates.insert(run.tuned.winner);
    for (const Json& row : rows_) {
      if (row.at("case") == one.name) candidates.insert(base::dump_json(base::parse_json(dump_json(row.at("winner")))));
    }
    const auto over = over_mark(one, candidates);
    const auto best = std::min_element(over.begin(), over.end(),
                                       [](const auto& a, const auto& b) { return a.second.median_ratio < b.second.median_ratio; });
    if (!best->second.faster()) {
      fmt::print(stderr, "{}: nothing is faster than its mark beyond doubt\n", one.name);
      return;
    }
    file_.replace_mark(one.name, best->first,
                       fmt::format("a search of {} on {}, {}: {:.4f} of the mark before", budget_text(settings_.find_s),
                                   devices_.device().name, base::utc_now(), best->second.median_ratio));
    fmt::print(stderr, "{}: its mark is {} now, {:.4f} of the time before\n", one.name, best->first, best->second.median_ratio);
  }

  const Settings& settings_;
  CaseFile file_;
  std::filesystem::path folder_;
  DeviceShares devices_;
  std::vector<Json> rows_;  ///< of the file, ordered by case, strategy and seed
};

int run(const Settings& settings) {
  Quality quality(settings, settings.marks.empty() ? std::filesystem::path(ATTUNE_BENCH_SOURCES) / "marks.json" : settings.marks);
  if (settings.find_marks) {
    quality.find_marks();
  } else {
    quality.run();
  }
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{
      "Searches within a budget of time and writes <output>/<device>/search_quality.json after each case; rows of other cases and strategies "
      "stay in it"};
  line.option("--cases", settings.cases, "Default: all of the file of marks").separated_by(',');
  line.option("--strategies", settings.strategies, "Of attune tune").with_default().separated_by(',');
  line.option("--seeds", settings.seeds, "Commands of each case and strategy; seeds count from 1").with_default().within(1, 1000);
  line.option("--devices", settings.devices, "Ordinals of equal devices that share the seeds, and the processors, e.g. 0,1").with_default();
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--marks", settings.marks, "File of the cases and their marks; default: bench/marks.json of the source tree");
  line.flag("--keep-cache", settings.keep_cache, "Compiled code is kept from one command to the next; else each has an empty cache");
  line.flag(
      "--find-marks", settings.find_marks,
      "Searches long instead, once a device, and writes what is faster than a mark into the file of marks; marks that are no finds stay");
  line.option("--find-seconds", settings.find_s, "Budget of such a search").with_default().within(1, 86400);
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
