#include "db/prune_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "db/prune_candidates.hpp"
#include "db/prune_size.hpp"

namespace attune::db {
namespace {

/// Decides what goes, in the order of its value.
class Choice {
 public:
  Choice(StatementCache& statements, const PruneRequest& request)
      : statements_(statements),
        request_(request),
        found_(prune_candidates(statements, request)),
        size_(statements, found_.bytes),
        gone_(found_.problems.size()),
        best_gone_(found_.best.size()),
        sessions_(found_.problems.size()),
        newest_(found_.problems.size()) {
    for (std::size_t i = 0; i < found_.sessions.size(); ++i) {
      const auto& session = found_.sessions[i];
      ++sessions_[session.problem];
      if (session.newest) newest_[session.problem] = i;
    }
    for (const auto& problem : found_.problems) {
      naming_configurations_ += problem.rows;
      ++with_template_[problem.template_hash].problems;
      ++with_device_[problem.device_key].problems;
    }
    for (const auto& best : found_.best) {
      ++names_of_cubin_[best.cubin_key];
      if (best.record != 0) --naming_configurations_;  // its record names the same one
    }
    problems_left_ = found_.problems.size();
    read_bytes("SELECT hash, length(spec_json) FROM templates", with_template_);
    read_bytes("SELECT template_hash, length(contents) FROM template_files", with_template_);
    read_bytes("SELECT hard_key, length(info_json) + length(hard_json) FROM devices", with_device_);
  }

  PrunePlan run() {
    for (const auto& problem : found_.problems) plan_.report.problems_in_use += problem.asked && problem.running ? 1 : 0;
    plan_.report.bytes_of_rows = size_.bytes_of_rows();
    plan_.report.least_bytes = size_.least_bytes();
    if (request_.to_bytes && size_.bytes_of_rows() <= *request_.to_bytes) return std::move(plan_);
    if (request_.to_bytes) size_.aim_at(*request_.to_bytes);
    take_loose_cubins();
    take_what_no_best_needs();
    take_best();
    take_last_sessions();
    tell_problems();
    take_templates();
    take_devices();
    plan_.report.bytes_removed = size_.taken_bytes();
    plan_.report.goal_missed = size_.is_missed();
    for (auto& [names, group] : groups_) plan_.report.groups.push_back(std::move(group));
    for (auto* rows : {&plan_.records, &plan_.best, &plan_.sessions, &plan_.cubins}) std::sort(rows->begin(), rows->end());
    return std::move(plan_);
  }

 private:
  /// What problems have of a template or a device.
  struct Shared {
    std::uint64_t problems = 0;  ///< of which something is left
    std::uint64_t bytes = 0;
  };

  void read_bytes(const char* sql, std::unordered_map<std::string, Shared>& shared) {
    Use use(statements_.prepared(sql));
    while (use.step()) {
      ColumnReader reader(use.row());
      std::string name;
      std::uint64_t bytes = 0;
      reader(name), reader(bytes);
      if (const auto found = shared.find(name); found != shared.end()) found->second.bytes += bytes + PruneCandidates::kTextBytes;
    }
  }

  std::uint64_t add_bytes(std::uint64_t bytes) { return size_.take(static_cast<double>(bytes)); }

  /// One row less names texts. So many texts as rows may be left at most: the others have gone, whichever they are.
  std::uint64_t take_text(const PruneCandidates::Texts& texts, std::uint64_t& rows_left) {
    if (--rows_left >= texts.count) return 0;
    return size_.take(static_cast<double>(texts.bytes) / static_cast<double>(texts.count));
  }

  /// After a row of a problem has gone: what goes with the last one.
  void close(std::uint32_t number) {
    const auto& problem = found_.problems[number];
    if (!is_all_gone(number) || sessions_[number] > 1) return;
    if (sessions_[number] == 1) {
      const auto& last = found_.sessions[newest_[number]];
      if (problem.rows > 0 && last.may_go && problem.may_go() && !size_.is_enough()) take_session(last);
      return;
    }
    (void)take_text(found_.problem_texts, problems_left_);
    if (auto& shared = with_template_[problem.template_hash]; --shared.problems == 0)
      plan_.report.template_bytes += add_bytes(shared.bytes);
    if (auto& shared = with_device_[problem.device_key]; --shared.problems == 0) (void)add_bytes(shared.bytes);
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
    group.bytes += add_bytes(record.bytes) + take_text(found_.configuration_texts, naming_configurations_);
    close(record.problem);
  }

