// attune simulate: lets search strategies loose on spaces that somebody measured, and scores them beside random search. Without a GPU.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/progress_line.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/search/hints.hpp"
#include "tuner/simulate/simulation.hpp"
#include "tuner/simulate/warm.hpp"

namespace attune::tools {
namespace {

using simulate::RecordedSpace;
using Runs = std::vector<std::vector<space::Ordinal>>;

/// Where the tables tell how near to the optimum a search is.
constexpr std::array<std::uint64_t, 5> kEvaluations = {25, 50, 100, 200, 400};

struct SimulateOptions {
  std::vector<std::string> files;
  std::vector<std::string> strategies;
  std::vector<std::string> warm;
  std::uint64_t budget = 220;
  std::size_t runs = 100;
  std::uint64_t seed = 1;
  bool json = false;
};

struct NamedSpace {
  RecordedSpace recorded;
  bool labelled = false;  ///< one of several in its file
};

std::vector<search::StrategyKind> strategies_of(const SimulateOptions& options) {
  std::vector<search::StrategyKind> kinds;
  for (const std::string& text : options.strategies) {
    kinds.push_back(search::strategy_named(text));
    if (search::needs_winners(kinds.back())) {
      throw UsageError(
          fmt::format("strategy '{}' tries what won before, which a recorded space does not tell; name one that searches", text));
    }
  }
  return kinds;
}

std::vector<NamedSpace> spaces_of(const std::vector<std::string>& files) {
  std::vector<NamedSpace> spaces;
  for (const std::string& file : files) {
    auto found = simulate::read_recorded_spaces(file);
    const bool several = found.size() > 1;
    for (auto& recorded : found) spaces.push_back({std::move(recorded), several});
  }
  return spaces;
}

/// What the warm spaces tell of one that is searched: those of the same parameters, less itself. Nothing where there are none.
std::shared_ptr<const search::Hints> hints_for(const RecordedSpace& target, const std::vector<NamedSpace>& warm) {
  std::vector<search::HintSource> sources;
  for (const auto& source : warm) {
    const bool itself = source.recorded.file == target.file && source.recorded.label == target.label;
    if (!itself && simulate::has_parameters_of(source.recorded, target)) sources.push_back(simulate::hints_for(target, source.recorded));
  }
  if (sources.empty()) {
    throw UsageError(fmt::format("no file of --warm has parameters of the same names as {}{} has, besides itself", target.file,
                                 target.label.empty() ? "" : ", " + target.label));
  }
  return std::make_shared<const search::Hints>(target.space, sources);
}

/// Prints the runs of one strategy on one space, one a line. Written by hand around texts that are made once for each configuration:
/// hundreds of runs propose the same ones.
class RunLines {
 public:
  explicit RunLines(const NamedSpace& space) : space_(space), proposals_(space.recorded.space.size()) {}

  void print(const std::string& strategy, std::uint64_t first_seed, const Runs& runs) {
    for (std::size_t run = 0; run < runs.size(); ++run) {
      std::string line = fmt::format(R"({{"file":{})", quoted(space_.recorded.file));
      if (space_.labelled) line += fmt::format(R"(,"label":{})", quoted(space_.recorded.label));
      line += fmt::format(R"(,"strategy":{},"run":{},"seed":{},"proposals":[)", quoted(strategy), run, first_seed + run);
      for (const space::Ordinal ordinal : runs[run]) line.append(proposal(ordinal)).append(",");
      if (!runs[run].empty()) line.pop_back();
      base::write_standard_output(line + "]}\n");
    }
  }

 private:
  static std::string quoted(const std::string& text) { return json_text(nlohmann::json(text)); }

  const std::string& proposal(space::Ordinal ordinal) {
    std::string& text = proposals_[ordinal];
    if (text.empty()) {
      const auto& cost = space_.recorded.costs[ordinal];
      const auto configuration = base::parse_json(space_.recorded.configuration_text(ordinal));
      text = json_text({{"configuration", configuration}, {"time", cost ? nlohmann::json(*cost) : nlohmann::json()}});
    }
    return text;
  }

