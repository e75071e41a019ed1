// How well each search strategy does on recorded spaces, beside random search (docs/cli.md says what the score is). Needs no GPU.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "attune/error.hpp"
#include "attune_build/search_hash.hpp"
#include "attune_build/version.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/score_table.hpp"
#include "bench/support/scored_spaces.hpp"
#include "bench/support/standing.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/search/hints.hpp"
#include "tuner/simulate/simulation.hpp"
#include "tuner/simulate/warm.hpp"

namespace attune::bench {
namespace {

namespace fs = std::filesystem;

constexpr char kBench[] = "search_score";

struct Settings {
  std::vector<fs::path> files;
  std::vector<std::string> strategies;
  std::vector<std::string> only;
  fs::path output;
  fs::path traces;
  int runs = 100;
  std::uint64_t budget = 220;
  std::uint64_t seed = 1;
  bool again = false;
};

/// All that search, unless some are named.
std::vector<search::StrategyKind> strategies_of(const Settings& settings) {
  std::vector<search::StrategyKind> kinds;
  for (const std::string& text : settings.strategies.empty() ? search::strategy_names() : settings.strategies) {
    const auto kind = search::strategy_named(text);
    if (!search::needs_winners(kind)) {
      kinds.push_back(kind);
    } else if (!settings.strategies.empty()) {
      throw UsageError(
          fmt::format("strategy '{}' tries what won before, which a recorded space does not tell; name one that searches", text));
    }
  }
  return kinds;
}

bool is_chosen(const std::string& name, const std::vector<std::string>& only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const auto& part) { return name.find(part) != std::string::npos; });
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  return "unknown";
}

/// CPU time of all threads of this process.
double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// One strategy on one space, from nothing or with what other devices' files tell.
struct Part {
  std::size_t place;  ///< among the spaces
  search::StrategyKind kind;
  bool warm;
};

class Scoreboard {
 public:
  Scoreboard(const Settings& settings, fs::path output)
      : settings_(settings), spaces_(read_scored_spaces(recorded_files(settings.files))), table_(std::move(output), kBench) {}

  /// Scores what the table does not have yet, and writes it after each part.
  void run() {
    const auto parts = missing();
    std::size_t done = 0;
    for (const Part& part : parts) {
      const auto start = std::chrono::steady_clock::now();
      table_.put(row_of(part));
      table_.write(header());
      const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      base::print("{}/{} {} {}{}: {:.1f} s\n", ++done, parts.size(), spaces_[part.place].name, search::name(part.kind),
                  part.warm ? " warm" : "", wall_s);
      base::flush_standard_output();
    }
  }

 private:
  [[nodiscard]] std::vector<Part> missing() const {
    std::vector<Part> parts;
    for (std::size_t place = 0; place < spaces_.size(); ++place) {
      if (!is_chosen(spaces_[place].name, settings_.only)) continue;
      const bool alone = sources_for(place, spaces_).empty();
      for (const auto kind : strategies_of(settings_)) {
        for (const bool warm : {false, true}) {
          const Part part{place, kind, warm};
          if ((!warm || !alone) && (settings_.again || !table_.has(conditions(part)))) parts.push_back(part);
        }
      }
    }
    return parts;
  }

  /// The name of a row, and what has to be the same for its figures to hold.
  [[nodiscard]] Json conditions(const Part& part) const {
    const ScoredSpace& space = spaces_[part.place];
    Json conditions{{"file", space.name},
                    {"strategy", search::name(part.kind)},
                    {"warm", part.warm},
                    {"runs", settings_.runs},
                    {"budget", settings_.budget},
                    {"seed", settings_.seed},
                    {"content", build::kSearchHash},
                    {"recorded", space.digest}};
    Json hints = Json::array();
    for (const std::size_t source : part.warm ? sources_for(part.place, spaces_) : std::vector<std::size_t>{})
      hints.push_back({{"file", spaces_[source].name}, {"recorded", spaces_[source].digest}});
    conditions["hints"] = hints;
    return conditions;
  }

  [[nodiscard]] Json row_of(const Part& part) {
    const auto& recorded = spaces_[part.place].recorded;
    const search::StrategyOptions options{.kind = part.kind, .seed = settings_.seed, .hints = part.warm ? hints_of(part.place) : nullptr};
    const double start = cpu_ms();
    const auto runs = simulate::run_searches(recorded, options, settings_.budget, static_cast<std::size_t>(settings_.runs));
    const double spent_ms = cpu_ms() - start;
    std::vector<simulate::Trace> traces;
    std::size_t proposals = 0;
    for (const auto& run : runs) {
      traces.push_back(simulate::trace_of(recorded, run));
      proposals += run.size();
    }
    const auto failed = std::count(recorded.costs.begin(), recorded.costs.end(), std::nullopt);
    Json row = conditions(part);
    row.update(standing(simulate::SearchScore(recorded.costs), traces, settings_.budget));
    row["propose_ms"] = spent_ms / static_cast<double>(proposals);
    row["space"] = common_name(part.place, spaces_);
    row["configurations"] = recorded.costs.size();
    row["valid"] = recorded.costs.size() - static_cast<std::size_t>(failed);
    row["processor"] = processor_;
    row["date"] = base::utc_now();
    return row;
  }

