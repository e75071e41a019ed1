#include "db/database.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "db/database_state.hpp"
#include "db/salvage.hpp"
#include "tuner/base/files.hpp"

namespace attune::db {

void Database::State::require_writable(const char* doing) const {
  const auto refuse = [&](const char* why) {
    throw DatabaseError(path.string(), fmt::format("failed {} in database '{}': {}", doing, path.string(), why));
  };
  if (mode == OpenMode::ReadOnly) refuse("it was opened read-only");
  if (batch == BatchState::Failed) refuse("the batch it belongs to has failed before and was rolled back");
}

void Database::State::refuse_index(const char* table) const {
  mark_suspect(path);
  throw DatabaseError(
      path.string(),
      fmt::format("failed writing to database '{}': the table {} or an index of it is damaged: it leads to another row than was "
                  "asked for; the next tuning run mends the file",
                  path.string(), table));
}

void Database::State::roll_back() noexcept {
  if (batch == BatchState::Open) batch = BatchState::Failed;
  // SQLite has rolled back by itself after some errors (a full disk). A ROLLBACK that fails leaves nothing to do: the
  // failure that led here is the one that is told.
  if (sqlite3_get_autocommit(connection.sqlite->getHandle()) == 0) (void)connection.sqlite->tryExec("ROLLBACK");
}

std::string Database::State::store_text(KnownTexts& known, const char* table, const std::string& text) {
  constexpr std::size_t kMostKnown = 100'000;
  const bool batched = batch == BatchState::Open;
  std::string key = base::content_key(text);
  if (batched && known.contains(key)) return key;
  statements.run(fmt::format("INSERT INTO {} (key, text) VALUES (?, ?)"
                             " ON CONFLICT (key) DO UPDATE SET text = excluded.text WHERE text <> excluded.text",
                             table),
                 key, text);
  if (batched) {
    if (known.size() >= kMostKnown) known.clear();
    known.insert(key);
  }
  return key;
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Database Database::open(const std::filesystem::path& path, OpenMode mode, const KeepGoing& keep_going) {
  if (path.empty()) throw DatabaseError("", "failed opening a database: its path is empty; pass one with --db");
  std::error_code error;
  // One name for one file: the -wal and .lock files of a database are found by its name.
  std::filesystem::path file = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) file = std::filesystem::absolute(path);
  // Before anything reads its first bytes: a pipe or a device would be waited for.
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status)) {
    throw DatabaseError(
        file.string(),
        fmt::format("failed opening database '{}': it is a pipe, socket or device; name a file with ATTUNE_DB or --db", file.string()));
  }
  const Salvager salvager = [](const std::filesystem::path& damaged, const std::filesystem::path& fresh, const KeepGoing& go_on) {
    Database database(std::make_unique<State>(fresh, OpenMode::ReadWrite, go_on, Salvager()));
    const std::uint64_t rows = salvage(database, damaged, go_on);
    database.put_into_one_file();
    return rows;
  };
  return Database(std::make_unique<State>(std::move(file), mode, keep_going, salvager));
}

void Database::put_into_one_file() {
  state_->guard().begin("completing");
  try {
    const std::string mode = state_->connection.sqlite->execAndGet("PRAGMA journal_mode = DELETE").getString();
    if (mode == "delete") return;
    throw DatabaseError(state_->path.string(),
                        fmt::format("failed completing database '{}': it stays in journal mode '{}'", state_->path.string(), mode));
  } catch (const SQLite::Exception& error) {
    state_->guard().explain_interruption("completing");
    throw_sqlite_failure(state_->path, "completing it", error);
  }
}

void Database::clear_in_flight(const std::string& session_key) {
  state_->write("clearing what is in flight", [&] { state_->statements.run("DELETE FROM in_flight WHERE session_key = ?", session_key); });
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
    state_->scan<RecordRow>(state_->select_of<RecordRow>() + filter.where + Table<RecordRow>::kOrder, filter.values, give,
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
  auto rows =
      state_->select<RecordRow>({" WHERE t.key = ?", {key}}, [&](const RecordRow& row) { return Table<RecordRow>::key(row) == key; });
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

namespace {

std::string best_key(const Query& query) {
  BestRow wanted;
  wanted.template_hash = query.template_hash.value();
  wanted.problem = query.problem.value();
  wanted.device_key = query.device_key.value();
  wanted.policy = query.policy.value();
  wanted.objective = query.objective.value_or(kTime);
  return Table<BestRow>::key(wanted);
}

}  // namespace

std::optional<BestRow> Database::best_of(const Query& query) const {
  const std::string key = best_key(query);
  auto rows = state_->select<BestRow>({" WHERE t.key = ?", {key}}, [&](const BestRow& row) { return Table<BestRow>::key(row) == key; });
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

void Database::forget_best(const Query& query) {
  state_->write("forgetting a best configuration", [&] {
    const std::string key = best_key(query);
    state_->require_own_place<BestRow>(key);
    state_->statements.run("DELETE FROM best WHERE key = ?", key);
  });
}

std::vector<BestRow> Database::candidates(const std::string& template_hash, const std::string& family, const std::string& policy) const {
  const Filter filter{" WHERE t.template_hash = ? AND t.family = ? AND t.policy = ?", {template_hash, family, policy}};
  return state_->select<BestRow>(
      filter, [&](const BestRow& row) { return row.template_hash == template_hash && row.family == family && row.policy == policy; });
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
  std::vector<CubinRow> rows = state_->select<CubinRow>({" WHERE key = ?", {key}}, [&](const CubinRow& row) { return row.key == key; });
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front().cubin);
}

const std::filesystem::path& Database::path() const { return state_->path; }

std::uint64_t Database::bad_rows() const { return state_->bad.size(); }

Database::Version Database::version() const {
  return state_->reading([&] {
    static const std::string sql = "PRAGMA data_version";
    Use use(state_->statements.prepared(sql));
    static_cast<void>(use.step());  // a pragma has its row
    Version version{state_->opened_as, 0, static_cast<std::uint64_t>(sqlite3_total_changes64(state_->connection.sqlite->getHandle()))};
    ColumnReader read(use.row());
    read(version.by_others);
    return version;
  });
}

const std::string& Database::read_failure() const { return state_->read_failure; }

const std::vector<std::string>& Database::notices() const { return state_->connection.notices; }

Database::Batch::Batch(Database& database) : state_(database.state_.get()) {
  state_->require_writable("beginning a batch");
  if (state_->batch != State::BatchState::None) {
    throw DatabaseError(state_->path.string(),
                        fmt::format("failed beginning a batch in database '{}': one is open", state_->path.string()));
  }
  state_->guard().begin("writing to");
  try {
    state_->statements.run("BEGIN IMMEDIATE");
  } catch (const SQLite::Exception& error) {
    state_->guard().explain_interruption("writing to");
    throw_sqlite_failure(state_->path, "beginning a batch", error);
  }
  state_->batch = State::BatchState::Open;
  state_->known_problems.clear();
  state_->known_configurations.clear();
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
      throw DatabaseError(state->path.string(), fmt::format("failed committing a batch to database '{}': one of its rows could not be "
                                                            "stored, and all were rolled back",
                                                            state->path.string()));
    }
    state->guard().begin_ending();
    state->statements.run("COMMIT");
  } catch (const SQLite::Exception& error) {
    state->roll_back();
    state->note_damage(error);
    state->guard().explain_interruption("writing to");
    throw_sqlite_failure(state->path, "committing a batch", error);
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

std::string sqlite_version() { return ::sqlite3_libversion(); }

void without_memory_statistics() { static_cast<void>(::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0)); }

}  // namespace attune::db
