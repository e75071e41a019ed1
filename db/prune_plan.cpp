#include "db/prune_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "db/prune_candidates.hpp"

namespace attune::db {
namespace {

std::uint64_t pragma_number(StatementCache& statements, const char* sql) {
  Use use(statements.prepared(sql));
  if (!use.step()) return 0;
  ColumnReader reader(use.row());
  std::uint64_t number = 0;
  reader(number);
  return number;
}

/// Every table and index has a page, however empty, and their names and texts have some.
std::uint64_t bytes_without_rows(StatementCache& statements) {
  constexpr std::uint64_t kOverhead = 16;  // of a row of a few columns
  const std::uint64_t page = std::max<std::uint64_t>(pragma_number(statements, "PRAGMA page_size"), 512);
  const std::uint64_t texts =
      pragma_number(statements, "SELECT sum(length(type) + length(name) + length(tbl_name) + coalesce(length(sql), 0)) FROM sqlite_schema");
  const std::uint64_t rows = pragma_number(statements, "SELECT count(*) FROM sqlite_schema"),
                      roots = pragma_number(statements, "SELECT count(*) FROM sqlite_schema WHERE rootpage > 0");
  const std::uint64_t leaves = (texts + kOverhead * rows) / page + 1;
  return (roots + leaves + (leaves > 1 ? 1 : 0)) * page;
}

/// Decides what goes, in the order of its value.
class Choice {
 public:
  Choice(StatementCache& statements, const PruneRequest& request)
      : statements_(statements), request_(request), found_(prune_candidates(statements, request)), gone_(found_.problems.size()) {
    const std::uint64_t pages = pragma_number(statements, "PRAGMA page_count"),
                        free_pages = pragma_number(statements, "PRAGMA freelist_count");
    plan_.report.bytes_of_rows = (pages - std::min(pages, free_pages)) * pragma_number(statements, "PRAGMA page_size");
    // What contents take in the file, on average: pages are never full, short fields are only guessed at, and small files have a page for
    // each table.
    constexpr double kLeastOverhead = 0.25, kMostOverhead = 2;
    if (found_.bytes > 0) {
      overhead_ =
          std::clamp(static_cast<double>(plan_.report.bytes_of_rows) / static_cast<double>(found_.bytes), kLeastOverhead, kMostOverhead);
    }
    for (const auto& best : found_.best) ++names_of_cubin_[best.cubin_key];
    plan_.report.least_bytes = bytes_without_rows(statements);
  }

