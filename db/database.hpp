#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attune/error.hpp"
#include "db/guard.hpp"
#include "db/prune.hpp"
#include "db/records.hpp"

namespace attune::db {

enum class OpenMode {
  ReadWrite,  ///< creates and migrates; a damaged database of ours is mended, or set aside under a file lock and named
  ReadOnly,   ///< stores nothing, never creates; works in read-only folders; plays back the journal of a writer that died
};

/// One tuning database file. Every `put` is its own committed transaction (BEGIN IMMEDIATE) unless a Batch is open.
/// Where two records, or two best rows, have one key, the later in the order of db/row_order.hpp is kept, whichever came first.
/// Rows carry checksums: a row whose checksum fails is skipped and counted (`bad_rows()`), never returned.
/// Thread-safety: one thread at a time for each instance; many processes may share the file.
class Database {
  struct State;

 public:
  static constexpr int kSchemaVersion = 3;
  /// What stands for the path of a database in memory. No path: `open` makes a file of it.
  static constexpr const char* kInMemory = ":memory:";

  /// Whatever is done with the database asks `keep_going` now and then and ends when it says false. A file that is not one of
  /// ours is refused and stays as it is. What could be read of a file that was set aside is in the new one.
  /// Throws: DatabaseError with path and remedy: no database of ours, newer schema (file untouched), cannot be created or
  /// opened; Error (ExitCode::Interrupted).
  [[nodiscard]] static Database open(const std::filesystem::path& path, OpenMode mode, const KeepGoing& keep_going = {});
  /// An empty database of this process alone, gone with the object: for results that no file takes.
  [[nodiscard]] static Database open_in_memory();
  /// The same in a file without a name, for more rows than fit into memory. Throws: DatabaseError (no space where temporary
  /// files go).
  [[nodiscard]] static Database open_temporary();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Replaces: what a process sees of its device now is what counts.
  void put(const DeviceRow& row);
  /// Files that the row lacks and the database has stay: the hash says that they belong to it.
  void put(const TemplateRow& row);
  /// Inserts, or replaces the record of the same key (template, problem, device, policy, configuration) unless that one
  /// comes later in the order.
  void put(const RecordRow& row);
  /// Replaces: a session is written by the process it belongs to.
  void put(const SessionRow& row);
  /// Inserts, or replaces the best of the same (template, problem, device, policy, objective) unless that one comes later.
  void put(const BestRow& row);
  /// The same of a row that its process measured because of the one that is stored, or after it: replaces that one whatever
  /// clock dated it (`supersede` of db/row_order.hpp). Only a measured row is not replaced by one of a recording.
  void replace(RecordRow row);
  void replace(BestRow row);
  /// Stores `settled` in the place of `seen`, and clears what its process had in flight, unless the session has changed since it
  /// was seen. Returns whether it was stored.
  bool settle(const SessionRow& seen, const SessionRow& settled);
  /// A row of another database: stored when there is none of its key, or an earlier one in the order. Returns whether it
  /// was. A best row's cubin key is left out: cubins do not travel.
  bool offer(const DeviceRow& row);
  bool offer(const TemplateRow& row);
  bool offer(const RecordRow& row);
  /// The same, of a row whose key and checksum (db/tables.hpp) have been made.
  bool offer(const RecordRow& row, const std::string& key, const std::string& sum);
  bool offer(const SessionRow& row);
  bool offer(const BestRow& row);
  /// Dispatch falls back to other results. Requires: as best_of.
  void forget_best(const Query& query);
  void put_cubin(const std::string& key, const std::string& cubin, const std::string& detail_json);

  /// "In flight" is written before a configuration is handed to a GPU worker, so that a death names its culprit.
  void set_in_flight(const std::string& session_key, const std::string& configuration);
  void clear_in_flight(const std::string& session_key);
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> in_flight() const;  ///< (session, configuration)

