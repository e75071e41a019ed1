#include "db/database.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "db/database_state.hpp"
#include "tuner/base/files.hpp"

namespace attune::db {

void Database::State::require_writable(const char* doing) const {
  const auto refuse = [&](const char* why) {
    throw DatabaseError(path.string(), fmt::format("failed {} in database '{}': {}", doing, path.string(), why));
  };
  if (mode == OpenMode::ReadOnly) refuse("it was opened read-only");
  if (batch == BatchState::Failed) refuse("the batch it belongs to has failed before and was rolled back");
}

void Database::State::roll_back() noexcept {
  if (batch == BatchState::Open) batch = BatchState::Failed;
  // SQLite has rolled back by itself after some errors (a full disk). A ROLLBACK that fails leaves nothing to do: the
  // failure that led here is the one that is told.
  if (sqlite3_get_autocommit(connection.sqlite->getHandle()) == 0) (void)connection.sqlite->tryExec("ROLLBACK");
}

std::string Database::State::store_problem(const std::string& text) {
  std::string key = base::content_key(text);
  statements.run(
      "INSERT INTO problems (key, text) VALUES (?, ?)"
      " ON CONFLICT (key) DO UPDATE SET text = excluded.text WHERE text <> excluded.text",
      key, text);
  return key;
}

std::string Database::State::store_configuration(const std::string& text) {
  std::string key = base::content_key(text);
  statements.run(
      "INSERT INTO configurations (key, text) VALUES (?, ?)"
      " ON CONFLICT (key) DO UPDATE SET text = excluded.text WHERE text <> excluded.text",
      key, text);
  return key;
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Database Database::open(const std::filesystem::path& path, OpenMode mode) {
  if (path.empty()) throw DatabaseError("", "failed opening a database: its path is empty; pass one with --db");
  std::error_code error;
  // One name for one file: the -wal and .lock files of a database are found by its name.
  std::filesystem::path file = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) file = std::filesystem::absolute(path);
  return Database(std::make_unique<State>(std::move(file), mode));
}

void Database::put(const DeviceRow& row) {
  state_->write("storing a device", [&] {
    state_->statements.run(
        "INSERT INTO devices (hard_key, checksum, hard_json, info_json) VALUES (?, ?, ?, ?) ON CONFLICT (hard_key)"
        " DO UPDATE SET checksum = excluded.checksum, hard_json = excluded.hard_json, info_json = excluded.info_json",
        row.hard_key, checksum(row.hard_key, row), row.hard_json, row.info_json);
  });
}

void Database::put(const TemplateRow& row) {
  state_->write("storing a template", [&] {
    state_->statements.run(
        "INSERT INTO templates (hash, checksum, name, spec_json) VALUES (?, ?, ?, ?) ON CONFLICT (hash)"
        " DO UPDATE SET checksum = excluded.checksum, name = excluded.name, spec_json = excluded.spec_json",
        row.hash, checksum(row.hash, row), row.name, row.spec_json);
    for (const auto& [name, contents] : row.files) {
      const TemplateFileRow file{row.hash, name, contents};
      const std::string key = Table<TemplateFileRow>::key(file);
      state_->statements.run(
          "INSERT OR REPLACE INTO template_files (key, checksum, template_hash, name, contents) VALUES (?, ?, ?, ?, ?)",
          key, checksum(key, file), row.hash, name, Blob{contents});
    }
  });
}

void Database::put(const RecordRow& row) {
  state_->write("storing a record", [&] {
    const std::string key = Table<RecordRow>::key(row);
    const std::string problem = state_->store_problem(row.problem);
    const std::string configuration = state_->store_configuration(row.configuration);
    state_->statements.run(
        "INSERT INTO records (key, checksum, template_hash, problem_key, device_key, policy, configuration_key,"
        " outcome, stage, verified, detail_json, driver, nvrtc, recorded_at, origin)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
        " checksum = excluded.checksum, template_hash = excluded.template_hash, problem_key = excluded.problem_key,"
        " device_key = excluded.device_key, policy = excluded.policy, configuration_key = excluded.configuration_key,"
        " outcome = excluded.outcome, stage = excluded.stage, verified = excluded.verified,"
        " detail_json = excluded.detail_json, driver = excluded.driver, nvrtc = excluded.nvrtc,"
        " recorded_at = excluded.recorded_at, origin = excluded.origin",
        key, checksum(key, row), row.template_hash, problem, row.device_key, row.policy, configuration, row.outcome,
        row.stage, row.verified, row.detail_json, row.driver, row.nvrtc, row.recorded_at, row.origin);
    // Other metrics of a replaced record belong to the measurement that is gone.
    state_->statements.run("DELETE FROM metrics WHERE record_key = ?", key);
    if (row.median_us == 0 && row.low_us == 0 && row.high_us == 0 && row.samples == 0) return;
    state_->statements.run(
        "INSERT INTO metrics (record_key, name, value, low, high, samples) VALUES (?, 'time_us', ?, ?, ?, ?)", key,
        row.median_us, row.low_us, row.high_us, row.samples);
  });
}

void Database::put(const SessionRow& row) {
  state_->write("storing a session", [&] {
    const std::string problem = state_->store_problem(row.problem);
    state_->statements.run(
        "INSERT OR REPLACE INTO sessions (key, checksum, template_hash, problem_key, device_key, policy, strategy, "
        "seed,"
        " state, space_size, started_at, finished_at, summary_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.key, checksum(row.key, row), row.template_hash, problem, row.device_key, row.policy, row.strategy, row.seed,
        row.state, row.space_size, row.started_at, row.finished_at, row.summary_json);
  });
}

void Database::put(const BestRow& row) {
  state_->write("storing a best configuration", [&] {
    const std::string key = Table<BestRow>::key(row);
    const std::string problem = state_->store_problem(row.problem);
    const std::string configuration = state_->store_configuration(row.configuration);
    state_->statements.run(
        "INSERT OR REPLACE INTO best (key, checksum, template_hash, template_name, family, problem_key, sizes_json,"
        " device_key, policy, objective, configuration_key, median_us, default_us, tie, cubin_key, driver, recorded_at,"
        " detail_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        key, checksum(key, row), row.template_hash, row.template_name, row.family, problem, row.sizes_json,
        row.device_key, row.policy, row.objective, configuration, row.median_us, row.default_us, row.tie, row.cubin_key,
        row.driver, row.recorded_at, row.detail_json);
  });
}

void Database::put_cubin(const std::string& key, const std::string& cubin, const std::string& detail_json) {
  state_->write("storing a cubin", [&] {
    state_->statements.run("INSERT OR REPLACE INTO cubins (key, checksum, cubin, detail_json) VALUES (?, ?, ?, ?)", key,
                           checksum(key, CubinRow{key, cubin, detail_json}), Blob{cubin}, detail_json);
  });
}

void Database::set_in_flight(const std::string& session_key, const std::string& configuration) {
  state_->write("storing what is in flight", [&] {
    state_->statements.run("INSERT OR REPLACE INTO in_flight (session_key, checksum, configuration) VALUES (?, ?, ?)",
                           session_key, checksum(session_key, InFlightRow{session_key, configuration}), configuration);
  });
}

void Database::clear_in_flight(const std::string& session_key) {
  state_->write("clearing what is in flight",
                [&] { state_->statements.run("DELETE FROM in_flight WHERE session_key = ?", session_key); });
}

std::vector<std::pair<std::string, std::string>> Database::in_flight() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (InFlightRow& row : state_->select<InFlightRow>({}, [](const auto&) { return true; })) {
    pairs.emplace_back(std::move(row.session_key), std::move(row.configuration));
  }
  return pairs;
}

