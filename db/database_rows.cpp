// How rows are stored: put by the process that measured them, offered by one that reads another database.
#include "db/database_state.hpp"
#include "db/row_order.hpp"
#include "db/row_sql.hpp"

namespace attune::db {
namespace {

/// What the columns of the row's own table take. A text that is held elsewhere is stored there.
template <class State, class Row>
void bind_columns(State& state, Use& use, const Row& row) {
  for_each_column<Row>([&]<class Value>(const Column<Row, Value>& column) {
    const Value& value = row.*column.member;
    if (std::string_view(column.name) == Table<Row>::kKey || column.held == Held::Time) return;
    if constexpr (std::is_same_v<Value, std::string>) {
      if (column.held == Held::Problem)
        use.bind(state.store_problem(value));
      else if (column.held == Held::Configuration)
        use.bind(state.store_configuration(value));
      else if (column.held == Held::Bytes)
        use.bind(Blob{value});
      else
        use.bind(value);
    } else {
      use.bind(value);
    }
  });
}

/// Statements that millions of rows go through: their texts are made once.
const std::string kForgetMetrics = "DELETE FROM metrics WHERE record_key = ?";
// Or replace: where a damaged key hid the old one from the statement above.
const std::string kStoreTime =
    "INSERT OR REPLACE INTO metrics (record_key, name, value, low, high, samples) VALUES (?, 'time_us', ?, ?, ?, ?)";

template <class State>
void write_time(State& state, const std::string& key, const RecordRow& row) {
  state.statements.run(kStoreTime, key, row.median_us, row.low_us, row.high_us, row.samples);
}

bool has_time(const RecordRow& row) { return row.median_us != 0 || row.low_us != 0 || row.high_us != 0 || row.samples != 0; }

/// Stores a row; a TemplateRow without its files.
template <class State, class Row>
void write_row(State& state, const Row& row) {
  const std::string key = Table<Row>::key(row);
  Use use(state.statements.prepared(insert_sql<Row>()));
  use.bind(key).bind(checksum(key, row));
  bind_columns(state, use, row);
  use.run();
  if constexpr (std::is_same_v<Row, RecordRow>) {
    // Other metrics of a replaced record belong to the measurement that is gone.
    state.statements.run(kForgetMetrics, key);
    if (has_time(row)) write_time(state, key, row);
  }
}

/// Stores a record unless its key has one, which is what the index of keys is asked for in the same step. Returns whether it was stored.
template <class State>
bool write_new_record(State& state, const std::string& key, const std::string& sum, const RecordRow& row) {
  Use use(state.statements.prepared(insert_new_sql<RecordRow>()));
  use.bind(key).bind(sum);
  bind_columns(state, use, row);
  if (use.run() == 0) return false;
  if (has_time(row))
    write_time(state, key, row);
  else
    state.statements.run(kForgetMetrics, key);  // of a record that was lost
  return true;
}

/// Which row of a key gives way: the one that comes earlier in the order, or the stored one, which the new one has seen.
enum class Replacing { Order, Seen };

/// Where two rows say the same, the new one is stored: a best row may name a cubin that the old one lacks.
template <class State, class Row>
void store(State& state, Row row, const std::string& key, Replacing replacing) {
  const auto known = state.template stored<Row>(key);
  if (known && replacing == Replacing::Seen) supersede(row, *known);
  if (known && (replacing == Replacing::Seen ? !replaces(row, *known) : order(row, *known) < 0)) return;
  write_row(state, row);
}

}  // namespace

void Database::put(const DeviceRow& row) {
  state_->write("storing a device", [&] { write_row(*state_, row); });
}

void Database::put(const TemplateRow& row) {
  state_->write("storing a template", [&] {
    state_->require_own_place<TemplateRow>(row.hash);
    write_row(*state_, row);
    for (const auto& [name, contents] : row.files) {
      const TemplateFileRow file{row.hash, name, contents};
      state_->require_own_place<TemplateFileRow>(Table<TemplateFileRow>::key(file));
      write_row(*state_, file);
    }
  });
}

void Database::put(const SessionRow& row) {
  state_->write("storing a session", [&] {
    state_->require_own_place<SessionRow>(row.key);
    write_row(*state_, row);
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

void Database::put_cubin(const std::string& key, const std::string& cubin, const std::string& detail_json) {
  state_->write("storing a cubin", [&] {
    state_->require_own_place<CubinRow>(key);
    write_row(*state_, CubinRow{key, cubin, detail_json});
  });
}

void Database::set_in_flight(const std::string& session_key, const std::string& configuration) {
  state_->write("storing what is in flight", [&] { write_row(*state_, InFlightRow{session_key, configuration}); });
}

bool Database::settle(const SessionRow& seen, const SessionRow& settled) {
  bool stored = false;
  state_->write("settling a session", [&] {
    const auto now = state_->stored<SessionRow>(seen.key);
    stored = now && checksum(now->key, *now) == checksum(seen.key, seen);
    if (!stored) return;
    write_row(*state_, settled);
    state_->statements.run("DELETE FROM in_flight WHERE session_key = ?", seen.key);
  });
  return stored;
}

bool Database::offer(const DeviceRow& row) {
  bool taken = false;
  state_->write("storing a device", [&] {
    const auto known = state_->stored<DeviceRow>(row.hard_key);
    taken = !known || order(row, *known) > 0;
    if (taken) write_row(*state_, row);
  });
  return taken;
}

bool Database::offer(const TemplateRow& row) {
  bool taken = false;
  state_->write("storing a template", [&] {
    const auto known = state_->stored<TemplateRow>(row.hash);
    taken = !known || order(row, *known) > 0;
    if (taken) write_row(*state_, row);
    for (const auto& [name, contents] : row.files) {
      const TemplateFileRow file{row.hash, name, contents};
      const auto known_file = state_->stored<TemplateFileRow>(Table<TemplateFileRow>::key(file));
      if (known_file && order(file, *known_file) <= 0) continue;
      write_row(*state_, file);
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
    if (taken) write_row(*state_, row);
  });
  return taken;
}

bool Database::offer(const RecordRow& row) {
  const std::string key = Table<RecordRow>::key(row);
  return offer(row, key, checksum(key, row));
}

bool Database::offer(const RecordRow& row, const std::string& key, const std::string& sum) {
  bool taken = false;
  state_->write("storing a record", [&] {
    taken = write_new_record(*state_, key, sum, row);  // most are new
    if (taken) return;
    const auto known = state_->stored<RecordRow>(key);
    taken = !known || order(row, *known) > 0;
    if (taken) write_row(*state_, row);
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
    write_row(*state_, stripped);
  });
  return taken;
}

}  // namespace attune::db
