// What dispatch is worth at problems that nobody tuned: drawn at random, and beside each other, sample by sample in random order, what the
// databases choose, the template's default, the best that a tuning run finds at exactly that problem, and CUB.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include "attune/error.hpp"
#include "attune/runtime.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/comparison_options.hpp"
#include "bench/support/contender.hpp"
#include "bench/support/json.hpp"
#include "bench/support/random_problems.hpp"
#include "bench/support/random_task.hpp"
#include "bench/support/result_file.hpp"
#include "db/database.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/median.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::bench {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::vector<fs::path> databases;
  fs::path output;
  std::uint64_t seed = 1;
  int problems = 300;
  int device = 0;
  int rounds = 15;
  int epochs = 3;
  std::string only;  ///< part of the families' names
  bool empty = false;
  bool no_best = false;
};

struct Bench {
  const spec::DeviceInfo& device;
  const Sampler& sampler;
  const Settings& settings;
  TaskData data;
  std::mt19937 random{1};

  [[nodiscard]] const gpu::Stream& stream() const { return sampler.stream(); }
};

/// A way to launch: what one set of databases chooses.
struct Chosen {
  Plan plan;
  gpu::Buffer scratch;
  Contender contender;
};

/// Requires: the runtime stays while the result is used.
std::unique_ptr<Chosen> choose(Bench& bench, Runtime& runtime, const RandomProblem& problem, const Task& task, const std::string& name) {
  const auto sizes = problem.sizes();
  const Kernel kernel = runtime.kernel(problem.template_name(), problem.choices());
  const Plan plan = sizes.size() == 1 ? kernel.plan({sizes[0]}) : kernel.plan({sizes[0], sizes[1]});
  auto chosen = std::make_unique<Chosen>(Chosen{plan, zeroed(plan.workspace_bytes(), bench.stream()),
                                                Contender{name, gpu::Buffer(task.output_bytes()), std::nullopt, {}, {}}});
  chosen->contender.batch.emplace(
      bench.sampler, measure::CachePolicy::Cold, task.windows(), [&task, &bench, raw = chosen.get()](std::int64_t window) {
        const auto arguments = task.arguments(window, raw->contender.out());
        raw->plan.launch(arguments.data(), arguments.size(), reinterpret_cast<void*>(raw->scratch.address()), bench.stream().get());
      });
  return chosen;
}

/// The databases that answer, in the order in which they are told.
struct Databases {
  std::vector<fs::path> asked, none, best;  ///< `best` empty: nothing was tuned
};

Options options_of(const std::vector<fs::path>& databases) {
  Options options;
  options.databases = databases;
  return options;
}

/// One epoch's figures: everything loaded anew, so that where code and data happen to lie is part of the spread.
struct Epoch {
  std::map<std::string, double> us;      ///< by contender
  std::map<std::string, double> ratios;  ///< of its time over that of what was dispatched
  std::map<std::string, double> spreads;
  Decision dispatched, best;
};

Epoch measure_epoch(Bench& bench, const RandomProblem& problem, const Task& task, const Databases& databases) {
  Runtime asked(options_of(databases.asked)), none(options_of(databases.none));
  std::optional<Runtime> tuned;
  const auto dispatched = choose(bench, asked, problem, task, "dispatched");
  const std::string configuration = dispatched->plan.decision().configuration;
  std::vector<std::unique_ptr<Chosen>> others;
  // Equal configurations are equal launches: nothing to compare.
  const auto add = [&](Runtime& runtime, const char* name) {
    auto chosen = choose(bench, runtime, problem, task, name);
    const Decision decision = chosen->plan.decision();
    if (decision.configuration != configuration) others.push_back(std::move(chosen));
    return decision;
  };
  Epoch epoch;
  epoch.dispatched = dispatched->plan.decision();
  add(none, "default");
  if (!databases.best.empty()) {
    tuned.emplace(options_of(databases.best));
    epoch.best = add(*tuned, "best");
  }
  Contender cub{"CUB", gpu::Buffer(task.output_bytes()), std::nullopt, {}, {}};
  std::vector<Contender*> contenders{&dispatched->contender};
  for (const auto& other : others) contenders.push_back(&other->contender);
  if (task.has_cub()) {
    cub.batch.emplace(bench.sampler, measure::CachePolicy::Cold, task.windows(),
                      [&](std::int64_t window) { task.enqueue_cub(window, cub.out()); });
    contenders.push_back(&cub);
  }
  measure_rounds(contenders, bench.settings.rounds, bench.random);
  const auto ours = results_of(dispatched->contender, bench.stream());
  for (const Contender* contender : contenders) {
    const auto ratio = ratio_to(dispatched->contender, *contender);
    epoch.us[contender->name] = measure::summarise({contender->samples_us}, contender->calls()).median_us;
    epoch.ratios[contender->name] = ratio.median_ratio;
    epoch.spreads[contender->name] = relative_half(ratio.low, ratio.high, ratio.median_ratio);
    if (contender != contenders.front()) task.check(ours, results_of(*contender, bench.stream()), contender->name);
  }
  for (const char* same : {"default", "best"}) {
    if (epoch.us.contains(same) || (std::string(same) == "best" && databases.best.empty())) continue;
    epoch.us[same] = epoch.us.at("dispatched");
    epoch.ratios[same] = 1;
  }
  return epoch;
}