  /// The last ones are kept: the parts of a space follow each other, and a source of thousands takes a while to model.
  std::shared_ptr<const search::Hints> hints_of(std::size_t place) {
    if (hints_ && hints_place_ == place) return hints_;
    std::vector<search::HintSource> sources;
    for (const std::size_t source : sources_for(place, spaces_))
      sources.push_back(simulate::hints_for(spaces_[place].recorded, spaces_[source].recorded));
    hints_ = std::make_shared<const search::Hints>(spaces_[place].recorded.space, sources);
    hints_place_ = place;
    return hints_;
  }

  [[nodiscard]] static Json header() {
    return {{"version", build::kVersion},
            {"date", base::utc_now()},
            {"means",
             {{"score", "docs/cli.md, Searches without a GPU"},
              {"at_N", "the optimum over the best of N evaluations, in the mean over the runs"},
              {"warm", "with what the files in hints tell; a file is one device's, and the scored one is not among them"},
              {"propose_ms", "CPU time of a run over its proposals, reports included"},
              {"content", "digest of the sources of tuner/space, search and simulate; the rows of others are stale"},
              {"recorded", "digest of the file"}}}};
  }

  const Settings& settings_;
  std::vector<ScoredSpace> spaces_;
  ScoreTable table_;
  std::string processor_ = processor_name();
  std::shared_ptr<const search::Hints> hints_;
  std::size_t hints_place_ = 0;
};

/// Scores runs of others: a JSON object a line, {"file", "strategy", "times": [of each evaluation, null for what failed]}. Prints a row for
/// each file and strategy.
void score_traces(const Settings& settings) {
  const auto spaces = read_scored_spaces(recorded_files(settings.files));
  std::map<std::pair<std::string, std::string>, std::vector<simulate::Trace>> runs;
  std::istringstream lines(base::read_file(settings.traces));
  for (std::string line; std::getline(lines, line);) {
    const Json run = parse_json(line);
    simulate::Trace trace;
    for (const Json& time : run.at("times")) trace.push_back(time.is_null() ? std::nullopt : std::optional(time.get<double>()));
    runs[{run.at("file").get<std::string>(), run.at("strategy").get<std::string>()}].push_back(std::move(trace));
  }
  for (const auto& [name, traces] : runs) {
    const auto& [file, strategy] = name;
    const auto space = std::find_if(spaces.begin(), spaces.end(), [&](const auto& one) { return one.name == file; });
    if (space == spaces.end()) {
      throw UsageError(fmt::format("failed scoring {}: no recorded space called '{}' was named", settings.traces.string(), file));
    }
    Json row{{"file", file}, {"strategy", strategy}, {"warm", false}, {"budget", settings.budget}, {"recorded", space->digest}};
    row.update(standing(simulate::SearchScore(space->recorded.costs), traces, settings.budget));
    row["space"] = common_name(static_cast<std::size_t>(space - spaces.begin()), spaces);
    base::write_standard_output(dump_json(row) + "\n");
  }
}

int run(Settings settings) {
  if (settings.files.empty()) settings.files = {fs::path(ATTUNE_BENCH_SOURCES) / "spaces"};
  if (!settings.traces.empty()) {
    score_traces(settings);
    return 0;
  }
  const fs::path output = results_folder(settings.output) / (std::string(kBench) + ".json");
  Scoreboard(settings, output).run();
  base::print("{}\n", output.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{
      "Scores search strategies on recorded spaces, cold and with what other files of their folders tell. Goes on where it stopped: rows that "
      "hold for the same sources, files, runs, budget and seed stay"};
  line.option("files", settings.files, "Recorded spaces, or folders of them (default: bench/spaces of the source tree)");
  line.option("--strategies", settings.strategies, "Default: all that search").separated_by(',');
  line.option("--only", settings.only, "Scores the files whose short names contain one of these; the others still give hints")
      .separated_by(',');
  line.option("--runs", settings.runs, "Of each strategy on each space").with_default().within(1, 1000000);
  line.option("--budget", settings.budget, "Evaluations of a run").with_default();
  line.option("--seed", settings.seed, "Run r, from 0 on, has this seed and r more").with_default();
  line.option("--output", settings.output, "Results folder (default: bench/results of the source tree)");
  line.option("--traces", settings.traces, "Scores the runs in this file instead, and prints rows");
  line.flag("--again", settings.again, "Runs what is there already, too");
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
