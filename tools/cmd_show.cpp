// attune show: what the database holds of a template.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/commands.hpp"
#include "tools/failed_records.hpp"
#include "tools/output.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/measure/measurement.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

struct ShowOptions {
  std::string template_name;
  std::string database;
  std::string policy;
  std::string configuration;
  bool failed = false;
  bool log = false;
  bool all = false;  ///< results of older versions of a template too, where there is a newer one
  bool json_output = false;
};

json to_json(const db::BestRow& row) {
  return {{"template", row.template_name},
          {"template_hash", row.template_hash},
          {"problem", base::parse_json(row.problem)},
          {"device", row.device_key},
          {"policy", row.policy},
          {"configuration", base::parse_json(row.configuration)},
          {"median_us", row.median_us},
          {"default_us", row.default_us},
          {"tie", row.tie},
          {"verified", row.objective != db::kUnverifiedTime},
          {"driver", row.driver},
          {"nvrtc", row.nvrtc},
          {"recorded_at", row.recorded_at}};
}

db::Query query_of(const ShowOptions& options) {
  db::Query query;
  if (!options.template_name.empty()) query.template_name = options.template_name;
  if (!options.policy.empty()) query.policy = options.policy;
  return query;
}

/// A database keeps what won for every version of a template. For each row whether a newer one is there of the same problem, device and
/// policy.
std::vector<bool> superseded_of(const std::vector<db::BestRow>& rows) {
  const auto name_of = [](const db::BestRow& row) {
    return std::tie(row.template_name, row.problem, row.device_key, row.policy, row.objective);
  };
  std::map<decltype(name_of(rows.front())), const std::string*> newest;
  for (const auto& row : rows) {
    const auto [found, is_first] = newest.try_emplace(name_of(row), &row.recorded_at);
    if (!is_first && *found->second < row.recorded_at) found->second = &row.recorded_at;
  }
  std::vector<bool> superseded;
  for (const auto& row : rows) superseded.push_back(row.recorded_at < *newest.at(name_of(row)));
  return superseded;
}

/// The newest measured ceiling of a device in the database; 0 when none was measured.
double ceiling_of(const db::Database& database, const db::Query& query) {
  double ceiling = 0;
  for (const auto& session : database.sessions(query)) {
    if (session.summary_json.empty()) continue;
    ceiling = std::max(ceiling, base::member_or(base::parse_json(session.summary_json), "read_ceiling_bytes_per_s", 0.0));
  }
  return ceiling;
}

void show_best(const db::Database& database, const ShowOptions& options) {
  const auto rows = database.best(query_of(options));
  const auto superseded = superseded_of(rows);
  if (options.json_output) {
    json out = json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out.push_back(to_json(rows[i]));
      add_metrics(out.back(), rows[i]);
      out.back()["superseded"] = static_cast<bool>(superseded[i]);
    }
    print_json(out, 1);
    return;
  }
  if (rows.empty()) {
    base::print("The database holds no best configuration{}; attune tune makes one.\n",
                options.template_name.empty() ? "" : " of " + options.template_name);
    return;
  }
  std::map<std::string, std::vector<db::BestRow>> by_device;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (superseded[i] && !options.all)
      ++left_out;
    else
      by_device[rows[i].device_key].push_back(rows[i]);
  }
  const auto devices = database.devices();
  for (const auto& [key, of_device] : by_device) {
    const auto found =
        std::find_if(devices.begin(), devices.end(), [&wanted = key](const auto& device) { return device.hard_key == wanted; });
    const json info = found == devices.end() ? json::object() : base::parse_json(found->info_json);
    base::print("{} ({}, driver {}, key {})\n", base::member_or(info, "name", "unknown device"), base::member_or(info, "architecture", "?"),
                base::member_or(info, "driver", "?"), key.substr(0, 12));
    db::Query query = query_of(options);
    query.device_key = key;
    base::print("{}\n", base::Lines{best_table(of_device, {ceiling_of(database, query), base::peak_operations_per_s(info)})});
  }
  if (left_out > 0) base::print("Not shown: {} older results, of another version of the template; --all shows them.\n", left_out);
}

int show(const ShowOptions& options) {
  if (!options.policy.empty()) static_cast<void>(measure::policy_from_text(options.policy));
  const auto path = database_path(options.database);
  const auto database = db::Database::open(path, db::OpenMode::ReadOnly);
  print_notices(database);
  if (options.failed) {
    FailedOptions failed{query_of(options), std::nullopt, options.log, options.json_output};
    if (!options.configuration.empty()) failed.configuration = options.configuration;
    show_failed(database, failed);
  } else {
    show_best(database, options);
  }
  print_damaged(database, path);
  return 0;
}

}  // namespace

void add_show_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ShowOptions>();
  auto* command = app.add_subcommand("show", "Print the best configurations (or the failures) the database holds");
  command->add_option("template", options->template_name, "Only this template");
  command->add_option("--db", options->database, "Database file");
  command->add_option("--policy", options->policy, "Only this policy");
  auto* failed = command->add_flag("--failed", options->failed, "List configurations that failed, with the reason");
  command->add_flag("--log", options->log, "With the whole log and the exact source that was compiled")->needs(failed);
  command->add_option("--configuration", options->configuration, "Only configurations with these values: \"block_size=64 items=2\"")
      ->needs(failed);
  command->add_flag("--all", options->all, "Also results of another version of the template that have newer ones; JSON has all")
      ->excludes(failed);
  command->add_flag("--json", options->json_output, "JSON on standard output");
  command->callback([options, &context] { context.action = [options] { return show(*options); }; });
}

}  // namespace attune::tools
