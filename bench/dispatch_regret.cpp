// What dispatch loses between tuned sizes. Size by size, a size's own result is left out of the database, the runtime is asked what it
// would launch, and what that size's own tuning measured says how much slower that is than its best.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "attune/error.hpp"
#include "attune/runtime.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "db/database.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::bench {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::string output;
  std::vector<std::string> databases;  ///< what was tuned, one file or several
  std::string template_name = "reduce";
  std::vector<std::string> arguments = {"--T", "f32", "--op", "sum"};
  std::vector<std::string> sizes, portfolio_sizes;
};

/// Everything that is known of one tuned size.
struct TunedSize {
  db::BestRow best;
  std::map<std::string, double> us;      ///< search medians of what works
  std::map<std::string, double> ratios;  ///< run-off: time over the best's
  bool searched = false;                 ///< not only configurations that had won elsewhere

  /// Time of a configuration over the best's, less 1; nothing when it was not measured here.
  [[nodiscard]] std::optional<double> regret(const std::string& configuration) const {
    if (configuration == best.configuration) return 0.0;
    if (const auto found = ratios.find(configuration); found != ratios.end()) return found->second / ratios.at(best.configuration) - 1;
    const auto mine = us.find(configuration), winner = us.find(best.configuration);
    if (mine == us.end() || winner == us.end()) return std::nullopt;
    return mine->second / winner->second - 1;
  }
};

std::int64_t size_of(const db::BestRow& row) {
  const auto sizes = base::parse_json(row.sizes_json);
  if (sizes.size() != 1) throw UsageError("failed measuring regret: the template must have exactly one size");
  return sizes.begin()->get<std::int64_t>();
}

TunedSize read_size(const db::Database& database, const db::BestRow& row, std::size_t largest_portfolio) {
  TunedSize tuned;
  tuned.best = row;
  const db::Query query{row.template_hash, std::nullopt, row.problem, row.device_key, row.policy};
  database.for_each_record(query, [&](const db::RecordRow& record) {
    if (record.outcome == "ok" && record.median_us > 0) tuned.us[record.configuration] = record.median_us;
  });
  const auto detail = base::parse_json(row.detail_json);
  for (const char* list : {"finalists", "left"}) {
    for (const auto& finalist : detail.at(list)) tuned.ratios[finalist.at("configuration")] = finalist.at("ratio");
  }
  tuned.searched = tuned.us.size() > largest_portfolio;
  return tuned;
}

/// The results of all sizes, the smallest first.
std::vector<TunedSize> read_sizes(const std::vector<fs::path>& paths) {
  std::map<std::string, TunedSize> by_problem;  // a problem of several files counts as the one that measured more of it
  for (const auto& path : paths) {
    const auto database = db::Database::open(path, db::OpenMode::ReadOnly);
    const auto rows = database.best({});
    for (const auto& row : rows) {
      auto size = read_size(database, row, rows.size() + 1);
      auto& known = by_problem[row.problem];
      if (size.us.size() > known.us.size()) known = std::move(size);
    }
  }
  std::vector<TunedSize> sizes;
  for (auto& [problem, size] : by_problem) sizes.push_back(std::move(size));
  std::sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return size_of(a.best) < size_of(b.best); });
  return sizes;
}

/// A database of everything but one size's result; and but the configurations that only its own search found, since nobody would know
/// of them if it had not been tuned.
void write_without(const fs::path& path, const std::vector<TunedSize>& sizes, const TunedSize& without, const spec::DeviceInfo& device) {
  const auto found_elsewhere = [&](const std::string& configuration) {
    return std::any_of(sizes.begin(), sizes.end(), [&](const auto& other) {
      return other.searched && other.best.problem != without.best.problem && other.best.configuration == configuration;
    });
  };
  std::set<std::string> winners;
  for (const auto& size : sizes) winners.insert(size.best.configuration);
  auto database = db::Database::open(path, db::OpenMode::ReadWrite);
  db::Database::Batch batch(database);
  database.put(db::DeviceRow{device.hard_key(), device.hard_json(), base::dump_json(device.to_json())});
  for (const auto& size : sizes) {
    if (size.best.problem == without.best.problem) continue;
    const bool unknown = without.searched && size.best.configuration == without.best.configuration && !found_elsewhere(size.best.configuration);
    if (!unknown) database.put(size.best);
    for (const auto& [configuration, us] : size.us) {
      if (!winners.contains(configuration)) continue;
      db::RecordRow record;
      record.template_hash = size.best.template_hash;
      record.problem = size.best.problem;
      record.device_key = size.best.device_key;
      record.policy = size.best.policy;
      record.configuration = configuration;
      record.outcome = "ok";
      record.stage = "measured";
      record.verified = true;
      record.median_us = record.low_us = record.high_us = us;
      record.samples = 1;
      database.put(record);
    }
  }
  batch.commit();
}

Decision decide_without(const std::vector<TunedSize>& sizes, const TunedSize& without, const Settings& settings, const spec::DeviceInfo& device) {
  const test::TempFolder folder;
  write_without(folder / "without.db", sizes, without, device);
  Options options;
  options.databases = {folder / "without.db"};
  options.policy = without.best.policy;
  Runtime runtime(options);
  const auto choices = spec::problem_from_text(without.best.problem).choices;
  return runtime.kernel(settings.template_name, choices).explain_on(device.name, {size_of(without.best)});
}

