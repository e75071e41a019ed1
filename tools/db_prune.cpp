#include "tools/db_prune.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/amounts.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/session/tune/session_log.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct PruneOptions {
  std::string database;
  std::optional<std::string> older_than, to_size;  ///< an empty one is malformed, not absent: a script's variable may be unset
  std::vector<std::string> templates, devices, template_folders;
  bool superseded = false;
  bool yes = false;
  bool vacuum = false;
  bool json_output = false;
};

/// What rows are called: they name versions and devices by hashes.
struct KnownNames {
  std::map<std::string, std::string> templates;  ///< name, by content hash
  std::map<std::string, std::string> devices;    ///< name, by key
};

KnownNames names_in(const db::Database& database) {
  KnownNames names;
  for (const auto& row : database.templates()) names.templates.emplace(row.hash, row.name);
  // A template's own row may be damaged.
  database.for_each_best([&](const db::BestRow& row) { names.templates.emplace(row.template_hash, row.template_name); });
  for (const auto& row : database.devices()) {
    const json info = base::try_parse_json(row.info_json);
    names.devices.emplace(row.hard_key, info.is_object() ? base::member_or(info, "name", "unnamed") : "unnamed");
  }
  return names;
}

/// Throws: UsageError listing what there is: a name of nothing is a mistake, not a database without anything to remove.
std::set<std::string> hashes_of(const std::vector<std::string>& asked, const KnownNames& names) {
  std::set<std::string> hashes, known;
  for (const auto& [hash, name] : names.templates) known.insert(name);
  for (const auto& wanted : asked) {
    if (!known.contains(wanted)) {
      const std::string has = known.empty() ? "has none at all" : fmt::format("has {}", fmt::join(known, ", "));
      throw UsageError(fmt::format("failed pruning: the database has no template \"{}\"; it {}", wanted, has));
    }
    for (const auto& [hash, name] : names.templates) {
      if (name == wanted) hashes.insert(hash);
    }
  }
  return hashes;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// By key, the beginning of one, or a part of the name, as `attune report --device`. Throws: UsageError listing what there is.
std::set<std::string> device_keys_of(const std::vector<std::string>& asked, const KnownNames& names) {
  std::set<std::string> keys;
  for (const auto& wanted : asked) {
    const std::size_t before = keys.size();
    bool found = false;
    std::vector<std::string> known;
    for (const auto& [key, name] : names.devices) {
      known.push_back(fmt::format("{} ({})", name, key));
      if (wanted.empty() || (!key.starts_with(wanted) && lower_case(name).find(lower_case(wanted)) == std::string::npos)) continue;
      keys.insert(key);
      found = true;
    }
    if (found || keys.size() > before) continue;
    throw UsageError(fmt::format("failed pruning: no stored device has the key or name '{}'; stored: {}", wanted,
                                 known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
  return keys;
}

/// Versions of templates that are found here with another content. Of a template that is not found nothing is known: somebody may have
/// its folder, and it is named.
std::set<std::string> superseded_hashes(const PruneOptions& options, const KnownNames& names) {
  const spec::TemplateLibrary library({options.template_folders.begin(), options.template_folders.end()});
  const auto found = library.names();
  std::map<std::string, std::string> present;  // content hash by name; empty: not known
  std::set<std::string> hashes, unknown;
  for (const auto& [hash, name] : names.templates) {
    if (!present.contains(name)) {
      std::string now;
      try {
        if (std::find(found.begin(), found.end(), name) != found.end()) now = library.find(name).content_hash;
      } catch (const Error&) {
        // One that cannot be read is as one that is not found: its rows stay.
      }
      present.emplace(name, now);
    }
    if (present.at(name).empty())
      unknown.insert(name);
    else if (present.at(name) != hash)
      hashes.insert(hash);
  }
  if (!unknown.empty())
    base::tell_message(fmt::format("not found here, so their results stay: {}; name the folders of these templates with --template-folder",
                                   fmt::join(unknown, ", ")));
  return hashes;
}

db::PruneRequest request_of(const PruneOptions& options, const db::Database& database, const KnownNames& names) {
  db::PruneRequest request;
  if (options.older_than)
    request.recorded_before = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now() -
                                                                                      parse_age(*options.older_than, "--older-than"));
  if (options.to_size) request.to_bytes = parse_bytes(*options.to_size, "--to-size");
  if (!options.templates.empty()) request.template_hashes = hashes_of(options.templates, names);
  if (!options.devices.empty()) request.device_keys = device_keys_of(options.devices, names);
  if (options.superseded) {
    auto hashes = superseded_hashes(options, names);
    if (request.template_hashes) std::erase_if(hashes, [&](const auto& hash) { return !request.template_hashes->contains(hash); });
    request.template_hashes = std::move(hashes);
  }
  for (const auto& session : database.sessions({})) {
    if (session.state == "running" && !session::owner_lives(session)) request.dead_sessions.insert(session.key);
  }
  return request;
}

json to_json(const db::PruneGroup& group) {
  return {{"problems", group.problems}, {"records", group.records}, {"best", group.best},
          {"sessions", group.sessions}, {"cubins", group.cubins},   {"bytes", group.bytes}};
}

std::string name_of(const std::map<std::string, std::string>& names, const std::string& key) {
  const auto found = names.find(key);
  return found == names.end() ? "?" : found->second;
}

json to_json(const db::PruneReport& report, const KnownNames& names) {
  json groups = json::array();
  for (const auto& group : report.groups) {
    json one = to_json(group);
    one["template"] = name_of(names.templates, group.template_hash);
    one["template_hash"] = group.template_hash;
    one["device"] = name_of(names.devices, group.device_key);
    one["device_key"] = group.device_key;
    groups.push_back(std::move(one));
  }
  json total = to_json(report.total());
  total["cubins"] = report.total().cubins + report.loose_cubins;
  total["bytes"] = report.bytes_removed;
  total["templates"] = report.templates;
  total["template_bytes"] = report.template_bytes;
  total["devices"] = report.devices;
  return {{"groups", std::move(groups)},         {"total", std::move(total)},
          {"loose_cubins", report.loose_cubins}, {"problems_in_use", report.problems_in_use},
          {"others_write", report.others_write}, {"bytes_of_rows", report.bytes_of_rows},
          {"least_bytes", report.least_bytes},   {"goal_missed", report.goal_missed}};
}

void print_report(const db::PruneReport& report, const KnownNames& names) {
  if (!report.groups.empty()) {
    TextTable table({"template", "version", "device", "problems", "records", "best", "sessions", "cubins", "about"});
    for (const auto& group : report.groups) {
      table.add({base::escape_line(name_of(names.templates, group.template_hash)), base::escape_line(group.template_hash.substr(0, 12)),
                 base::escape_line(fmt::format("{} ({})", name_of(names.devices, group.device_key), group.device_key.substr(0, 12))),
                 std::to_string(group.problems), std::to_string(group.records), std::to_string(group.best), std::to_string(group.sessions),
                 std::to_string(group.cubins), bytes_text(group.bytes)});
    }
    base::print("{}", base::Lines{table.text()});
  }
  if (report.loose_cubins > 0)
    base::print("and {} cubins that no result names, about {}\n", report.loose_cubins, bytes_text(report.loose_cubin_bytes));
  if (report.problems_in_use > 0) base::print("Left alone, because a run is tuning them: {} problems.\n", report.problems_in_use);
  if (report.others_write)
    base::print("Another process has the database open: templates and devices that nothing names stay until later.\n");
}

/// Of a size that is not reached with all that may go. The command goes on all the same: that is as near as it can come.
void print_missed_goal(const std::string& goal, const db::PruneReport& report) {
  const std::uint64_t stays = std::max(report.least_bytes, report.bytes_of_rows - std::min(report.bytes_of_rows, report.bytes_removed));
  base::print("--to-size {} is not reached: all that may go is named here, and about {} stay; a database without any row takes {}\n", goal,
              bytes_text(stays), bytes_text(report.least_bytes));
}

std::string counts_text(const db::PruneReport& report) {
  const auto total = report.total();
  // Sources of a template may be most of a small file, and one result keeps them.
  const std::string templates = report.templates == 0 ? ""
                                                      : fmt::format(", nor of {} templates with sources, about {}", report.templates,
                                                                    bytes_text(report.template_bytes));
  return fmt::format("{} records, {} best rows, {} sessions and {} cubins, about {} of {}; of {} problems nothing stays{}", total.records,
                     total.best, total.sessions, total.cubins + report.loose_cubins, bytes_text(report.bytes_removed),
                     bytes_text(report.bytes_of_rows), total.problems, templates);
}

/// Throws: DatabaseError where pruning makes no sense, or would make a database.
void refuse_path(const fs::path& path) {
  if (std::error_code failure; !fs::exists(path, failure))
    throw DatabaseError(path.string(), fmt::format("failed pruning database '{}': there is no such file", path.string()));
  refuse_shipped(path, "pruning");
}

/// Throws: UsageError before anything is opened.
void check_options(const PruneOptions& options) {
  if (!options.older_than && !options.to_size && options.templates.empty() && options.devices.empty() && !options.superseded)
    throw UsageError(
        "failed pruning: no condition says what may go; give --older-than, --to-size, --template, --device or --superseded (all that are "
        "given must hold)");
  if (options.older_than) (void)parse_age(*options.older_than, "--older-than");
  if (options.to_size) (void)parse_bytes(*options.to_size, "--to-size");
}

/// A vacuumed file that is larger than asked: how many rows fit is an estimate.
bool is_still_larger(const PruneOptions& options, const std::optional<db::VacuumReport>& vacuum) {
  return vacuum && options.to_size && vacuum->bytes_after > parse_bytes(*options.to_size, "--to-size");
}

/// Why there is nothing to remove, where a size was asked for.
std::string why_nothing(const PruneOptions& options, const db::PruneReport& report) {
  if (!options.to_size || report.goal_missed) return "";
  if (report.bytes_of_rows <= parse_bytes(*options.to_size, "--to-size"))
    return fmt::format("; its rows take {} already, and `attune db vacuum` gives free space back", bytes_text(report.bytes_of_rows));
  return "; its pages are nearly empty, and `attune db vacuum` makes it as small";
}

int tell_outcome(const PruneOptions& options, const db::PruneReport& report, const KnownNames& names, const fs::path& path,
                 const std::optional<db::VacuumReport>& vacuum) {
  if (options.json_output) {
    json told = to_json(report, names);
    told["path"] = path.string();
    told["removed"] = options.yes;
    if (is_still_larger(options, vacuum)) told["goal_missed"] = true;
    if (vacuum) told["vacuum"] = {{"bytes_before", vacuum->bytes_before}, {"bytes_after", vacuum->bytes_after}};
    print_json(told, 1);
    return 0;
  }
  print_report(report, names);
  const std::string name = base::escape_line(path.string());
  if (report.goal_missed) print_missed_goal(*options.to_size, report);
  if (report.nothing()) {
    base::print("{}: nothing to remove{}\n", name, why_nothing(options, report));
  } else if (!options.yes) {
    base::print("{}: would remove {}\nNothing was changed; the same command with --yes removes it.\n", name, counts_text(report));
  } else {
    base::print("{}: removed {}\n", name, counts_text(report));
  }
  if (vacuum) base::print("{}: {} bytes before, {} after\n", name, vacuum->bytes_before, vacuum->bytes_after);
  if (is_still_larger(options, vacuum) && !report.goal_missed)
    base::print(
        "--to-size {} is not reached: how many rows fit is an estimate; the same command again goes by the size that the file has now\n",
        *options.to_size);
  if (!vacuum && options.yes && !report.nothing())
    base::print("The space is free within the file; `attune db vacuum` gives it back to the file system.\n");
  return 0;
}

int prune(const PruneOptions& options) {
  check_options(options);
  const auto path = database_path(options.database);
  refuse_path(path);
  stop_on_signals();
  auto database = db::Database::open(path, options.yes ? db::OpenMode::ReadWrite : db::OpenMode::ReadOnly, [] { return !stop_asked(); });
  print_notices(database);
  const auto names = names_in(database);
  const auto request = request_of(options, database, names);
  const auto report = options.yes ? database.prune(request) : database.would_prune(request);
  std::optional<db::VacuumReport> vacuum;
  if (options.yes && options.vacuum) {
    try {
      vacuum = database.vacuum([] { return !stop_asked(); });
    } catch (const Error& error) {
      base::tell_message(error.what());
      base::tell_message("the rows are removed all the same; `attune db vacuum` gives their space back later");
      (void)tell_outcome(options, report, names, database.path(), vacuum);
      return static_cast<int>(error.exit_code());
    }
  }
  return tell_outcome(options, report, names, database.path(), vacuum);
}

}  // namespace

void add_prune_command(CLI::App& db, CommandContext& context) {
  auto options = std::make_shared<PruneOptions>();
  auto* command = db.add_subcommand("prune", "Remove old, foreign or superseded results; without --yes only say what would go");
  command->footer(
      "All conditions that are given must hold. A result and the record of its configuration go together; what a run is tuning stays.\n"
      "One transaction: Ctrl-C or a kill before its end, and nothing is removed. What won before helps a renewal: renew first.");
  command->add_option("--db", options->database, "Database file");
  command->add_option("--older-than", options->older_than, "Recorded longer ago than this: 36h, 90d, 26w, 2y");
  command->add_option(
      "--to-size", options->to_size,
      "Until about all rows fit into a file of this size: 200M, 1.5G. First, oldest first, records that are no result and sessions; then "
      "results that a newer version of their template has newer ones of; then the other results. Says so where that is not enough");
  command->add_option("--template", options->templates, "Of this template; may be repeated")->allow_extra_args(false);
  command->add_option("--device", options->devices, "On this device: its key, the beginning of it, or part of its name; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--superseded", options->superseded, "Of versions of templates that are found here as another version");
  command->add_option("--template-folder", options->template_folders, "With --superseded: further folders to look for templates in")
      ->allow_extra_args(false);
  auto* yes = command->add_flag("--yes", options->yes, "Remove it");
  command->add_flag("--vacuum", options->vacuum, "Give the space back to the file system afterwards")->needs(yes);
  command->add_flag("--json", options->json_output, "JSON on standard output");
  command->callback([options, &context] { context.action = [options] { return prune(*options); }; });
}

}  // namespace attune::tools