  PrunePlan run() {
    for (const auto& problem : found_.problems) plan_.report.problems_in_use += problem.asked && problem.running ? 1 : 0;
    if (request_.to_bytes && plan_.report.bytes_of_rows <= *request_.to_bytes) return std::move(plan_);
    // A sixteenth less than asked: how full the pages of what stays are is only known on average.
    if (request_.to_bytes) enough_ = plan_.report.bytes_of_rows - *request_.to_bytes / 16 * 15;
    take_loose_cubins();
    take_what_no_best_needs();
    take_best();
    take_last_sessions();
    tell_problems();
    take_templates();
    take_devices();
    plan_.report.goal_missed = enough_ && !is_enough();
    for (auto& [names, group] : groups_) plan_.report.groups.push_back(std::move(group));
    for (auto* rows : {&plan_.records, &plan_.best, &plan_.sessions, &plan_.cubins}) std::sort(rows->begin(), rows->end());
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool is_enough() const { return enough_ && plan_.report.bytes_removed >= *enough_; }

  std::uint64_t add_bytes(std::uint64_t bytes) {
    const auto in_file = static_cast<std::uint64_t>(static_cast<double>(bytes) * overhead_);
    plan_.report.bytes_removed += in_file;
    return in_file;
  }

  PruneGroup& group_of(std::uint32_t number) {
    const auto& problem = found_.problems[number];
    auto& group = groups_[{problem.template_hash, problem.device_key}];
    group.template_hash = problem.template_hash;
    group.device_key = problem.device_key;
    return group;
  }

  void take_loose_cubins() {
    for (const auto& [key, cubin] : found_.cubins) {
      if (names_of_cubin_.contains(key)) continue;
      plan_.cubins.push_back(cubin.row);
      ++plan_.report.loose_cubins;
      plan_.report.loose_cubin_bytes += add_bytes(cubin.bytes);
    }
  }

  void take_record(const PruneCandidates::Record& record) {
    plan_.records.push_back(record.id);
    ++gone_[record.problem];
    auto& group = group_of(record.problem);
    ++group.records;
    group.bytes += add_bytes(record.bytes);
  }

  void take_session(const PruneCandidates::Session& session) {
    plan_.sessions.push_back(session.row);
    auto& group = group_of(session.problem);
    ++group.sessions;
    group.bytes += add_bytes(session.bytes);
  }

  /// Records and sessions by their dates, as one list.
  void take_what_no_best_needs() {
    auto& records = found_.records;
    std::vector<PruneCandidates::Session> sessions;
    for (const auto& session : found_.sessions) {
      if (session.may_go && !session.newest && found_.problems[session.problem].may_go()) sessions.push_back(session);
    }
    const auto older = [](const auto& a, const auto& b) { return a.at_us < b.at_us; };
    std::stable_sort(records.begin(), records.end(), older);
    std::stable_sort(sessions.begin(), sessions.end(), older);
    auto session = sessions.begin();
    for (auto record = records.begin(); !is_enough() && (record != records.end() || session != sessions.end());) {
      if (session == sessions.end() || (record != records.end() && record->at_us <= session->at_us))
        take_record(*record++);
      else
        take_session(*session++);
    }
  }

  void take_best() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < found_.best.size(); ++i) {
      if (found_.best[i].may_go) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto &one = found_.best[a], &other = found_.best[b];
      return std::pair(!one.superseded, one.at_us) < std::pair(!other.superseded, other.at_us);
    });
    best_gone_.resize(found_.best.size());
    for (const std::size_t i : order) {
      if (is_enough()) return;
      take_one_best(i);
    }
  }

  void take_one_best(std::size_t number) {
    const auto& best = found_.best[number];
    auto& group = group_of(best.problem);
    best_gone_[number] = true;
    plan_.best.push_back(best.row);
    ++group.best;
    ++gone_[best.problem];
    std::uint64_t bytes = best.bytes;
    if (best.record != 0 && !is_record_needed(best)) {
      plan_.records.push_back(best.record);
      ++group.records;
      ++gone_[best.problem];
    }
    if (const auto cubin = found_.cubins.find(best.cubin_key); --names_of_cubin_[best.cubin_key] == 0 && cubin != found_.cubins.end()) {
      plan_.cubins.push_back(cubin->second.row);
      ++group.cubins;
      bytes += cubin->second.bytes;
    }
    group.bytes += add_bytes(bytes);
  }

  /// A verified and an unverified result of one problem may have the same configuration.
  [[nodiscard]] bool is_record_needed(const PruneCandidates::Best& gone) const {
    const auto& of_problem = found_.problems[gone.problem].best;
    return std::any_of(of_problem.begin(), of_problem.end(),
                       [&](std::size_t at) { return !best_gone_[at] && found_.best[at].record == gone.record; });
  }

  [[nodiscard]] bool is_all_gone(std::uint32_t problem) const { return gone_[problem] == found_.problems[problem].rows; }

  void take_last_sessions() {
    for (const auto& session : found_.sessions) {
      if (session.newest && session.may_go && found_.problems[session.problem].may_go() && is_all_gone(session.problem) && !is_enough())
        take_session(session);
    }
  }

  void tell_problems() {
    for (std::uint32_t i = 0; i < found_.problems.size(); ++i) {
      if (found_.problems[i].rows > 0 && is_all_gone(i)) ++group_of(i).problems;
    }
  }

  /// Names that a row which stays still has.
  template <class Member>
  std::set<std::string> names_that_stay(Member member) const {
    std::set<std::uint64_t> sessions_gone(plan_.sessions.begin(), plan_.sessions.end());
    std::set<std::string> stay;
    for (std::uint32_t i = 0; i < found_.problems.size(); ++i) {
      if (!is_all_gone(i)) stay.insert(found_.problems[i].*member);
    }
    for (const auto& session : found_.sessions) {
      if (!sessions_gone.contains(session.row)) stay.insert(found_.problems[session.problem].*member);
    }
    return stay;
  }
  [[nodiscard]] std::set<std::string> names_that_went(std::string PruneGroup::*member, const std::set<std::string>& stay) const {
    std::set<std::string> went;
    for (const auto& [names, group] : groups_) {
      if (!stay.contains(group.*member)) went.insert(group.*member);
    }
    return went;
  }