/// What the nearest result alone would have cost: the rule that this one is compared with.
std::optional<double> nearest_regret(const std::vector<TunedSize>& sizes, const TunedSize& asked) {
  const TunedSize* nearest = nullptr;
  const auto distance = [&](const TunedSize& size) {
    return std::abs(std::log2(static_cast<double>(size_of(size.best)) / static_cast<double>(size_of(asked.best))));
  };
  for (const auto& size : sizes) {
    if (size.best.problem != asked.best.problem && (nearest == nullptr || distance(size) < distance(*nearest))) nearest = &size;
  }
  return asked.regret(nearest->best.configuration);
}

/// By nearest rank.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values.at(std::max<std::size_t>(rank, 1) - 1);
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// Tunes what the settings name; returns the databases to read.
std::vector<fs::path> tuned_databases(const Settings& settings, const fs::path& scratch) {
  std::vector<fs::path> paths(settings.databases.begin(), settings.databases.end());
  if (paths.empty()) paths.push_back(scratch / "tuned.db");
  const auto tune = [&](const std::vector<std::string>& sizes, const std::string& strategy) {
    if (sizes.empty()) return;
    std::vector<std::string> words{"tune", settings.template_name};
    words.insert(words.end(), settings.arguments.begin(), settings.arguments.end());
    words.emplace_back("--size");
    words.insert(words.end(), sizes.begin(), sizes.end());
    words.insert(words.end(), {"--db", paths.front().string(), "--device", "all", "--strategy", strategy});
    static_cast<void>(run_attune(attune_executable(), words, scratch));
  };
  tune(settings.sizes, "exhaustive");
  tune(settings.portfolio_sizes, "portfolio");
  return paths;
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  const test::TempFolder scratch;
  const auto paths = tuned_databases(settings, scratch.path());
  const auto device = spec::DeviceInfo::from_json(
      base::parse_json(db::Database::open(paths.front(), db::OpenMode::ReadOnly).devices().at(0).info_json));
  const auto sizes = read_sizes(paths);
  if (sizes.size() < 3) throw UsageError("failed measuring regret: fewer than three sizes are tuned");
  const auto kernel = spec::TemplateLibrary().find(settings.template_name);
  const std::string default_name = spec::to_text(kernel, spec::default_configuration(kernel));
  std::vector<Json> rows;
  std::vector<double> regrets, nearest, over_default;
  for (const auto& size : sizes) {
    const auto decision = decide_without(sizes, size, settings, device);
    const auto regret = size.regret(decision.configuration);
    const auto of_nearest = nearest_regret(sizes, size);
    const auto of_default = size.regret(default_name);
    if (regret) regrets.push_back(*regret);
    if (of_nearest) nearest.push_back(*of_nearest);
    if (regret && of_default) over_default.push_back((1 + *regret) / (1 + *of_default) - 1);
    rows.push_back({{"n", size_of(size.best)}, {"measured_at", size.best.recorded_at}, {"searched", size.searched}, {"best_us", size.best.median_us},
                    {"best", parse_json(size.best.configuration)}, {"tier", name(decision.tier)}, {"chosen", parse_json(decision.configuration)},
                    {"donor", parse_json(decision.donor_problem)}, {"regret", optional_json(regret)},
                    {"nearest_regret", optional_json(of_nearest)}, {"default_regret", optional_json(of_default)}});
  }
  const auto path = write_results(
      folder, "dispatch_regret", device,
      {{"template", settings.template_name}, {"policy", sizes.front().best.policy}, {"points", regrets.size()}, {"unmeasured", sizes.size() - regrets.size()},
       {"searched", std::count_if(sizes.begin(), sizes.end(), [](const auto& size) { return size.searched; })},
       {"meaning", "regret: time of what dispatch chooses without a size's own result over the time of that size's best, less 1: paired run-off where "
                   "both took part, else medians of its search; configurations that only this size's search found are left out as well"},
       {"p50", quantile(regrets, 0.50)}, {"p95", quantile(regrets, 0.95)}, {"max", quantile(regrets, 1)},
       {"nearest_p50", quantile(nearest, 0.50)}, {"nearest_p95", quantile(nearest, 0.95)}, {"nearest_max", quantile(nearest, 1)},
       {"worst_over_default", quantile(over_default, 1)}},
      rows);
  fmt::print(stderr, "{} points: p50 {:.2f} %, p95 {:.2f} %, max {:.2f} % (the nearest alone: {:.2f}, {:.2f}, {:.2f} %); written to {}\n", regrets.size(),
             100 * quantile(regrets, 0.50), 100 * quantile(regrets, 0.95), 100 * quantile(regrets, 1), 100 * quantile(nearest, 0.50),
             100 * quantile(nearest, 0.95), 100 * quantile(nearest, 1), path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Measures what dispatch loses between tuned sizes and writes <output>/<device>/dispatch_regret.json"};
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--database", settings.databases, "Databases tuned already; the first is tuned into (default: a scratch file)");
  line.option("--template", settings.template_name, "Template with one size").with_default();
  line.option("--size", settings.sizes, "Sizes to search in full first");
  line.option("--portfolio-size", settings.portfolio_sizes, "Sizes to tune among the winners of the others");
  line.option("arguments", settings.arguments, "The tune command's types and choices, after --");
  if (const auto ended = line.parse(argc, argv)) return *ended;
  try {
    return attune::bench::run(settings);
  } catch (const attune::Error& error) {
    attune::base::tell("dispatch_regret: {}\n", attune::base::Lines{error.what()});
    return static_cast<int>(error.exit_code());
  }
}
