#include "tuner/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/roofline.hpp"
#include "tuner/base/text.hpp"
#include "tuner/report/effects.hpp"
#include "tuner/report/ladder_rows.hpp"
#include "tuner/report/parameter_shares.hpp"
#include "tuner/report/rates.hpp"
#include "tuner/report/rows.hpp"
#include "tuner/report/search_course.hpp"

namespace attune::report {

const char* name(Ceiling::Kind kind) { return kind == Ceiling::Kind::Measured ? "measured" : "theoretical"; }

bool shows_operations(const Series& series) {
  return std::any_of(series.problems.begin(), series.problems.end(), [](const ProblemReport& problem) {
    return base::arithmetic_matters(static_cast<double>(problem.work_bytes.value_or(0)),
                                    static_cast<double>(problem.work_operations.value_or(0)));
  });
}

namespace {

/// The rows of one problem on one device under one policy.
struct ProblemRows {
  std::vector<const db::RecordRow*> records;
  std::vector<const db::SessionRow*> sessions;  // newest first
  const db::BestRow* best = nullptr;
};
/// Device, policy, problem.
using ProblemKey = std::tuple<std::string, std::string, std::string>;
using Grouped = std::map<ProblemKey, ProblemRows>;

std::string choose_template(const Rows& rows, const std::string& asked) {
  std::set<std::string> names;
  for (const auto& row : rows.templates) names.insert(row.name);
  const std::vector<std::string> known(names.begin(), names.end());
  if (known.empty()) throw UsageError("failed reporting: the database holds no template; run `attune tune` first");
  if (asked.empty()) {
    if (known.size() == 1) return known.front();
    throw UsageError(
        fmt::format("failed reporting: the database holds several templates and none was named; name one of: {}", fmt::join(known, ", ")));
  }
  if (names.count(asked) != 0) return asked;
  const std::string near = base::closest(asked, known);
  throw UsageError(fmt::format("failed reporting on template '{}': the database holds nothing of it{}; it knows: {}", asked,
                               near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), fmt::join(known, ", ")));
}

/// The version of the template with the newest row: records of other versions answer for other code.
const db::TemplateRow& choose_version(const Rows& rows, const std::string& template_name) {
  std::map<std::string, std::string> newest;
  const auto see = [&newest](const std::string& hash, const std::string& date) { newest[hash] = std::max(newest[hash], date); };
  for (const auto& row : rows.records) see(row.template_hash, row.recorded_at);
  for (const auto& row : rows.sessions) see(row.template_hash, row.started_at);
  for (const auto& row : rows.best) see(row.template_hash, row.recorded_at);
  const db::TemplateRow* chosen = nullptr;
  for (const auto& row : rows.templates) {
    if (row.name != template_name) continue;
    if (chosen == nullptr || newest[row.hash] > newest[chosen->hash]) chosen = &row;
  }
  return *chosen;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<Device> choose_devices(const Rows& rows, const std::optional<std::string>& asked) {
  std::vector<Device> chosen;
  std::vector<std::string> known;
  for (const auto& row : rows.devices) {
    Device device = read_device(row);
    known.push_back(fmt::format("{} ({})", device.name.empty() ? "unnamed" : device.name, device.key));
    const bool matches =
        !asked || (!asked->empty() && (device.key.rfind(*asked, 0) == 0 || lower(device.name).find(lower(*asked)) != std::string::npos));
    if (matches) chosen.push_back(std::move(device));
  }
  if (chosen.empty() && asked) {
    throw UsageError(fmt::format("failed reporting on device '{}': no stored device has this key or name; stored: {}", *asked,
                                 known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
  return chosen;
}

/// Axis by axis; an axis that the problem lacks does not match.
bool problem_matches(const ProblemParts& parts, const std::map<std::string, std::string>& asked) {
  return std::all_of(asked.begin(), asked.end(), [&parts](const auto& wanted) {
    if (const auto choice = parts.choices.find(wanted.first); choice != parts.choices.end()) {
      return choice->second == wanted.second;
    }
    const auto size = parts.sizes.find(wanted.first);
    return size != parts.sizes.end() && size->second == base::parse_count(wanted.second);
  });
}

Grouped group_rows(const Rows& rows, const std::string& hash, const Request& request, const std::vector<Device>& devices) {
  std::set<std::string> device_keys;
  for (const Device& device : devices) device_keys.insert(device.key);
  std::map<std::string, bool> matching;  // by problem: thousands of records share one
  const auto wanted = [&](const auto& row) {
    if (row.template_hash != hash || (request.policy && row.policy != *request.policy)) return false;
    if (device_keys.count(row.device_key) == 0 && request.device) return false;
    auto found = matching.find(row.problem);
    if (found == matching.end()) {
      found = matching.emplace(row.problem, problem_matches(read_problem(row.problem), request.problem)).first;
    }
    return found->second;
  };
  const auto key = [](const auto& row) { return ProblemKey{row.device_key, row.policy, row.problem}; };
  Grouped grouped;
  for (const auto& row : rows.records) {
    if (wanted(row)) grouped[key(row)].records.push_back(&row);
  }
  for (const auto& row : rows.sessions) {
    if (wanted(row)) grouped[key(row)].sessions.push_back(&row);
  }
  for (const auto& row : rows.best) {
    if ((row.objective != db::kTime && row.objective != db::kUnverifiedTime) || !wanted(row)) continue;
    const db::BestRow*& best = grouped[key(row)].best;
    if (best == nullptr || row.objective == db::kTime) best = &row;
  }
  for (auto& [problem, group] : grouped) {
    std::stable_sort(group.sessions.begin(), group.sessions.end(),
                     [](const auto* a, const auto* b) { return a->started_at > b->started_at; });
  }
  return grouped;
}

void add_unique(std::vector<std::string>& items, const std::string& item) {
  if (!item.empty() && std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
}

void widen(std::string& first, std::string& last, const std::string& from, const std::string& to) {
  if (!from.empty() && (first.empty() || from < first)) first = from;
  if (!to.empty() && (last.empty() || to > last)) last = to;
}

std::vector<Failure> failures_of(const std::vector<const db::RecordRow*>& records) {
  std::map<std::string, Failure> by_outcome;
  for (const auto* record : records) {
    if (record->outcome == "ok") continue;
    Failure& failure = by_outcome[record->outcome];
    failure.outcome = record->outcome;
    ++failure.count;
    if (!failure.example_detail.empty()) continue;
    const std::string detail = failure_detail(*record);
    if (failure.example_configuration.empty() || !detail.empty()) {
      failure.example_configuration = record->configuration;
      failure.example_detail = detail;
    }
  }
  std::vector<Failure> failures;
  for (auto& [outcome, failure] : by_outcome) failures.push_back(std::move(failure));
  std::stable_sort(failures.begin(), failures.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  return failures;
}

void add_records(ProblemReport& problem, const std::vector<const db::RecordRow*>& records) {
  for (const auto* record : records) {
    ++problem.outcomes[record->outcome];
    add_clock(problem.clocks, *record);
    add_unique(problem.drivers, record->driver);
    add_unique(problem.nvrtcs, record->nvrtc);
    add_unique(problem.origins, record->origin);
    widen(problem.first_recorded_at, problem.last_recorded_at, record->recorded_at, record->recorded_at);
    if (problem.best && record->configuration == problem.best->configuration) add_measurement(*problem.best, *record);
  }
}

/// Work is a fact of the problem: whichever row tells it first.
void add_work(ProblemReport& problem, const std::string& json_text) {
  if (problem.work_bytes && problem.work_operations) return;
  const auto object = parse_object(json_text);
  const auto take = [&object](std::optional<std::int64_t>& to, const char* name) {
    if (to) return;
    to = integer_at(object, name);
    if (to && *to <= 0) to.reset();
  };
  take(problem.work_bytes, "work_bytes");
  take(problem.work_operations, "work_operations");
}

std::optional<std::size_t> convergence_session(const std::vector<Session>& sessions) {
  std::optional<std::size_t> any;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    if (sessions[i].convergence.empty()) continue;
    if (sessions[i].measured.value_or(0) > 0) return i;
    if (!any) any = i;
  }
  return any;
}

ProblemReport problem_report(const std::string& text, const ProblemRows& rows, const std::vector<DeclaredParameter>& declared,
                             const Series& series) {
  ProblemReport problem;
  problem.problem = text;
  problem.sizes = read_problem(text).sizes;
  if (rows.best != nullptr) {
    problem.best = read_best(*rows.best);
    add_work(problem, rows.best->detail_json);
    add_unique(problem.drivers, rows.best->driver);
    add_unique(problem.origins, text_at(parse_object(rows.best->detail_json), "origin"));
    widen(problem.first_recorded_at, problem.last_recorded_at, rows.best->recorded_at, rows.best->recorded_at);
  }
  add_records(problem, rows.records);
  problem.failures = failures_of(rows.records);
  problem.effects = parameter_effects(rows.records, declared);
  problem.shares = parameter_shares(rows.records);
  for (const auto* row : rows.sessions) {
    problem.sessions.push_back(read_session(*row));
    if (!problem.ladder) problem.ladder = read_ladder(*row);
    if (problem.space_size == 0) problem.space_size = problem.sessions.back().space_size;
    if (problem.different_launches == 0) problem.different_launches = problem.sessions.back().different_launches;
    add_work(problem, row->summary_json);
    if (const std::string& from = problem.sessions.back().replayed_from; !from.empty() && rows.records.empty()) {
      add_unique(problem.origins, "recording:" + from);
    }
  }
  problem.course = search_course(rows.records, problem.different_launches > 0 ? problem.different_launches : problem.space_size);
  problem.convergence_session = convergence_session(problem.sessions);
  if (problem.best && problem.best->median_us > 0)
    add_rates(*problem.best, problem, problem.best->median_us, series.ceiling ? std::optional(series.ceiling->bytes_per_s) : std::nullopt,
              series.peak_operations_per_s);
  return problem;
}

/// The newest measured one among the sessions of this device and policy, else the theoretical one.
std::optional<Ceiling> ceiling_of(const Grouped& grouped, const Device& device, const std::string& policy) {
  std::string newest;
  std::optional<Ceiling> ceiling;
  for (const auto& [key, rows] : grouped) {
    if (std::get<0>(key) != device.key || std::get<1>(key) != policy) continue;
    for (const auto* session : rows.sessions) {
      const auto rate = number_at(parse_object(session->summary_json), "read_ceiling_bytes_per_s");
      if (!rate || *rate <= 0 || (ceiling && session->started_at <= newest)) continue;
      newest = session->started_at;
      ceiling = Ceiling{*rate, Ceiling::Kind::Measured};
    }
  }
  if (ceiling || !device.theoretical_bytes_per_s) return ceiling;
  return Ceiling{*device.theoretical_bytes_per_s, Ceiling::Kind::Theoretical};
}

std::size_t device_index(Report& report, const std::vector<Device>& devices, const std::string& key) {
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    if (report.devices[i].key == key) return i;
  }
  const auto known = std::find_if(devices.begin(), devices.end(), [&](const Device& device) { return device.key == key; });
  Device device;
  device.key = key;
  report.devices.push_back(known == devices.end() ? device : *known);
  return report.devices.size() - 1;
}

void add_problem(Report& report, const ProblemKey& key, const ProblemRows& rows, const Grouped& grouped, const std::vector<Device>& devices,
                 const std::vector<DeclaredParameter>& declared) {
  // No structured binding: lambdas capture it.
  const std::string &device_key = std::get<0>(key), &policy = std::get<1>(key), &text = std::get<2>(key);
  const std::size_t device = device_index(report, devices, device_key);
  const ProblemParts parts = read_problem(text);
  auto series = std::find_if(report.series.begin(), report.series.end(), [&](const Series& candidate) {
    return candidate.device == device && candidate.policy == policy && candidate.choices == parts.choices;
  });
  if (series == report.series.end()) {
    Series fresh;
    fresh.device = device;
    fresh.policy = policy;
    fresh.choices = parts.choices;
    fresh.ceiling = ceiling_of(grouped, report.devices[device], policy);
    fresh.peak_operations_per_s = report.devices[device].theoretical_operations_per_s;
    series = report.series.insert(report.series.end(), std::move(fresh));
  }
  ProblemReport problem = problem_report(text, rows, declared, *series);
  for (const auto& driver : problem.drivers) add_unique(report.drivers, driver);
  for (const auto& nvrtc : problem.nvrtcs) add_unique(report.nvrtcs, nvrtc);
  for (const auto& origin : problem.origins) add_unique(report.origins, origin);
  for (const auto& session : problem.sessions) add_unique(report.attune_versions, session.attune_version);
  widen(report.first_recorded_at, report.last_recorded_at, problem.first_recorded_at, problem.last_recorded_at);
  report.records += rows.records.size();
  series->problems.push_back(std::move(problem));
}

}  // namespace

Report build(const Rows& rows, const Request& request) {
  Report report;
  report.generated_at = base::utc_now();
  report.template_name = choose_template(rows, request.template_name);
  const db::TemplateRow& version = choose_version(rows, report.template_name);
  report.template_hash = version.hash;
  const auto spec = base::try_parse_commented_json(version.spec_json);
  if (spec.is_object()) report.summary = text_at(spec, "summary");
  const auto declared = read_parameters(version.spec_json);
  const auto devices = choose_devices(rows, request.device);
  const Grouped grouped = group_rows(rows, version.hash, request, devices);
  if (grouped.empty()) {
    throw UsageError(
        fmt::format("failed reporting on template '{}' (version {}): no stored row matches; "
                    "leave out a filter, or run `attune tune {}`",
                    report.template_name, version.hash, report.template_name));
  }
  for (const auto& [key, group] : grouped) add_problem(report, key, group, grouped, devices, declared);
  for (Series& series : report.series) {
    std::stable_sort(series.problems.begin(), series.problems.end(), [](const auto& a, const auto& b) { return a.sizes < b.sizes; });
  }
  std::set<std::string> other_hashes;
  for (const auto& row : rows.templates) {
    if (row.name == report.template_name && row.hash != version.hash) other_hashes.insert(row.hash);
  }
  for (const auto& row : rows.records) report.other_hash_records += other_hashes.count(row.template_hash);
  return report;
}

Report build(const db::Database& database, const Request& request) {
  Rows rows;
  rows.templates = database.templates();
  rows.devices = database.devices();
  db::Query query;
  query.template_name = choose_template(rows, request.template_name);
  query.policy = request.policy;
  rows.records = database.records(query);
  rows.sessions = database.sessions(query);
  rows.best = database.best(query);
  return build(rows, request);
}

}  // namespace attune::report