  /// By their rows, not by their keys: an index that is damaged would lead to others.
  void take_templates() {
    const auto went = names_that_went(&PruneGroup::template_hash, names_that_stay(&PruneCandidates::Problem::template_hash));
    plan_.report.templates +=
        take_templates_of("SELECT rowid, hash, length(spec_json) FROM templates ORDER BY rowid", went, plan_.templates);
    (void)take_templates_of("SELECT rowid, template_hash, length(contents) FROM template_files ORDER BY rowid", went, plan_.template_files);
  }
  std::uint64_t take_templates_of(const char* sql, const std::set<std::string>& went, std::vector<std::uint64_t>& rows) {
    Use use(statements_.prepared(sql));
    while (use.step()) {
      ColumnReader reader(use.row());
      std::uint64_t row = 0, bytes = 0;
      std::string hash;
      reader(row), reader(hash), reader(bytes);
      if (!went.contains(hash)) continue;
      rows.push_back(row);
      (void)add_bytes(bytes);
    }
    return rows.size();
  }

  void take_devices() {
    const auto went = names_that_went(&PruneGroup::device_key, names_that_stay(&PruneCandidates::Problem::device_key));
    Use use(statements_.prepared("SELECT hard_key FROM devices ORDER BY hard_key"));
    while (use.step()) {
      ColumnReader reader(use.row());
      std::string key;
      reader(key);
      if (went.contains(key)) plan_.devices.push_back(std::move(key));
    }
    plan_.report.devices = plan_.devices.size();
  }

  StatementCache& statements_;
  const PruneRequest& request_;
  PruneCandidates found_;
  std::vector<std::uint64_t> gone_;  ///< of records and best rows, by problem
  std::vector<bool> best_gone_;
  std::unordered_map<std::string, std::uint64_t> names_of_cubin_;  ///< how many best rows that stay name it
  std::optional<std::uint64_t> enough_;                            ///< bytes; nothing: all that may go goes
  double overhead_ = 1;
  std::map<std::pair<std::string, std::string>, PruneGroup> groups_;
  PrunePlan plan_;
};

}  // namespace

std::optional<RowTime> row_time(const std::string& text) {
  constexpr std::array<std::size_t, 6> kAt{0, 5, 8, 11, 14, 17}, kDigits{4, 2, 2, 2, 2, 2};
  std::array<int, 6> parts{};
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text.back() != 'Z')
    return std::nullopt;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const char* const begin = text.data() + kAt[i];
    const auto [end, error] = std::from_chars(begin, begin + kDigits[i], parts[i]);
    if (error != std::errc() || end != begin + kDigits[i] || parts[i] < 0) return std::nullopt;
  }
  std::int64_t fraction_us = 0;
  if (text[19] == '.') {
    std::int64_t scale = 100000;
    for (std::size_t i = 20; i + 1 < text.size(); ++i, scale /= 10) {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      fraction_us += scale * (text[i] - '0');
    }
  } else if (text.size() != 20) {
    return std::nullopt;
  }
  const std::chrono::year_month_day day{std::chrono::year(parts[0]), std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!day.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 60) return std::nullopt;
  return std::chrono::sys_days(day) + std::chrono::hours(parts[3]) + std::chrono::minutes(parts[4]) + std::chrono::seconds(parts[5]) +
         std::chrono::microseconds(fraction_us);
}

PruneGroup PruneReport::total() const {
  PruneGroup sum;
  for (const auto& group : groups) {
    sum.problems += group.problems;
    sum.records += group.records;
    sum.best += group.best;
    sum.sessions += group.sessions;
    sum.cubins += group.cubins;
    sum.bytes += group.bytes;
  }
  return sum;
}

bool PruneReport::nothing() const { return groups.empty() && loose_cubins == 0; }

PrunePlan plan_prune(StatementCache& statements, const PruneRequest& request) { return Choice(statements, request).run(); }

}  // namespace attune::db