Json row_of(const RandomProblem& problem, const std::vector<Epoch>& epochs) {
  const auto over_epochs = [&](auto member, const char* name) -> Json {
    std::vector<double> values;
    for (const Epoch& epoch : epochs)
      if (const auto found = (epoch.*member).find(name); found != (epoch.*member).end()) values.push_back(found->second);
    return values.empty() ? Json(nullptr) : Json(base::median(std::move(values)));
  };
  Json row{{"problem", problem.to_json()}, {"family", problem.family()}, {"template", problem.template_name()}};
  if (const auto* const histogram = std::get_if<HistogramProblem>(&problem.what)) row["data"] = name(histogram->skew);
  row["tier"] = name(epochs.front().dispatched.tier);
  for (const char* name : {"dispatched", "default", "best"}) row[std::string(name) + "_us"] = over_epochs(&Epoch::us, name);
  row["cub_us"] = over_epochs(&Epoch::us, "CUB");
  for (const char* name : {"default", "best"}) row[std::string(name) + "_ratio"] = over_epochs(&Epoch::ratios, name);
  row["cub_ratio"] = over_epochs(&Epoch::ratios, "CUB");
  double spread = 0;
  for (const Epoch& epoch : epochs)
    for (const auto& [name, value] : epoch.spreads) spread = std::max(spread, value);
  row["spread"] = spread;
  row["configuration"] = parse_json(epochs.front().dispatched.configuration);
  if (!epochs.front().best.configuration.empty()) row["best_configuration"] = parse_json(epochs.front().best.configuration);
  row["forecast"] = epochs.front().dispatched.forecast;
  return row;
}

/// The best that a run over the winners of the families finds at exactly these problems, in a database of its own.
void tune(const Settings& settings, const std::vector<RandomProblem>& problems, const fs::path& folder, const fs::path& database) {
  std::map<std::string, std::string> lines;  // by template
  for (const RandomProblem& problem : problems) lines[problem.template_name()] += dump_json(problem.to_json()) + "\n";
  for (const auto& [name, text] : lines) {
    const fs::path file = folder / (name + ".jsonl");
    std::ofstream(file) << text;
    std::vector<std::string> words{"tune",      name,   "--problems",      file.string(), "--strategy",
                                   "portfolio", "--db", database.string(), "--device",    std::to_string(settings.device)};
    for (const auto& layer : settings.databases) words.insert(words.end(), {"--try", layer.string()});
    const auto run = run_attune(attune_executable(), words, folder);
    fmt::print(stderr, "tuned {} in {:.0f} s\n", name, run.wall_s);
  }
}

void tell(const Json& row) {
  const auto ratio = [&](const char* name) {
    return row.at(name).is_null() ? std::string("-") : fmt::format("{:.3f}", row.at(name).get<double>());
  };
  if (row.contains("error")) {
    fmt::print(stderr, "{}: {}\n", dump_json(row.at("problem")), row.at("error").get<std::string>());
    return;
  }
  fmt::print(stderr, "{} {}: {:.3f} us, {}; over it: best {}, default {}, CUB {} (spread {:.1f} %)\n", row.at("family").get<std::string>(),
             dump_json(row.at("problem")), row.at("dispatched_us").get<double>(), row.at("tier").get<std::string>(), ratio("best_ratio"),
             ratio("default_ratio"), ratio("cub_ratio"), 100 * row.at("spread").get<double>());
}

