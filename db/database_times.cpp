// What a search asks of former measurements: which there are, and how long they took.
#include "db/database_state.hpp"
#include "tuner/base/hash.hpp"

namespace attune::db {
namespace {

/// Of one problem's records, with their times where they have one.
constexpr const char* kTimes =
    "SELECT c.text, t.outcome, m.value FROM records t JOIN configurations c ON c.key = t.configuration_key"
    " LEFT JOIN metrics m ON m.record_key = t.key AND m.name = 'time_us'"
    " WHERE t.template_hash = ? AND t.problem_key = ? AND t.device_key = ? AND t.policy = ?";

}  // namespace

std::vector<MeasuredProblem> Database::measured_problems(const std::string& template_name, const std::string& policy) const {
  return state_->reading([&] {
    // Read from the index records_by_problem alone.
    Use use(state_->statements.prepared(
        "SELECT n.hash, p.text, t.device_key, count(*) FROM templates n CROSS JOIN records t ON t.template_hash = n.hash"
        " CROSS JOIN problems p ON p.key = t.problem_key WHERE n.name = ? AND t.policy = ?"
        " GROUP BY t.template_hash, t.problem_key, t.device_key"));
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
