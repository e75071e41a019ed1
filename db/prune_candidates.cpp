#include "db/prune_candidates.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "tuner/base/hash.hpp"

namespace attune::db {
namespace {

/// Beside their texts rows take this much: keys, checksums, short fields, and their entries in indexes. Measured of a vacuumed file.
constexpr std::uint64_t kRecordBytes = 620, kBestBytes = 560, kSessionBytes = 420, kCubinBytes = 120;

std::int64_t micros_of(const std::string& date) {
  const auto time = row_time(date);
  return time ? time->time_since_epoch().count() : PruneCandidates::kUndated;
}

/// Names of a row that are read in one go.
struct RowNames {
  std::string template_hash, problem_key, device_key, policy;

  void read(ColumnReader& reader) {
    reader(template_hash);
    reader(problem_key);
    reader(device_key);
    reader(policy);
  }
};

class Reading {
 public:
  Reading(StatementCache& statements, const PruneRequest& request) : statements_(statements), request_(request) {
    before_us_ = request.recorded_before ? request.recorded_before->time_since_epoch().count() : PruneCandidates::kUndated;
  }

  PruneCandidates run() {
    read_sessions();  // before the others: they say what is in use
    read_best();
    read_records();
    read_cubins();
    for (auto& best : found_.best) best.may_go = best.may_go && found_.problems[best.problem].may_go();
    found_.problem_texts = texts("SELECT coalesce(sum(length(text)), 0), count(*) FROM problems");
    found_.configuration_texts = texts("SELECT coalesce(sum(length(text)), 0), count(*) FROM configurations");
    (void)texts("SELECT coalesce(sum(length(spec_json)), 0), count(*) FROM templates");
    (void)texts("SELECT coalesce(sum(length(contents)), 0), count(*) FROM template_files");
    (void)texts("SELECT coalesce(sum(length(info_json) + length(hard_json)), 0), count(*) FROM devices");
    return std::move(found_);
  }

 private:
  std::uint32_t problem_of(const RowNames& names) {
    // Records of a problem mostly lie together.
    if (last_ < found_.problems.size() && names.template_hash == last_names_.template_hash &&
        names.problem_key == last_names_.problem_key && names.device_key == last_names_.device_key && names.policy == last_names_.policy) {
      return last_;
    }
    base::ContentHasher hasher;
    hasher.add(names.template_hash).add(names.problem_key).add(names.device_key).add(names.policy);
    const auto [at, fresh] = numbers_.emplace(hasher.key(), static_cast<std::uint32_t>(found_.problems.size()));
    if (fresh) {
      PruneCandidates::Problem problem;
      problem.template_hash = names.template_hash;
      problem.device_key = names.device_key;
      problem.asked = (!request_.template_hashes || request_.template_hashes->contains(names.template_hash)) &&
                      (!request_.device_keys || request_.device_keys->contains(names.device_key));
      found_.problems.push_back(std::move(problem));
    }
    last_ = at->second;
    last_names_ = names;
    return last_;
  }

  [[nodiscard]] bool is_old(std::int64_t at_us) const { return !request_.recorded_before || at_us < before_us_; }

  void read_sessions() {
    Use use(
        statements_.prepared("SELECT rowid, template_hash, problem_key, device_key, policy, key, state, started_at, finished_at,"
                             " length(summary_json) FROM sessions ORDER BY rowid"));
    std::map<std::uint32_t, std::size_t> newest;
    while (use.step()) {
      ColumnReader reader(use.row());
      PruneCandidates::Session session;
      reader(session.row);
      names_.read(reader);
      std::string key, state, started_at, finished_at;
      std::uint64_t length = 0;
      reader(key), reader(state), reader(started_at), reader(finished_at), reader(length);
      session.problem = problem_of(names_);
      session.at_us = micros_of(finished_at.empty() ? started_at : finished_at);
      session.bytes = static_cast<std::uint32_t>(length + kSessionBytes);
      const bool running = state == "running" && !request_.dead_sessions.contains(key);
      found_.problems[session.problem].running |= running;
      session.may_go = !running && is_old(session.at_us);
      found_.bytes += session.bytes;
      const auto [at, first] = newest.emplace(session.problem, found_.sessions.size());
      if (!first && found_.sessions[at->second].at_us <= session.at_us) at->second = found_.sessions.size();
      found_.sessions.push_back(session);
    }
    for (const auto& [problem, at] : newest) found_.sessions[at].newest = true;
  }