  const NamedSpace& space_;
  std::vector<std::string> proposals_;  ///< by ordinal, empty until it is needed
};

/// How a strategy did on a space, or in the mean on several.
struct Standing {
  std::optional<double> score;
  std::vector<double> fractions;  ///< of kEvaluations, as far as the budget goes
};

Standing standing_of(const simulate::SearchScore& scale, const RecordedSpace& recorded, const Runs& runs, std::uint64_t budget) {
  std::vector<simulate::Trace> traces;
  for (const auto& run : runs) traces.push_back(simulate::trace_of(recorded, run));
  Standing standing{scale.score(traces), {}};
  for (const std::uint64_t evaluations : kEvaluations)
    if (evaluations <= budget) standing.fractions.push_back(scale.fraction_of_optimum(traces, evaluations));
  return standing;
}

/// Spaces where there is nothing to be good at have no part in the mean score.
Standing mean_of(const std::vector<Standing>& all) {
  Standing mean{std::nullopt, std::vector<double>(all.front().fractions.size(), 0.0)};
  double sum = 0;
  int scored = 0;
  for (const Standing& one : all) {
    if (one.score) sum += *one.score, ++scored;
    for (std::size_t i = 0; i < mean.fractions.size(); ++i) mean.fractions[i] += one.fractions[i] / static_cast<double>(all.size());
  }
  if (scored > 0) mean.score = sum / scored;
  return mean;
}

std::vector<std::string> cells(const std::string& strategy, const Standing& standing, const std::string& counts, const std::string& file) {
  std::vector<std::string> row = {strategy, standing.score ? fmt::format("{:.3f}", *standing.score) : "-"};
  for (std::size_t i = 0; i < kEvaluations.size(); ++i)
    row.push_back(i < standing.fractions.size() ? fmt::format("{:.3f}", standing.fractions[i]) : "-");
  row.push_back(counts);
  row.push_back(file);
  return row;
}

simulate::SearchScore scale_of(const RecordedSpace& recorded) {
  try {
    return simulate::SearchScore(recorded.costs);
  } catch (const Error& error) {
    throw Error(fmt::format("failed scoring searches of {}{}: {}", recorded.file, recorded.label.empty() ? "" : ", " + recorded.label,
                            error.what()),
                error.exit_code());
  }
}

/// Fills in a table as the runs end.
class Scoreboard {
 public:
  explicit Scoreboard(const std::vector<NamedSpace>& spaces) {
    for (const auto& space : spaces) scales_.push_back(scale_of(space.recorded));
    std::vector<std::string> headers = {"strategy", "score"};
    for (const std::uint64_t evaluations : kEvaluations) headers.push_back(fmt::format("at {}", evaluations));
    headers.insert(headers.end(), {"valid", "space"});
    table_ = std::make_unique<TextTable>(headers);
  }
  void add(const std::string& strategy, std::size_t place, const NamedSpace& space, const Runs& runs, std::uint64_t budget) {
    const auto& recorded = space.recorded;
    standings_.push_back(standing_of(scales_[place], recorded, runs, budget));
    const auto valid =
        recorded.costs.size() - static_cast<std::size_t>(std::count(recorded.costs.begin(), recorded.costs.end(), std::nullopt));
    table_->add(cells(strategy, standings_.back(), fmt::format("{}/{}", valid, recorded.costs.size()),
                      recorded.file + (space.labelled ? " " + recorded.label : "")));
  }
  /// Adds the mean of what was added since the last mean.
  void add_mean(const std::string& strategy) {
    table_->add(cells(strategy, mean_of(standings_), "", fmt::format("mean of {}", standings_.size())));
    standings_.clear();
  }
  [[nodiscard]] std::string text() const { return table_->text(); }

