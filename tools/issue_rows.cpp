#include "tools/issue_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "attune/error.hpp"
#include "tools/failed_records.hpp"
#include "tools/output.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/text.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kMostFailures = 10, kMostSessions = 10, kMostRows = 500;
constexpr std::size_t kMostLogBytes = std::size_t{16} << 10;

std::string cut(const std::string& log) {
  if (log.size() <= kMostLogBytes) return log;
  return fmt::format("{}\n[{} bytes more]", log.substr(0, kMostLogBytes), log.size() - kMostLogBytes);
}

std::string name_of(const std::string& hash, const std::vector<db::TemplateRow>& templates) {
  const auto found = std::find_if(templates.begin(), templates.end(), [&](const auto& row) { return row.hash == hash; });
  return fmt::format("{} {}", found == templates.end() ? "unknown template" : found->name, hash.substr(0, 12));
}

/// Hashes of the versions of a template; of all without a name.
std::set<std::string> hashes_of(const std::string& name, const std::vector<db::TemplateRow>& templates) {
  std::set<std::string> hashes;
  for (const auto& row : templates) {
    if (name.empty() || row.name == name) hashes.insert(row.hash);
  }
  return hashes;
}

/// "2^20" and 1048576 are the same size.
bool is_value(const json& value, const std::string& wanted) {
  if (value.is_string()) return value.get<std::string>() == wanted;
  if (!value.is_number_integer()) return base::dump_json(value) == wanted;
  try {
    return value.get<std::int64_t>() == base::parse_count(wanted);
  } catch (const Error&) {  // a word is no size
    return false;
  }
}

bool has_values(const std::string& problem, const std::map<std::string, std::string>& wanted) {
  const json values = base::try_parse_json(problem);
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& axis) {
    return values.is_object() && values.contains(axis.first) && is_value(values[axis.first], axis.second);
  });
}

json issue_row(const db::RecordRow& row) {
  return {{"row", "record"},
          {"template_hash", row.template_hash},
          {"problem", base::try_parse_json(row.problem)},
          {"device", row.device_key},
          {"policy", row.policy},
          {"configuration", base::try_parse_json(row.configuration)},
          {"outcome", row.outcome},
          {"stage", row.stage},
          {"verified", row.verified},
          {"median_us", row.median_us},
          {"driver", row.driver},
          {"nvrtc", row.nvrtc},
          {"recorded_at", row.recorded_at}};
}

json issue_row(const db::BestRow& row) {
  return {{"row", "best"},
          {"template", row.template_name},
          {"template_hash", row.template_hash},
          {"problem", base::try_parse_json(row.problem)},
          {"device", row.device_key},
          {"policy", row.policy},
          {"objective", row.objective},
          {"configuration", base::try_parse_json(row.configuration)},
          {"median_us", row.median_us},
          {"default_us", row.default_us},
          {"tie", row.tie},
          {"driver", row.driver},
          {"nvrtc", row.nvrtc},
          {"recorded_at", row.recorded_at}};
}

/// So many of the first rows, and how many more there are.
class RowLines {
 public:
  void add(const json& row) {
    if (++rows_ <= kMostRows) text_ += json_text(row) + "\n";
  }
  [[nodiscard]] std::string text(const char* what) const {
    return fmt::format("{} {}{}\n\n{}\n", rows_, what, rows_ > kMostRows ? fmt::format("; the first {}:", kMostRows) : "", indented(text_));
  }

 private:
  std::size_t rows_ = 0;
  std::string text_;
};