std::vector<RecordRow> Database::records(const Query& query) const {
  return state_->select<RecordRow>(filter_of<RecordRow>(query), [&](const auto& row) { return matches(query, row); });
}

void Database::for_each_record(const Query& query, const std::function<void(const RecordRow&)>& visit) const {
  const Filter filter = filter_of<RecordRow>(query);
  const auto give = [&](const RecordRow& row) {
    if (!matches(query, row)) return false;
    visit(row);
    return true;
  };
  state_->reading([&] {
    state_->scan<RecordRow>(std::string(Table<RecordRow>::kSelect) + filter.where + Table<RecordRow>::kOrder, filter.values, give,
                            [](const std::string&) {});
  });
}

std::optional<RecordRow> Database::record(const Query& query, const std::string& configuration) const {
  RecordRow wanted;
  wanted.template_hash = query.template_hash.value();
  wanted.problem = query.problem.value();
  wanted.device_key = query.device_key.value();
  wanted.policy = query.policy.value();
  wanted.configuration = configuration;
  const std::string key = Table<RecordRow>::key(wanted);
  auto rows = state_->select<RecordRow>({" WHERE t.key = ?", {key}},
                                        [&](const RecordRow& row) { return Table<RecordRow>::key(row) == key; });
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

std::vector<SessionRow> Database::sessions(const Query& query) const {
  return state_->select<SessionRow>(filter_of<SessionRow>(query), [&](const auto& row) { return matches(query, row); });
}

std::vector<DeviceRow> Database::devices() const {
  return state_->select<DeviceRow>({}, [](const auto&) { return true; });
}

std::vector<TemplateRow> Database::templates() const {
  std::vector<TemplateRow> rows = state_->select<TemplateRow>({}, [](const auto&) { return true; });
  std::unordered_map<std::string, TemplateRow*> by_hash;
  for (TemplateRow& row : rows) by_hash.emplace(row.hash, &row);
  for (TemplateFileRow& file : state_->select<TemplateFileRow>({}, [](const auto&) { return true; })) {
    const auto owner = by_hash.find(file.template_hash);
    if (owner != by_hash.end()) owner->second->files.emplace(std::move(file.name), std::move(file.contents));
  }
  return rows;
}

std::vector<BestRow> Database::best(const Query& query) const {
  return state_->select<BestRow>(filter_of<BestRow>(query), [&](const auto& row) {
    return matches(query, row) && (!query.template_name || *query.template_name == row.template_name);
  });
}

std::vector<BestRow> Database::candidates(const std::string& template_hash, const std::string& family,
                                          const std::string& policy) const {
  const Filter filter{" WHERE t.template_hash = ? AND t.family = ? AND t.policy = ?", {template_hash, family, policy}};
  return state_->select<BestRow>(filter, [&](const BestRow& row) {
    return row.template_hash == template_hash && row.family == family && row.policy == policy;
  });
}

std::vector<BestCount> Database::best_counts(const std::string& template_name, const std::string& family) const {
  return state_->reading([&] {
    // From version to version by the index best_by_family, one row read for the name of each: reading every row of the name
    // would take a tenth of a second for ten thousand.
    Use use(state_->statements.prepared(
        "WITH RECURSIVE version (hash) AS (SELECT min(template_hash) FROM best UNION ALL"
        " SELECT (SELECT min(template_hash) FROM best WHERE template_hash > hash) FROM version WHERE hash IS NOT NULL)"
        " SELECT t.template_hash, t.policy, count(*) FROM version CROSS JOIN best t"
        " WHERE t.template_hash = hash AND t.family = ?"
        " AND (SELECT template_name FROM best WHERE template_hash = hash LIMIT 1) = ?"
        " GROUP BY t.template_hash, t.policy ORDER BY t.template_hash, t.policy"));
    use.bind(family).bind(template_name);
    std::vector<BestCount> counts;
    while (use.step()) {
      ColumnReader read(use.row());
      BestCount count;
      read(count.template_hash);
      read(count.policy);
      read(count.rows);
      counts.push_back(std::move(count));
    }
    return counts;
  });
}

std::optional<std::string> Database::cubin(const std::string& key) const {
  std::vector<CubinRow> rows =
      state_->select<CubinRow>({" WHERE key = ?", {key}}, [&](const CubinRow& row) { return row.key == key; });
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front().cubin);
}

