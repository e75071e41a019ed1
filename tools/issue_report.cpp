#include "tools/issue_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/doctor/checks.hpp"
#include "tools/issue_rows.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tools/redaction.hpp"
#include "tools/version_text.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"

namespace attune::tools {
namespace {

namespace fs = std::filesystem;

/// What attune, its compiler, its driver and SQLite go by; values of no other variable are told.
constexpr std::array kVariables{"ATTUNE_DB",       "ATTUNE_TEMPLATES",
                                "ATTUNE_NVRTC",    "ATTUNE_SHIPPED_DB",
                                "ATTUNE_WORKER",   "ATTUNE_PYTHON",
                                "CUDA_HOME",       "CUDA_VISIBLE_DEVICES",
                                "LD_LIBRARY_PATH", "XDG_DATA_HOME",
                                "XDG_CACHE_HOME",  "TMPDIR",
                                "SQLITE_TMPDIR",   "HOME"};

std::string environment_text() {
  std::string text;
  for (const char* name : kVariables) {
    const char* const value = std::getenv(name);
    text += value == nullptr ? fmt::format("{} is not set\n", name) : fmt::format("{}={}\n", name, value);
  }
  return indented(text);
}

/// PRETTY_NAME of /etc/os-release, without its quotes.
std::string distribution() {
  constexpr std::string_view kName = "PRETTY_NAME=";
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kName)) return std::string(base::trimmed(std::string_view(line).substr(kName.size()), "\"' "));
  }
  return "unknown distribution";
}

std::string system_text() {
  utsname name{};
  std::string text = fmt::format("{}\nglibc {}\n", distribution(), ::gnu_get_libc_version());
  if (::uname(&name) == 0) text += fmt::format("{} {} {}\n", name.sysname, name.release, name.machine);  // not nodename
  return indented(text);
}

/// Each look by itself: one that fails is told in its place.
template <class Look>
void look(const char* area, doctor::Findings& findings, Look&& at) {
  try {
    at();
  } catch (const std::exception& error) {
    findings.push_back({area, doctor::State::Wrong, error.what(), ""});
  }
}

struct Looked {
  doctor::Machine machine;
  doctor::Findings findings;
};

Looked look_around(const IssueOptions& options, const CommandContext& context) {
  Looked looked;
  doctor::Machine& machine = looked.machine;
  doctor::Findings& findings = looked.findings;
  look("driver", findings, [&] { doctor::check_gpus(machine, findings); });
  look("compiler", findings, [&] { doctor::check_compiler(machine, context, findings); });
  look("database", findings, [&] { doctor::check_databases(machine, options.database, findings); });
  look("system", findings, [&] { doctor::check_system(findings); });
  return looked;
}

std::string findings_text(const doctor::Findings& findings) {
  std::string text;
  for (const auto& finding : findings) {
    const std::string state = doctor::to_json(finding)["state"];
    // Other people's programs are theirs to tell.
    const bool of_others = finding.text.starts_with("others compute on it");
    text += fmt::format("{:<5}  {}: {}\n", state, finding.area, of_others ? "others compute on it" : finding.text);
  }
  return indented(text);
}

std::string devices_text(const std::vector<spec::DeviceInfo>& devices) {
  std::string text;
  for (const auto& device : devices) text += json_text(device.to_json()) + "\n";
  return indented(text.empty() ? "none" : text);
}

/// Empty where there is no place for one, which the report tells.
fs::path place_of_database(const IssueOptions& options) {
  try {
    return database_path(options.database);
  } catch (const DatabaseError&) {
    return {};
  }
}

/// Why there is nothing to tell of a database is told instead.
std::string database_text(const IssueOptions& options) {
  try {
    const auto path = database_path(options.database);
    if (std::error_code ignored; !fs::exists(path, ignored)) return fmt::format("## Database\n\n    none at {}\n", path.string());
    const auto database = db::Database::open(path, db::OpenMode::ReadOnly);
    const auto info = database.info();
    std::string text = fmt::format(
        "{}\nschema {}, {} bytes, journal mode {}\n{} devices, {} templates, {} problems, {} records, {} best rows, {} cubins, {} sessions\n",
        info.path, info.schema_version, info.bytes, info.journal_mode, info.devices, info.templates, info.problems, info.records, info.best,
        info.cubins, info.sessions);
    for (const auto& notice : database.notices()) text += notice + "\n";
    text = "## Database\n\n" + indented(text) + "\n## Last runs\n\n" + last_sessions(database) + "## Last failures\n\n" +
           last_failures(database, options.template_name, options.sources);
    if (options.rows || !options.problem.empty()) text += "## Rows\n\n" + rows_text(database, options.template_name, options.problem);
    if (database.bad_rows() > 0) text += fmt::format("{} rows that were read are damaged.\n", database.bad_rows());
    return text;
  } catch (const std::exception& error) {
    return fmt::format("## Database\n\n{}", indented(error.what()));
  }
}

