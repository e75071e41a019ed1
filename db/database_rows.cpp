// How rows are stored: put by the process that measured them, offered by one that reads another database.
#include "db/database_state.hpp"
#include "db/row_order.hpp"

namespace attune::db {
namespace {

void write_row(StatementCache& statements, const DeviceRow& row) {
  statements.run(
      "INSERT INTO devices (hard_key, checksum, hard_json, info_json) VALUES (?, ?, ?, ?) ON CONFLICT (hard_key)"
      " DO UPDATE SET hard_key = excluded.hard_key, checksum = excluded.checksum, hard_json = excluded.hard_json, info_json = excluded.info_json",
      row.hard_key, checksum(row.hard_key, row), row.hard_json, row.info_json);
}

/// Without its files.
void write_row(StatementCache& statements, const TemplateRow& row) {
  statements.run(
      "INSERT INTO templates (hash, checksum, name, spec_json) VALUES (?, ?, ?, ?) ON CONFLICT (hash)"
      " DO UPDATE SET hash = excluded.hash, checksum = excluded.checksum, name = excluded.name, spec_json = excluded.spec_json",
      row.hash, checksum(row.hash, row), row.name, row.spec_json);
}

void write_row(StatementCache& statements, const TemplateFileRow& row) {
  const std::string key = Table<TemplateFileRow>::key(row);
  statements.run(
      "INSERT OR REPLACE INTO template_files (key, checksum, template_hash, name, contents) VALUES (?, ?, ?, ?, ?)",
      key, checksum(key, row), row.template_hash, row.name, Blob{row.contents});
}

void write_row(StatementCache& statements, const SessionRow& row, const std::string& problem) {
  statements.run(
      "INSERT OR REPLACE INTO sessions (key, checksum, template_hash, problem_key, device_key, policy, strategy, seed,"
      " state, space_size, started_at, finished_at, summary_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      row.key, checksum(row.key, row), row.template_hash, problem, row.device_key, row.policy, row.strategy, row.seed,
      row.state, row.space_size, row.started_at, row.finished_at, row.summary_json);
}

void write_row(StatementCache& statements, const std::string& key, const RecordRow& row, const std::string& problem,
               const std::string& configuration) {
  // The key is set as well: it may be what is damaged, which SQLite says when it finds no index entry of the old one.
  statements.run(
      "INSERT INTO records (key, checksum, template_hash, problem_key, device_key, policy, configuration_key,"
      " outcome, stage, verified, detail_json, driver, nvrtc, recorded_at, origin)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
      " key = excluded.key, checksum = excluded.checksum, template_hash = excluded.template_hash, problem_key = excluded.problem_key,"
      " device_key = excluded.device_key, policy = excluded.policy, configuration_key = excluded.configuration_key,"
      " outcome = excluded.outcome, stage = excluded.stage, verified = excluded.verified,"
      " detail_json = excluded.detail_json, driver = excluded.driver, nvrtc = excluded.nvrtc,"
      " recorded_at = excluded.recorded_at, origin = excluded.origin",
      key, checksum(key, row), row.template_hash, problem, row.device_key, row.policy, configuration, row.outcome,
      row.stage, row.verified, row.detail_json, row.driver, row.nvrtc, row.recorded_at, row.origin);
  // Other metrics of a replaced record belong to the measurement that is gone.
  statements.run("DELETE FROM metrics WHERE record_key = ?", key);
  if (row.median_us == 0 && row.low_us == 0 && row.high_us == 0 && row.samples == 0) return;
  // Or replace: where a damaged key hid the old one from the DELETE.
  statements.run("INSERT OR REPLACE INTO metrics (record_key, name, value, low, high, samples) VALUES (?, 'time_us', ?, ?, ?, ?)",
                 key, row.median_us, row.low_us, row.high_us, row.samples);
}

void write_row(StatementCache& statements, const std::string& key, const BestRow& row, const std::string& problem,
               const std::string& configuration) {
  statements.run(
      "INSERT OR REPLACE INTO best (key, checksum, template_hash, template_name, family, problem_key, sizes_json,"
      " device_key, policy, objective, configuration_key, median_us, default_us, tie, cubin_key, driver, recorded_at,"
      " detail_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      key, checksum(key, row), row.template_hash, row.template_name, row.family, problem, row.sizes_json,
      row.device_key, row.policy, row.objective, configuration, row.median_us, row.default_us, row.tie, row.cubin_key,
      row.driver, row.recorded_at, row.detail_json);
}

/// Which row of a key gives way: the one that comes earlier in the order, or the stored one, which the new one has seen.
enum class Replacing { Order, Seen };

/// Of rows that say the same the new one is stored: a best row may name a cubin that the old one lacks.
template <class State, class Row>
void store(State& state, Row row, const std::string& key, Replacing replacing) {
  const auto known = state.template stored<Row>(key);
  if (known && replacing == Replacing::Seen) supersede(row, *known);
  if (known && (replacing == Replacing::Seen ? !replaces(row, *known) : order(row, *known) < 0)) return;
  write_row(state.statements, key, row, state.store_problem(row.problem), state.store_configuration(row.configuration));
}

}  // namespace

void Database::put(const DeviceRow& row) {
  state_->write("storing a device", [&] { write_row(state_->statements, row); });
}

void Database::put(const TemplateRow& row) {
  state_->write("storing a template", [&] {
    state_->require_own_place<TemplateRow>(row.hash);
    write_row(state_->statements, row);
    for (const auto& [name, contents] : row.files) {
      const TemplateFileRow file{row.hash, name, contents};
      state_->require_own_place<TemplateFileRow>(Table<TemplateFileRow>::key(file));
      write_row(state_->statements, file);
    }
  });
}

void Database::put(const SessionRow& row) {
  state_->write("storing a session", [&] {
    state_->require_own_place<SessionRow>(row.key);
    write_row(state_->statements, row, state_->store_problem(row.problem));
  });
}

void Database::put(const RecordRow& row) {
  state_->write("storing a record", [&] { store(*state_, row, Table<RecordRow>::key(row), Replacing::Order); });
}

void Database::replace(RecordRow row) {
  state_->write("storing a record", [&] { store(*state_, row, Table<RecordRow>::key(row), Replacing::Seen); });
}

void Database::put(const BestRow& row) {
  state_->write("storing a best configuration", [&] { store(*state_, row, Table<BestRow>::key(row), Replacing::Order); });
}

void Database::replace(BestRow row) {
  state_->write("storing a best configuration", [&] { store(*state_, row, Table<BestRow>::key(row), Replacing::Seen); });
}

bool Database::settle(const SessionRow& seen, const SessionRow& settled) {
  bool stored = false;
  state_->write("settling a session", [&] {
    const auto now = state_->stored<SessionRow>(seen.key);
    stored = now && checksum(now->key, *now) == checksum(seen.key, seen);
    if (!stored) return;
    write_row(state_->statements, settled, state_->store_problem(settled.problem));
    state_->statements.run("DELETE FROM in_flight WHERE session_key = ?", seen.key);
  });
  return stored;
}

bool Database::offer(const DeviceRow& row) {
  bool taken = false;
  state_->write("storing a device", [&] {
    const auto known = state_->stored<DeviceRow>(row.hard_key);
    taken = !known || order(row, *known) > 0;
    if (taken) write_row(state_->statements, row);
  });
  return taken;
}

bool Database::offer(const TemplateRow& row) {
  bool taken = false;
  state_->write("storing a template", [&] {
    const auto known = state_->stored<TemplateRow>(row.hash);
    taken = !known || order(row, *known) > 0;
    if (taken) write_row(state_->statements, row);
    for (const auto& [name, contents] : row.files) {
      const TemplateFileRow file{row.hash, name, contents};
      const auto known_file = state_->stored<TemplateFileRow>(Table<TemplateFileRow>::key(file));
      if (known_file && order(file, *known_file) <= 0) continue;
      write_row(state_->statements, file);
      taken = true;
    }
  });
  return taken;
}

bool Database::offer(const SessionRow& row) {
  bool taken = false;
  state_->write("storing a session", [&] {
    const auto known = state_->stored<SessionRow>(row.key);
    taken = !known || order(row, *known) > 0;
    if (taken) write_row(state_->statements, row, state_->store_problem(row.problem));
  });
  return taken;
}

bool Database::offer(const RecordRow& row) {
  bool taken = false;
  state_->write("storing a record", [&] {
    const std::string key = Table<RecordRow>::key(row);
    const auto known = state_->stored<RecordRow>(key);
    taken = !known || order(row, *known) > 0;
    if (!taken) return;
    write_row(state_->statements, key, row, state_->store_problem(row.problem),
              state_->store_configuration(row.configuration));
  });
  return taken;
}

bool Database::offer(const BestRow& row) {
  bool taken = false;
  state_->write("storing a best configuration", [&] {
    const std::string key = Table<BestRow>::key(row);
    const auto known = state_->stored<BestRow>(key);
    taken = !known || order(row, *known) > 0;
    if (!taken) return;
    BestRow stripped = row;
    stripped.cubin_key.clear();
    write_row(state_->statements, key, stripped, state_->store_problem(row.problem),
              state_->store_configuration(row.configuration));
  });
  return taken;
}

}  // namespace attune::db
