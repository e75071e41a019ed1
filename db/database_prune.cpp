// Rows that nobody wants any more.
#include <utility>

#include "db/database_state.hpp"
#include "db/prune_plan.hpp"
#include "db/snapshot.hpp"

namespace attune::db {
namespace {

/// Whether another process has the file open for writing. Asked within a transaction: whoever opens it later writes behind that.
bool is_open_elsewhere(LockFile& lock) {
  if (!lock.try_lock(LockFile::Part::InUse, LockFile::Share::Alone)) return true;
  (void)lock.try_lock(LockFile::Part::InUse, LockFile::Share::Shared);  // narrowing one's own succeeds
  return false;
}

/// Database::State is private to Database, so these take what they need of it.
template <class State, class Names>
void remove_rows(State& state, const char* sql, const Names& rows) {
  for (const auto& row : rows) {
    state.statements.run(sql, row);
    if (!state.guard().keeps_going()) state.guard().explain_interruption("pruning");
  }
}

template <class State>
void remove_planned(State& state, const PrunePlan& plan) {
  // Texts that nothing refers to go too, also where a batch has stored them.
  state.known_problems.clear();
  state.known_configurations.clear();
  remove_rows(state, "DELETE FROM metrics WHERE record_key = (SELECT key FROM records WHERE id = ?)", plan.records);
  remove_rows(state, "DELETE FROM records WHERE id = ?", plan.records);
  remove_rows(state, "DELETE FROM best WHERE rowid = ?", plan.best);
  remove_rows(state, "DELETE FROM in_flight WHERE session_key = (SELECT key FROM sessions WHERE rowid = ?)", plan.sessions);
  remove_rows(state, "DELETE FROM sessions WHERE rowid = ?", plan.sessions);
  remove_rows(state, "DELETE FROM cubins WHERE rowid = ?", plan.cubins);
  remove_rows(state, "DELETE FROM template_files WHERE rowid = ?", plan.template_files);
  remove_rows(state, "DELETE FROM templates WHERE rowid = ?", plan.templates);
  remove_rows(state, "DELETE FROM devices WHERE hard_key = ?", plan.devices);
  state.statements.run(
      "DELETE FROM configurations WHERE key NOT IN (SELECT configuration_key FROM records UNION ALL SELECT configuration_key FROM best)");
  state.statements.run(
      "DELETE FROM problems WHERE key NOT IN"
      " (SELECT problem_key FROM records UNION ALL SELECT problem_key FROM best UNION ALL SELECT problem_key FROM sessions)");
}

}  // namespace

PruneReport Database::would_prune(const PruneRequest& request) const {
  return state_->reading([&] {
    const Snapshot snapshot(*state_->connection.sqlite);
    return plan_prune(state_->statements, request).report;
  });
}

PruneReport Database::prune(const PruneRequest& request) {
  PruneReport report;
  state_->write("pruning", [&] {
    PrunePlan plan = plan_prune(state_->statements, request);
    plan.report.others_write = is_open_elsewhere(state_->connection.in_use);
    if (plan.report.others_write) {
      // A run stores them once, at its beginning, and may have nothing else yet.
      plan.templates.clear();
      plan.template_files.clear();
      plan.devices.clear();
      plan.report.templates = plan.report.devices = 0;
      plan.report.bytes_removed -= std::exchange(plan.report.template_bytes, 0);
    }
    if (!plan.report.nothing()) remove_planned(*state_, plan);
    report = std::move(plan.report);
  });
  return report;
}

}  // namespace attune::db