Json measure_problem(Bench& bench, const RandomProblem& problem, const Databases& databases) {
  try {
    const auto task = make_task(bench.data, problem);
    if (task->windows() == 0) throw EnvironmentError("not measured: the input does not fit the data");
    std::vector<Epoch> epochs;
    for (int i = 0; i < bench.settings.epochs; ++i) epochs.push_back(measure_epoch(bench, problem, *task, databases));
    return row_of(problem, epochs);
  } catch (const CudaError&) {
    throw;  // the context is lost: later rows would only repeat it
  } catch (const Error& error) {
    return {{"problem", problem.to_json()}, {"family", problem.family()}, {"error", error.what()}};
  }
}

/// Throws: UsageError; DatabaseError when one cannot be read.
void check_databases(const Settings& settings) {
  if (settings.databases.empty() != settings.empty)
    throw UsageError("failed choosing databases: either name those that dispatch asks with --db, or say --empty");
  for (const auto& path : settings.databases) static_cast<void>(db::Database::open(path, db::OpenMode::ReadOnly));
}

/// Throws: UsageError when none is left.
std::vector<RandomProblem> problems_of(const Settings& settings) {
  auto problems = draw_problems(settings.seed, settings.problems);
  std::erase_if(problems, [&](const auto& problem) { return problem.family().find(settings.only) == std::string::npos; });
  if (problems.empty())
    throw UsageError(fmt::format("failed choosing problems: none of the drawn ones is of a family with \"{}\" in its name", settings.only));
  return problems;
}

/// What is published is all problems, compared with all that there is.
bool is_whole(const Settings& settings) { return settings.only.empty() && !settings.no_best && settings.problems == Settings().problems; }

int run(const Settings& settings) {
  if (!is_whole(settings) && settings.output.empty()) {
    throw UsageError(
        "failed choosing where results go: those of a part (--problems, --only, --no-best) would take the place of the whole run's; name another folder with --output");
  }
  const auto folder = results_folder(settings.output);  // before minutes of measuring
  const bool tuning = !settings.empty && !settings.no_best;
  check_databases(settings);
  const auto problems = problems_of(settings);
  const test::TempFolder scratch;
  Databases databases{settings.databases, {scratch / "none.db"}, {}};
  static_cast<void>(db::Database::open(databases.none.front(), db::OpenMode::ReadWrite));
  if (settings.empty) databases.asked = databases.none;
  if (tuning) {
    databases.best = {scratch / "best.db"};
    tune(settings, problems, scratch.path(), databases.best.front());
  }
  const auto device = gpu::read_device(settings.device);
  const gpu::Context context(settings.device);
  const gpu::Stream stream;
  const Sampler sampler(stream, device);
  WindowPool pool(stream);
  Bench bench{device, sampler, settings, {pool, stream, std::nullopt}, std::mt19937{1}};
  std::vector<Json> rows;
  for (const RandomProblem& problem : problems) {
    rows.push_back(measure_problem(bench, problem, databases));
    tell(rows.back());
  }
  const Json fields{
      {"seed", settings.seed},
      {"peer_version", "CUB " + cub_version()},
      {"empty", settings.empty},
      {"only", settings.only},
      {"drawn", settings.problems},
      {"rounds", settings.rounds},
      {"epochs", settings.epochs},
      {"ratio_is",
       "its time over that of what was dispatched: the median of paired rounds, and of epochs, each of which loads everything anew"}};
  const auto path =
      write_results(folder, fmt::format("dispatch_random_{}{}", settings.empty ? "empty_" : "", settings.seed), device, fields, rows);
  fmt::print(stderr, "written to {}\n", path.string());
  return exit_code_of(rows);
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{
      "Draws problems that nobody tuned, and compares what is dispatched with the default, with their own best and with CUB; writes <output>/<device>/dispatch_random_<seed>.json"};
  line.option("--seed", settings.seed, "Of the problems, for example the date as YYYYMMDD").with_default();
  line.option("--problems", settings.problems, "How many").within(1, 100000).with_default();
  line.option("--only", settings.only, "Only families with this in their name, e.g. \"reduce f64\"");
  line.option("--db", settings.databases, "Tuning database layers in order");
  line.flag("--empty", settings.empty, "Without any database: the defaults alone");
  line.flag("--no-best", settings.no_best, "Without tuning the problems for comparison");
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--device", settings.device, "Ordinal of the device").with_default();
  line.option("--rounds", settings.rounds, "Interleaved samples of each in an epoch").within(1, 10001).with_default();
  line.option("--epochs", settings.epochs, "How often everything is loaded and measured anew").within(1, 1001).with_default();
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