  void read_best() {
    Use use(statements_.prepared(
        "SELECT rowid, template_hash, problem_key, device_key, policy, template_name, objective, configuration_key,"
        " cubin_key, recorded_at, length(detail_json) + length(family) + length(sizes_json) FROM best ORDER BY rowid"));
    using Result = std::tuple<std::string, std::string, std::string, std::string, std::string>;
    std::map<Result, std::int64_t> newest;
    std::vector<Result> results;
    while (use.step()) {
      ColumnReader reader(use.row());
      PruneCandidates::Best best;
      reader(best.row);
      names_.read(reader);
      std::string template_name, objective, recorded_at;
      std::uint64_t length = 0;
      reader(template_name), reader(objective), reader(best.configuration_key), reader(best.cubin_key), reader(recorded_at), reader(length);
      best.problem = problem_of(names_);
      best.at_us = micros_of(recorded_at);
      best.bytes = length + kBestBytes;
      best.may_go = is_old(best.at_us);
      found_.bytes += best.bytes;
      auto& problem = found_.problems[best.problem];
      ++problem.rows;
      problem.best.push_back(found_.best.size());
      results.emplace_back(template_name, names_.problem_key, names_.device_key, names_.policy, objective);
      const auto [at, first] = newest.emplace(results.back(), best.at_us);
      if (!first) at->second = std::max(at->second, best.at_us);
      found_.best.push_back(std::move(best));
    }
    for (std::size_t i = 0; i < results.size(); ++i) found_.best[i].superseded = found_.best[i].at_us < newest.at(results[i]);
  }

  /// Whether a best row names the record; those that do must go with it.
  bool belongs_to_best(const PruneCandidates::Problem& problem, const std::string& configuration_key,
                       const PruneCandidates::Record& record) {
    bool belongs = false;
    for (const std::size_t at : problem.best) {
      auto& best = found_.best[at];
      if (best.configuration_key != configuration_key) continue;
      belongs = true;
      best.record = record.id;
      best.record_bytes = record.bytes;
      best.may_go = best.may_go && is_old(record.at_us);
    }
    return belongs;
  }

  void read_records() {
    Use use(statements_.prepared(
        "SELECT id, template_hash, problem_key, device_key, policy, configuration_key, recorded_at, length(detail_json)"
        " FROM records ORDER BY id"));
    std::string configuration_key, recorded_at;
    while (use.step()) {
      ColumnReader reader(use.row());
      PruneCandidates::Record record;
      reader(record.id);
      names_.read(reader);
      std::uint64_t length = 0;
      reader(configuration_key), reader(recorded_at), reader(length);
      record.problem = problem_of(names_);
      record.at_us = micros_of(recorded_at);
      record.bytes = static_cast<std::uint32_t>(length + kRecordBytes);
      found_.bytes += record.bytes;
      auto& problem = found_.problems[record.problem];
      ++problem.rows;
      if (!belongs_to_best(problem, configuration_key, record) && problem.may_go() && is_old(record.at_us))
        found_.records.push_back(record);
    }
  }

  void read_cubins() {
    Use use(statements_.prepared("SELECT rowid, key, length(cubin) + length(detail_json) FROM cubins ORDER BY rowid"));
    while (use.step()) {
      ColumnReader reader(use.row());
      PruneCandidates::Cubin cubin;
      std::string key;
      reader(cubin.row), reader(key), reader(cubin.bytes);
      cubin.bytes += kCubinBytes;
      found_.bytes += cubin.bytes;
      found_.cubins.emplace(std::move(key), cubin);
    }
  }

  /// Counts them in `found_.bytes` too.
  PruneCandidates::Texts texts(const char* sql) {
    Use use(statements_.prepared(sql));
    PruneCandidates::Texts texts;
    if (!use.step()) return texts;
    ColumnReader reader(use.row());
    reader(texts.bytes), reader(texts.count);
    texts.bytes += texts.count * PruneCandidates::kTextBytes;
    found_.bytes += texts.bytes;
    return texts;
  }

  StatementCache& statements_;
  const PruneRequest& request_;
  std::int64_t before_us_ = 0;
  PruneCandidates found_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< of problems, by the content key of their names
  std::uint32_t last_ = UINT32_MAX;                         ///< problem that was asked for last
  RowNames last_names_, names_;
};

}  // namespace

PruneCandidates prune_candidates(StatementCache& statements, const PruneRequest& request) { return Reading(statements, request).run(); }

}  // namespace attune::db