 private:
  std::vector<simulate::SearchScore> scales_;  ///< by space
  std::vector<Standing> standings_;
  std::unique_ptr<TextTable> table_;
};

/// What somebody named would else be read for nothing.
void refuse_useless_warm(const SimulateOptions& options, const std::vector<search::StrategyKind>& kinds) {
  if (options.warm.empty()) return;
  for (const search::StrategyKind kind : kinds) {
    if (!search::expects(kind))
      throw UsageError(
          fmt::format("strategy {} learns nothing from other spaces; leave --warm out, or ask for auto or model", search::name(kind)));
  }
}

int simulate_searches(const SimulateOptions& options) {
  const auto kinds = strategies_of(options);
  refuse_useless_warm(options, kinds);
  const auto spaces = spaces_of(options.files), warm = spaces_of(options.warm);
  std::vector<std::shared_ptr<const search::Hints>> hints(spaces.size());
  for (std::size_t i = 0; i < spaces.size() && !warm.empty(); ++i) hints[i] = hints_for(spaces[i].recorded, warm);
  std::optional<Scoreboard> board;
  if (!options.json) board.emplace(spaces);
  ProgressLine progress(options.json);
  for (const search::StrategyKind kind : kinds) {
    const std::string strategy = search::name(kind);
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      progress.show(fmt::format("{}: space {} of {}, {}", strategy, i + 1, spaces.size(), spaces[i].recorded.file));
      const auto runs =
          simulate::run_searches(spaces[i].recorded, {.kind = kind, .seed = options.seed, .hints = hints[i]}, options.budget, options.runs);
      if (board) board->add(strategy, i, spaces[i], runs, options.budget);
      if (options.json) progress.clear();
      if (options.json) RunLines(spaces[i]).print(strategy, options.seed, runs);
    }
    if (board && spaces.size() > 1) board->add_mean(strategy);
  }
  progress.clear();
  if (board) {
    base::print("{}", base::Lines{board->text()});
    base::print(
        "{} runs each, seeds {} to {}, of at most {} evaluations. Score: 0 is random search, 1 the optimum at once; then the optimum over what was "
        "found.\n",
        options.runs, options.seed, options.seed + (options.runs - 1), options.budget);
  }
  return 0;
}

}  // namespace

void add_simulate_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<SimulateOptions>();
  auto* command = app.add_subcommand("simulate", "Let search strategies search recorded spaces, and score them; no GPU is needed");
  command
      ->add_option("files", options->files, "Recorded spaces: caches of Kernel Tuner, T4 results, recordings of attune; plain, .gz or .zst")
      ->required();
  command->add_option("--strategy", options->strategies, "A strategy that searches; may be repeated")->required()->allow_extra_args(false);
  command->add_option("--budget", options->budget, "Evaluations of a run")->capture_default_str()->check([](const std::string& word) {
    return word == "0" ? "a run needs an evaluation" : base::whole_number_fault(word);
  });
  command->add_option("--runs", options->runs, "Runs of each strategy on each space")->capture_default_str()->check(CLI::Range(1, 1000000));
  command->add_option("--seed", options->seed, "Run r, from 0 on, has this seed and r more")
      ->capture_default_str()
      ->check([](const std::string& word) { return base::whole_number_fault(word); });
  command
      ->add_option(
          "--warm", options->warm,
          "Recorded spaces that the search may learn from first (strategies auto and model); of each space those of the same parameters, less "
          "itself")
      ->check([](const std::string& file) { return file.empty() ? "no file is named" : ""; });
  command->add_flag("--json", options->json, "One JSON object a line on standard output, for each run: what it proposed, in order");
  command->footer("A space is the set of configurations in its file. docs/cli.md says what the score is.");
  command->callback([options, &context] { context.action = [options] { return simulate_searches(*options); }; });
}

}  // namespace attune::tools
