// What a search asks of former measurements: which there are, and how long they took.
#include "db/database_state.hpp"
#include "tuner/base/hash.hpp"

namespace attune::db {
namespace {

/// The records of one problem on one device under one policy, with their times where they have one.
constexpr const char* kTimes =
    "SELECT c.text, t.outcome, m.value FROM records t JOIN configurations c ON c.key = t.configuration_key"
    " LEFT JOIN metrics m ON m.record_key = t.key AND m.name = 'time_us'"
    " WHERE t.template_hash = ? AND t.problem_key = ? AND t.device_key = ? AND t.policy = ?";

}  // namespace

std::vector<MeasuredProblem> Database::measured_problems(const std::string& template_name, const std::string& policy) const {
  return state_->reading([&] {
    // Counted in the order of the index records_by_problem; a problem's text is looked up once for each count.
    Use use(state_->statements.prepared(
        "SELECT g.template_hash, p.text, g.device_key, g.counted FROM"
        " (SELECT template_hash, problem_key, device_key, policy, count(*) AS counted FROM records"
        " WHERE template_hash IN (SELECT hash FROM templates WHERE name = ?) GROUP BY template_hash, problem_key, device_key, policy) g"
        " JOIN problems p ON p.key = g.problem_key WHERE g.policy = ?"));
    use.bind(template_name).bind(policy);
    std::vector<MeasuredProblem> problems;
    while (use.step()) {
      ColumnReader read(use.row());
      MeasuredProblem problem;
      read(problem.template_hash);
      read(problem.problem);
      read(problem.device_key);
      read(problem.records);
      problems.push_back(std::move(problem));
    }
    return problems;
  });
}

std::vector<TimeRow> Database::times(const Query& query, std::uint64_t fastest, std::uint64_t others) const {
  return state_->reading([&] {
    std::vector<TimeRow> rows;
    const auto add = [&](const char* which, std::uint64_t most) {
      Use use(state_->statements.prepared(std::string(kTimes) + which));
      use.bind(query.template_hash.value()).bind(base::content_key(query.problem.value()));
      use.bind(query.device_key.value()).bind(query.policy.value()).bind(most);
      while (use.step()) {
        ColumnReader read(use.row());
        TimeRow row;
        std::string outcome;
        double median_us = 0;
        read(row.configuration);
        read(outcome);
        read(median_us);
        if (outcome == "ok" && median_us > 0) row.median_us = median_us;
        rows.push_back(std::move(row));
      }
    };
    add(" AND t.outcome = 'ok' AND m.value > 0 ORDER BY m.value, t.configuration_key LIMIT ?", fastest);
    // Keys are hashes: as good as a random order, and the same each time.
    add(" ORDER BY t.configuration_key LIMIT ?", others);
    return rows;
  });
}

}  // namespace attune::db