  /// Records of one problem come in the order in which they were first stored; all other rows in an order of content.
  [[nodiscard]] std::vector<RecordRow> records(const Query& query) const;
  /// The same one by one, for what may not fit into memory together. `visit` must not use the database.
  void for_each_record(const Query& query, const std::function<void(const RecordRow&)>& visit) const;
  /// Which best rows travel: those with a verified record of their configuration beside them, or all, or none; or all and, of the
  /// other rows, only the devices and templates that they refer to (what is left out of those is not counted then).
  enum class BestRows { Verified, All, None, Alone };
  /// Gives every row that may travel to `sink`, as of one moment: docs/database.md, "Exchange". Counts what is left out. The order is one
  /// of content for BestRows::Verified (exports of equal databases are equal); else records of one problem come as they were first stored.
  /// `sink` must not use the database. Throws: DatabaseError, and what `sink` throws.
  [[nodiscard]] LeftOut for_each_row(RowSink& sink, BestRows best = BestRows::Verified) const;
  /// Every best row, one by one. `visit` must not use the database.
  void for_each_best(const std::function<void(const BestRow&)>& visit) const;
  /// The record of one configuration. Requires: `query` names template hash, problem, device and policy.
  [[nodiscard]] std::optional<RecordRow> record(const Query& query, const std::string& configuration) const;
  [[nodiscard]] std::vector<SessionRow> sessions(const Query& query) const;
  [[nodiscard]] std::vector<DeviceRow> devices() const;
  /// A row without some of its files (not stored, or damaged) has the others.
  [[nodiscard]] std::vector<TemplateRow> templates() const;
  [[nodiscard]] std::vector<BestRow> best(const Query& query) const;
  /// What dispatch's lookup chooses from: best rows of this template hash, family and policy on any device and size.
  [[nodiscard]] std::vector<BestRow> candidates(const std::string& template_hash, const std::string& family,
                                                const std::string& policy) const;
  /// The best row of one problem, found by its key. Requires: `query` names template hash, problem, device and policy; without an objective
  /// kTime is meant.
  [[nodiscard]] std::optional<BestRow> best_of(const Query& query) const;
  /// What there is of a family when `candidates` has nothing: best rows of every version of the template of this name, under
  /// any policy. Counts index entries, damaged rows' too: to tell, not to choose from.
  [[nodiscard]] std::vector<BestCount> best_counts(const std::string& template_name, const std::string& family) const;
  /// All problems and devices that have records under this policy, for every version of the template of this name. Counts index entries,
  /// damaged rows' too.
  [[nodiscard]] std::vector<MeasuredProblem> measured_problems(const std::string& template_name, const std::string& policy) const;
  /// The `fastest` configurations of one problem, then `others`, which may repeat them, in an order that has nothing to do with their
  /// times. Checksums are not looked at: for a search to begin with, never as a result. Requires: `query` names template hash, problem,
  /// device and policy.
  [[nodiscard]] std::vector<TimeRow> times(const Query& query, std::uint64_t fastest, std::uint64_t others) const;
  [[nodiscard]] std::optional<std::string> cubin(const std::string& key) const;

  /// Equal only while no row can have changed: the same opened file, which neither another connection nor this one has written to since. Of
  /// a file that was opened as one that does not change (read only, where locks cannot be had) it stays the same whatever others do, as
  /// what is read does.
  struct Version {
    std::uint64_t opened = 0, by_others = 0, by_own = 0;
    [[nodiscard]] bool operator==(const Version&) const = default;
  };
  /// Throws: DatabaseError.
  [[nodiscard]] Version version() const;

  [[nodiscard]] const std::filesystem::path& path() const;  ///< absolute
  [[nodiscard]] Info info() const;
  [[nodiscard]] CheckReport check() const;
  [[nodiscard]] std::uint64_t bad_rows() const;
  /// What the last read that failed has thrown, for who goes on without it; empty when none has failed.
  [[nodiscard]] const std::string& read_failure() const;
  /// Messages of opening: a file set aside, a read-only fallback. Empty when nothing happened.
  [[nodiscard]] const std::vector<std::string>& notices() const;
  /// Gives space that removed rows held back to the file system. `keep_going` is asked now and then; on false the file stays
  /// as it was. Requires: no Batch. Throws: DatabaseError when another process is writing to it, or `keep_going` said so.
  [[nodiscard]] VacuumReport vacuum(const KeepGoing& keep_going);
  /// Lets so many MiB of pages stay in memory from now on, as far as there are so many: for whoever stores rows that hit pages anywhere.
  void keep_in_memory(int mebibytes);
  /// What `prune` would remove now. Changes nothing. Throws: DatabaseError.
  [[nodiscard]] PruneReport would_prune(const PruneRequest& request) const;
  /// Removes rows, as one transaction; db/prune_plan.hpp says which. Their space stays in the file until `vacuum`.
  /// Throws: DatabaseError; Error (ExitCode::Interrupted) before it is committed: nothing is removed then.
  PruneReport prune(const PruneRequest& request);
  /// Copies into a new file in journal_mode=DELETE (readable in read-only folders). Throws: DatabaseError; no leftovers.
  void export_to(const std::filesystem::path& path) const;

  /// Several puts as one transaction; rolls back unless `commit` was called.
  class Batch {
   public:
    /// Requires: `database` outlives it, is open for writing and has no other Batch. Throws: DatabaseError.
    explicit Batch(Database& database);
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();
    /// Throws: DatabaseError when this or an earlier put failed; nothing of the batch is stored then.
    void commit();

   private:
    State* state_;  ///< null once committed
  };

 private:
  explicit Database(std::unique_ptr<State> state);
  static Database make_private(const char* name, const char* file);
  /// Without a write-ahead log. Throws: DatabaseError.
  void put_into_one_file();
  std::unique_ptr<State> state_;
};

/// $ATTUNE_DB, else <XDG data folder>/attune/attune.db. Throws: DatabaseError when neither is known (no HOME).
[[nodiscard]] std::filesystem::path default_path();

/// Of the SQLite that runs: "3.40.1".
[[nodiscard]] std::string sqlite_version();

/// For programs, not for libraries, as it concerns every use of SQLite in the process: SQLite counts no memory from now on, for which
/// threads with databases of their own would wait for each other. Requires: no database has been opened.
void without_memory_statistics();

}  // namespace attune::db