std::string failure_text(const db::RecordRow& record, const std::vector<db::TemplateRow>& templates,
                         const std::vector<db::DeviceRow>& devices, bool sources) {
  const json detail = base::try_parse_json(record.detail_json);
  std::string text =
      fmt::format("{} of {}\nproblem {}\nconfiguration {}\n{}, driver {}, NVRTC {}, {}\nlog:\n{}\n", record.outcome,
                  name_of(record.template_hash, templates), record.problem, record.configuration, record.policy, record.driver,
                  record.nvrtc, record.recorded_at, cut(detail.is_object() ? base::member_or(detail, "detail", "") : ""));
  if (sources) {
    const auto source = source_of(record, templates, devices);
    text += source.text.empty() ? "source: " + source.missing + "\n"
                                : fmt::format("source, compiled with {}:\n{}\n", fmt::join(source.options, " "), source.text);
  }
  return indented(text) + "\n";
}

}  // namespace

std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += "    " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

std::string last_failures(const db::Database& database, const std::string& template_name, bool sources) {
  const auto templates = database.templates();
  const auto devices = database.devices();
  const auto asked = hashes_of(template_name, templates);
  std::vector<db::RecordRow> last;
  const auto newer = [](const auto& a, const auto& b) { return a.recorded_at > b.recorded_at; };
  std::size_t failures = 0;
  database.for_each_record({}, [&](const db::RecordRow& record) {
    if (record.outcome == "ok" || (!template_name.empty() && !asked.contains(record.template_hash))) return;
    ++failures;
    last.insert(std::upper_bound(last.begin(), last.end(), record, newer), record);
    if (last.size() > kMostFailures) last.pop_back();
  });
  if (last.empty()) return "No failed configuration is stored.\n\n";
  std::string text = fmt::format("{} of {}; logs quote lines of what was compiled.\n\n", last.size(), failures);
  for (const auto& record : last) text += failure_text(record, templates, devices, sources);
  return text;
}

std::string last_sessions(const db::Database& database) {
  auto sessions = database.sessions({});
  const auto templates = database.templates();
  std::stable_sort(sessions.begin(), sessions.end(), [](const auto& a, const auto& b) { return a.started_at > b.started_at; });
  sessions.resize(std::min(sessions.size(), kMostSessions));
  std::string text;
  for (const auto& session : sessions)
    text +=
        fmt::format("{} {} {}, strategy {}, seed {}, {}, space of {}, {}\n", session.started_at, name_of(session.template_hash, templates),
                    session.problem, session.strategy, session.seed, session.policy, session.space_size, session.state);
  return indented(text.empty() ? "none" : text) + "\n";
}

bool holds_template(const db::Database& database, const std::string& template_name) {
  bool holds = !hashes_of(template_name, database.templates()).empty();
  database.for_each_best([&](const db::BestRow& row) { holds |= row.template_name == template_name; });
  return holds;
}

bool holds_problem(const db::Database& database, const std::string& template_name, const std::map<std::string, std::string>& problem) {
  const auto asked = hashes_of(template_name, database.templates());
  const auto is_asked = [&](const auto& row) {
    return (template_name.empty() || asked.contains(row.template_hash)) && has_values(row.problem, problem);
  };
  const auto sessions = database.sessions({});
  bool holds = std::any_of(sessions.begin(), sessions.end(), is_asked);
  database.for_each_best([&](const db::BestRow& row) {
    holds = holds || is_asked(row) || (row.template_name == template_name && has_values(row.problem, problem));
  });
  if (holds) return true;
  database.for_each_record({}, [&](const db::RecordRow& row) { holds = holds || is_asked(row); });
  return holds;
}

std::string rows_text(const db::Database& database, const std::string& template_name, const std::map<std::string, std::string>& problem) {
  const auto asked = hashes_of(template_name, database.templates());
  RowLines best, records;
  database.for_each_best([&](const db::BestRow& row) {
    if ((template_name.empty() || row.template_name == template_name) && has_values(row.problem, problem)) best.add(issue_row(row));
  });
  database.for_each_record({}, [&](const db::RecordRow& row) {
    if ((template_name.empty() || asked.contains(row.template_hash)) && has_values(row.problem, problem)) records.add(issue_row(row));
  });
  return best.text("best rows") + records.text("records");
}

}  // namespace attune::tools
