#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attune/error.hpp"
#include "db/records.hpp"

namespace attune::db {

enum class OpenMode {
  ReadWrite,  ///< creates and migrates; a corrupt file is set aside under a file lock and named
  ReadOnly,   ///< never writes, never creates; works in read-only folders
};

/// One tuning database file. Every `put` is its own committed transaction (BEGIN IMMEDIATE) unless a Batch is open.
/// Rows carry checksums: a row whose checksum fails is skipped and counted (`bad_rows()`), never returned.
/// Thread-safety: one thread at a time for each instance; many processes may share the file.
class Database {
  struct State;

 public:
  static constexpr int kSchemaVersion = 2;

  /// Throws: DatabaseError with path and remedy: newer schema (file untouched), cannot be created or opened.
  [[nodiscard]] static Database open(const std::filesystem::path& path, OpenMode mode);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  void put(const DeviceRow& row);
  /// Files that the row lacks and the database has stay: the hash says that they belong to it.
  void put(const TemplateRow& row);
  /// Inserts, or replaces the record of the same key (template, problem, device, policy, configuration).
  void put(const RecordRow& row);
  void put(const SessionRow& row);
  /// Inserts or replaces the best of the same (template, problem, device, policy, objective).
  void put(const BestRow& row);
  void put_cubin(const std::string& key, const std::string& cubin, const std::string& detail_json);

  /// "In flight" is written before a configuration is handed to a GPU worker, so that a death names its culprit.
  void set_in_flight(const std::string& session_key, const std::string& configuration);
  void clear_in_flight(const std::string& session_key);
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> in_flight() const;  ///< (session, configuration)

  /// Records of one problem come in the order in which they were first stored; all other rows in an order of content.
  [[nodiscard]] std::vector<RecordRow> records(const Query& query) const;
  /// The same one by one, for what may not fit into memory together. `visit` must not use the database.
  void for_each_record(const Query& query, const std::function<void(const RecordRow&)>& visit) const;
  /// The record of one configuration. Requires: `query` names template hash, problem, device and policy.
  [[nodiscard]] std::optional<RecordRow> record(const Query& query, const std::string& configuration) const;
  [[nodiscard]] std::vector<SessionRow> sessions(const Query& query) const;
  [[nodiscard]] std::vector<DeviceRow> devices() const;
  /// A row without some of its files (not stored, or damaged) has the others.
  [[nodiscard]] std::vector<TemplateRow> templates() const;
  [[nodiscard]] std::vector<BestRow> best(const Query& query) const;
  /// What the dispatch ladder chooses from: best rows of this template hash, family and policy on any device and size.
  [[nodiscard]] std::vector<BestRow> candidates(const std::string& template_hash, const std::string& family,
                                                const std::string& policy) const;
  /// What there is of a family when `candidates` has nothing: best rows of every version of the template of this name, under
  /// any policy. Counts index entries, damaged rows' too: to tell, not to choose from.
  [[nodiscard]] std::vector<BestCount> best_counts(const std::string& template_name, const std::string& family) const;
  [[nodiscard]] std::optional<std::string> cubin(const std::string& key) const;

  [[nodiscard]] Info info() const;
  [[nodiscard]] CheckReport check() const;
  [[nodiscard]] std::uint64_t bad_rows() const;
  /// Messages of opening: a file set aside, a read-only fallback. Empty when nothing happened.
  [[nodiscard]] const std::vector<std::string>& notices() const;
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
  std::unique_ptr<State> state_;
};

/// $ATTUNE_DB, else <XDG data folder>/attune/attune.db. Throws: DatabaseError when neither is known (no HOME).
[[nodiscard]] std::filesystem::path default_path();

}  // namespace attune::db