std::string command_text(const IssueOptions& options) {
  std::string text = "attune report --issue";
  if (!options.template_name.empty()) text += " " + base::shell_quoted(options.template_name);
  if (!options.database.empty()) text += " --db " + base::shell_quoted(options.database);
  for (const auto& [axis, value] : options.problem) text += fmt::format(" --problem {}={}", axis, base::shell_quoted(value));
  if (options.sources) text += " --with-sources";
  if (options.rows) text += " --db-rows";
  return indented(text);
}

constexpr const char* kHead =
    "# Report for an issue of attune\n\n"
    "Read this before you send it: nothing was sent. Home folders are ~, names of this user and host are USER and HOST, its domain is\n"
    "DOMAIN, UUIDs of devices are short hashes, and URLs have no passwords. Other paths, and what compilers' logs quote, are as they were;\n"
    "take out what is not for others.\n\n"
    "What happened, and what should have (please fill in):\n\n\n";

std::string report_text(const IssueOptions& options, const CommandContext& context) {
  const auto looked = look_around(options, context);
  std::string text = kHead;
  const std::string environment = environment_text();
  const std::string database = database_text(options);
  text += "## Version\n\n" + indented(version_text());  // last of all that looks: it takes a variable away
  text += "\n## Command\n\n" + command_text(options);
  text += "\n## System\n\n" + system_text();
  text += "\n## Environment\n\n" + environment;
  text += "\n## Findings of attune doctor\n\n" + findings_text(looked.findings);
  text += "\n## Devices\n\n" + devices_text(looked.machine.devices);
  text += "\n" + database;
  return text;
}

/// Throws: UsageError. A report that somebody has read, and perhaps written into, is not replaced.
void refuse_existing(const std::string& file) {
  if (std::error_code ignored; !base::is_standard_output(file) && fs::exists(fs::symlink_status(file, ignored)))
    throw UsageError(fmt::format("failed writing the report to '{}': the file is there already; name another with --output", file));
}

/// What a database says of itself. Nothing where it cannot be read as a whole: what is missing then says nothing of what was named.
template <class Holds>
std::optional<bool> answer_of(const fs::path& path, Holds&& holds) {
  try {
    const auto database = db::Database::open(path, db::OpenMode::ReadOnly);
    const bool held = holds(database);
    if (held || (database.notices().empty() && database.bad_rows() == 0)) return held;
  } catch (const std::exception&) {
    // The report tells why.
  }
  return std::nullopt;
}

/// The name that rows have of it; a folder is a name too. Throws: UsageError: nobody knows such a template.
std::string known_template(const std::string& word) {
  try {
    const spec::TemplateLibrary library;
    return named_template(library, word).name;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("failed reporting on template '{}': the database holds nothing of it, and {}", word, error.what()));
  } catch (const Error&) {
    return word;  // there is one, and something is wrong with it: perhaps what the report is for
  }
}

/// With what is named there: a report of something misspelt would look like one of something without failures. Throws: UsageError.
IssueOptions resolved(IssueOptions options) {
  if (options.template_name.empty() && options.problem.empty()) return options;
  const auto path = place_of_database(options);
  std::error_code ignored;  // a place that cannot be looked into has no database to read
  const bool is_there = !path.empty() && fs::exists(path, ignored);
  const auto& name = options.template_name;
  if (!name.empty()) {
    const auto holds = is_there ? answer_of(path, [&](const auto& database) { return holds_template(database, name); }) : false;
    if (holds == false) options.template_name = known_template(name);
  }
  if (!is_there || options.problem.empty()) return options;
  if (answer_of(path, [&](const auto& database) { return holds_problem(database, name, options.problem); }) == false) {
    std::vector<std::string> axes;
    for (const auto& [axis, value] : options.problem) axes.push_back(fmt::format("{}={}", axis, value));
    throw UsageError(fmt::format("failed reporting on problem {}: the database holds nothing of such a problem{}; leave --problem away",
                                 fmt::join(axes, ","),
                                 options.template_name.empty() ? "" : " of template '" + options.template_name + "'"));
  }
  return options;
}

}  // namespace

int report_issue(const IssueOptions& asked, const CommandContext& context) {
  const IssueOptions options = resolved(asked);
  const std::string file = options.output.empty() ? fmt::format("attune-issue-{}.md", base::utc_now().substr(0, 10)) : options.output;
  refuse_existing(file);
  check_output_target(file, place_of_database(options));
  const std::string text = base::escape_lines(Redaction::of_this_machine()(report_text(options, context)));
  refuse_existing(file);
  write_output_target(file, text);
  if (!base::is_standard_output(file))
    base::print("Wrote {} ({} bytes). Read it before you send it; nothing was sent.\n", base::escape_line(fs::absolute(file).string()),
                text.size());
  return 0;
}

}  // namespace attune::tools