  void take_session(const PruneCandidates::Session& session) {
    plan_.sessions.push_back(session.row);
    --sessions_[session.problem];
    auto& group = group_of(session.problem);
    ++group.sessions;
    group.bytes += add_bytes(session.bytes);
    close(session.problem);
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
    for (auto record = records.begin(); !size_.is_enough() && (record != records.end() || session != sessions.end());) {
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
    for (const std::size_t i : order) {
      if (size_.is_enough()) return;
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
    const bool stays = best.record != 0 && is_record_needed(best);
    if (!stays) group.bytes += take_text(found_.configuration_texts, naming_configurations_);
    if (best.record != 0 && !stays) {
      plan_.records.push_back(best.record);
      ++group.records;
      ++gone_[best.problem];
      bytes += best.record_bytes;
    }
    if (const auto cubin = found_.cubins.find(best.cubin_key); --names_of_cubin_[best.cubin_key] == 0 && cubin != found_.cubins.end()) {
      plan_.cubins.push_back(cubin->second.row);
      ++group.cubins;
      bytes += cubin->second.bytes;
    }
    group.bytes += add_bytes(bytes);
    close(best.problem);
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
      if (session.newest && session.may_go && found_.problems[session.problem].may_go() && is_all_gone(session.problem) &&
          sessions_[session.problem] == 1 && !size_.is_enough())
        take_session(session);
    }
  }

  void tell_problems() {
    for (std::uint32_t i = 0; i < found_.problems.size(); ++i) {
      if (found_.problems[i].rows > 0 && is_all_gone(i)) ++group_of(i).problems;
    }
  }

  /// Names that no row which stays has any more.
  [[nodiscard]] std::set<std::string> names_that_went(std::string PruneGroup::*member,
                                                      const std::unordered_map<std::string, Shared>& shared) const {
    std::set<std::string> went;
    for (const auto& [names, group] : groups_) {
      if (shared.at(group.*member).problems == 0) went.insert(group.*member);
    }
    return went;
  }

  /// By their rows, not by their keys: an index that is damaged would lead to others. Columns that no index has keep SQLite from reading
  /// one.
  void take_templates() {
    const auto went = names_that_went(&PruneGroup::template_hash, with_template_);
    plan_.report.templates +=
        take_templates_of("SELECT rowid, hash, length(spec_json) FROM templates ORDER BY rowid", went, plan_.templates);
    (void)take_templates_of("SELECT rowid, template_hash, length(contents) FROM template_files ORDER BY rowid", went, plan_.template_files);
  }
  std::uint64_t take_templates_of(const char* sql, const std::set<std::string>& went, std::vector<std::uint64_t>& rows) {
    Use use(statements_.prepared(sql));
    while (use.step()) {
      ColumnReader reader(use.row());
      std::uint64_t row = 0;
      std::string hash;
      reader(row), reader(hash);
      if (went.contains(hash)) rows.push_back(row);
    }
    return rows.size();
  }

  void take_devices() {
    const auto went = names_that_went(&PruneGroup::device_key, with_device_);
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
  PruneSize size_;
  std::vector<std::uint64_t> gone_;  ///< of records and best rows, by problem
  std::vector<bool> best_gone_;
  std::vector<std::uint64_t> sessions_;  ///< that are left, by problem
  std::vector<std::size_t> newest_;      ///< the newest session, by problem
  std::uint64_t problems_left_ = 0;
  std::uint64_t naming_configurations_ = 0;  ///< records, and best rows without one, that are left
  std::unordered_map<std::string, Shared> with_template_, with_device_;
  std::unordered_map<std::string, std::uint64_t> names_of_cubin_;  ///< how many best rows that stay name it
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
