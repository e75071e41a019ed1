// Whether tuning repeats: one tuning run many times, each with an empty database and an empty cache, and the winners compared.
// At the end every configuration that any run named is run off against all others in one process.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "attune/error.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/result_file.hpp"
#include "db/database.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/session/live_backend.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Settings {
  std::string output;
  std::string template_name = "reduce";
  std::vector<std::string> arguments = {"--T", "f32", "--op", "sum", "--size", "2^22"};
  int runs = 20;
};

/// What one run decided.
struct Decision {
  std::string winner;
  std::vector<std::string> tie_set;  ///< the winner among them
  double seconds = 0;
  double best_us = 0;
};

Decision decide_once(const Settings& settings, const std::filesystem::path& executable, const std::filesystem::path& scratch, int number) {
  const auto path = scratch / fmt::format("{}.db", number);
  std::vector<std::string> words{"tune", settings.template_name};
  words.insert(words.end(), settings.arguments.begin(), settings.arguments.end());
  words.insert(words.end(), {"--db", path.string()});
  Decision decision;
  decision.seconds = run_attune(executable, words, scratch).wall_s;
  const auto rows = db::Database::open(path, db::OpenMode::ReadOnly).best({});
  if (rows.size() != 1) throw UsageError("failed repeating a run: give arguments of exactly one problem");
  decision.winner = rows.front().configuration;
  decision.best_us = rows.front().median_us;
  for (const auto& finalist : nlohmann::json::parse(rows.front().detail_json).at("finalists")) {
    if (finalist.at("tied").get<bool>()) decision.tie_set.push_back(finalist.at("configuration"));
  }
  return decision;
}

std::string modal_winner(const std::vector<Decision>& decisions) {
  std::map<std::string, int> wins;
  for (const auto& decision : decisions) ++wins[decision.winner];
  return std::max_element(wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

/// Times of all named configurations from one run-off that nobody leaves. Units: microseconds per call.
std::map<std::string, double> final_paired_run(const Settings& settings, const std::filesystem::path& executable,
                                               const spec::Problem& problem, const std::set<std::string>& named) {
  const auto kernel = spec::TemplateLibrary().find(settings.template_name);
  measure::GpuExecutor::Options gpu;
  gpu.worker = executable;
  session::LiveBackend::Options options;
  options.worker = executable;
  session::LiveBackend backend(options, std::make_unique<measure::GpuExecutor>(gpu));
  backend.prepare(kernel, problem);
  std::vector<spec::Configuration> configurations;
  for (const auto& text : named) configurations.push_back(spec::configuration_from_text(kernel, text));
  session::Race::Options race;
  race.fewest = race.most = 31;
  race.hopeless = 1e9;
  const auto samples = backend.run_off(configurations, race, 7);
  if (!samples || !samples->failed.empty()) throw Error("failed running off the winners: one of them does not work any more");
  std::map<std::string, double> median_us;
  const auto group = static_cast<std::size_t>(samples->rounds_per_epoch);
  for (std::size_t i = 0; i < samples->configurations.size(); ++i) {
    std::vector<double> column;
    for (const auto& round : samples->rounds_us) column.push_back(round[i]);
    std::vector<double> epochs;
    for (std::size_t first = 0; first + group <= column.size(); first += group) {
      std::vector<double> part(column.begin() + static_cast<std::ptrdiff_t>(first), column.begin() + static_cast<std::ptrdiff_t>(first + group));
      std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(group / 2), part.end());
      epochs.push_back(part[group / 2]);
    }
    std::nth_element(epochs.begin(), epochs.begin() + static_cast<std::ptrdiff_t>(epochs.size() / 2), epochs.end());
    median_us[samples->configurations[i]] = epochs[epochs.size() / 2];
  }
  return median_us;
}

Json row_of(const Decision& decision, const std::string& modal, const std::map<std::string, double>& paired_us) {
  double fastest_us = 0, slowest_us = 0;
  for (const auto& member : decision.tie_set) {
    const double us = paired_us.at(member);
    fastest_us = fastest_us == 0 ? us : std::min(fastest_us, us);
    slowest_us = std::max(slowest_us, us);
  }
  const bool agrees = decision.winner == modal || std::find(decision.tie_set.begin(), decision.tie_set.end(), modal) != decision.tie_set.end();
  Json ties = Json::array();
  for (const auto& member : decision.tie_set) ties.push_back(Json::parse(member));
  return {{"winner", Json::parse(decision.winner)}, {"tie_set", ties}, {"agrees", agrees}, {"is_modal", decision.winner == modal},
          {"best_us", decision.best_us}, {"tie_set_spread", slowest_us / fastest_us}, {"command_s", decision.seconds}};
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  const auto device = gpu::read_device(0);
  const auto executable = attune_executable();
  const ScratchFolder scratch;
  std::vector<Decision> decisions;
  std::set<std::string> named;
  for (int i = 0; i < settings.runs; ++i) {
    decisions.push_back(decide_once(settings, executable, scratch.path(), i));
    const auto& decision = decisions.back();
    named.insert(decision.tie_set.begin(), decision.tie_set.end());
    named.insert(decision.winner);
    fmt::print(stderr, "run {}: {} ({:.3f} us, {} tied, {:.1f} s)\n", i + 1, decision.winner, decision.best_us, decision.tie_set.size(),
               decision.seconds);
  }
  const auto problem = db::Database::open(scratch.path() / "0.db", db::OpenMode::ReadOnly).best({}).front().problem;
  const auto paired_us = final_paired_run(settings, executable, spec::problem_from_text(problem), named);
  const std::string modal = modal_winner(decisions);
  std::vector<Json> rows;
  int agreeing = 0;
  for (const auto& decision : decisions) {
    rows.push_back(row_of(decision, modal, paired_us));
    agreeing += rows.back().at("agrees").get<bool>() ? 1 : 0;
  }
  Json paired = Json::object();
  for (const auto& [configuration, us] : paired_us) paired[configuration] = us;
  const auto path = write_results(folder, "winner_repeat", device,
                                  {{"template", settings.template_name}, {"problem", Json::parse(problem)}, {"policy", "cold/graph"},
                                   {"runs", settings.runs}, {"agreeing", agreeing}, {"modal_winner", Json::parse(modal)},
                                   {"paired_us", paired}},
                                  rows);
  fmt::print(stderr, "{} of {} runs agree; written to {}\n", agreeing, settings.runs, path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::bench::Settings settings;
  CLI::App app{"Repeats one tuning run and writes <output>/<device>/winner_repeat.json"};
  app.add_option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  app.add_option("--template", settings.template_name, "Template to tune")->capture_default_str();
  app.add_option("--runs", settings.runs, "Repetitions")->capture_default_str()->check(CLI::Range(2, 1000));
  app.add_option("arguments", settings.arguments, "The tune command's further words, after --");
  CLI11_PARSE(app, argc, argv);
  try {
    return attune::bench::run(settings);
  } catch (const attune::Error& error) {
    fmt::print(stderr, "winner_repeat: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  }
}