std::uint64_t Database::bad_rows() const { return state_->bad.size(); }

const std::vector<std::string>& Database::notices() const { return state_->connection.notices; }

Database::Batch::Batch(Database& database) : state_(database.state_.get()) {
  state_->require_writable("beginning a batch");
  if (state_->batch != State::BatchState::None) {
    throw DatabaseError(state_->path.string(),
                        fmt::format("failed beginning a batch in database '{}': one is open", state_->path.string()));
  }
  try {
    state_->statements.run("BEGIN IMMEDIATE");
  } catch (const SQLite::Exception& error) {
    throw sqlite_failure(state_->path, "beginning a batch", error);
  }
  state_->batch = State::BatchState::Open;
}

Database::Batch::~Batch() {
  if (state_ == nullptr) return;
  state_->roll_back();
  state_->batch = State::BatchState::None;
}

void Database::Batch::commit() {
  State* const state = std::exchange(state_, nullptr);
  if (state == nullptr) throw Error("failed committing a batch: it was committed before");
  const State::BatchState was = std::exchange(state->batch, State::BatchState::None);
  try {
    if (was == State::BatchState::Failed) {
      throw DatabaseError(state->path.string(),
                          fmt::format("failed committing a batch to database '{}': one of its rows could not be "
                                      "stored, and all were rolled back",
                                      state->path.string()));
    }
    state->statements.run("COMMIT");
  } catch (const SQLite::Exception& error) {
    state->roll_back();
    throw sqlite_failure(state->path, "committing a batch", error);
  }
}

std::filesystem::path default_path() {
  const char* const named = std::getenv("ATTUNE_DB");
  if (named != nullptr && named[0] != '\0') return named;
  const std::filesystem::path folder = base::data_folder();
  if (folder.empty()) {
    throw DatabaseError("",
                        "failed locating the database: none of ATTUNE_DB, XDG_DATA_HOME and HOME is set; "
                        "name a file with ATTUNE_DB or --db");
  }
  return folder / "attune.db";
}

}  // namespace attune::db
