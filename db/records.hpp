#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attune::db {

/// Plain rows. Keys are content keys or canonical JSON, never local ids, so that databases merge. db/ knows neither
/// CUDA nor the template language: it stores and returns texts and numbers.

struct DeviceRow {
  std::string hard_key;   ///< spec::DeviceInfo::hard_key()
  std::string hard_json;  ///< canonical
  std::string info_json;  ///< everything known, soft fields too; the newest wins
};

struct TemplateRow {
  std::string hash;
  std::string name;
  std::string spec_json;
  std::map<std::string, std::string> files = {};  ///< source files: name, contents; none in what schema 1 stored
};

/// A stored measurement of one configuration.
struct RecordRow {
  std::string template_hash;
  std::string problem;  ///< canonical JSON, sizes included
  std::string device_key;
  std::string policy;         ///< "cold/graph"
  std::string configuration;  ///< canonical JSON
  std::string outcome;        ///< "ok", "compile_failed", ...
  std::string stage;          ///< "none", "screened", "measured", "run_off"
  bool verified = false;
  double median_us = 0;  ///< 0 unless outcome is ok
  double low_us = 0;
  double high_us = 0;
  int samples = 0;
  std::string detail_json;  ///< the whole measurement (spreads, resources, clocks, reason of failure)
  std::string driver;
  std::string nvrtc;
  std::string recorded_at;  ///< UTC, ISO 8601
  std::string origin;       ///< "measured" or "recording:<file>"
};

struct SessionRow {
  std::string key;  ///< content key of (template, problem, device, policy, strategy, seed, started)
  std::string template_hash;
  std::string problem;
  std::string device_key;
  std::string policy;
  std::string strategy;
  std::uint64_t seed = 0;
  std::string state;  ///< "running", "finished", "interrupted"
  std::uint64_t space_size = 0;
  std::string started_at;
  std::string finished_at;
  std::string summary_json;
};

/// What a best row is best at: the least time, of what was verified; or of a template without a reference, of which nothing is. Those
/// stay in their database (they are not merged, exported or shipped) and are dispatched only where a program asks for them.
inline constexpr const char* kTime = "time";
inline constexpr const char* kUnverifiedTime = "unverified_time";

/// The configuration dispatch uses for one problem on one device.
struct BestRow {
  std::string template_hash;
  std::string template_name;
  std::string family;      ///< canonical JSON without sizes
  std::string problem;     ///< canonical JSON
  std::string sizes_json;  ///< {"n":1024}
  std::string device_key;
  std::string policy;
  std::string objective = kTime;
  std::string configuration;
  double median_us = 0;   ///< of the run-off
  double default_us = 0;  ///< the default configuration in the same run-off; 0: it does not run
  bool tie = false;       ///< tied with another finalist in the run-off
  std::string cubin_key;  ///< empty: not stored
  std::string driver;
  std::string recorded_at;
  std::string detail_json;  ///< finalists with paired ratios and intervals
  std::string nvrtc;        ///< the compiler of the code; empty: not known (since schema 3)
};

/// How many best rows there are of one version of a template and one policy.
struct BestCount {
  std::string template_hash;
  std::string policy;
  std::uint64_t rows = 0;
};

/// A problem under one version of a template on one device, and how many records there are of it.
struct MeasuredProblem {
  std::string template_hash;
  std::string problem;  ///< canonical JSON
  std::string device_key;
  std::uint64_t records = 0;
};

/// What was measured of a configuration, without the rest of its record.
struct TimeRow {
  std::string configuration;        ///< canonical JSON
  std::optional<double> median_us;  ///< nothing of what failed
};

struct Query {
  std::optional<std::string> template_hash = std::nullopt;
  std::optional<std::string> template_name = std::nullopt;
  std::optional<std::string> problem = std::nullopt;
  std::optional<std::string> device_key = std::nullopt;
  std::optional<std::string> policy = std::nullopt;
  std::optional<std::string> objective = std::nullopt;  ///< of best rows; of others it says nothing
};

struct Info {
  std::string path;
  int schema_version = 0;
  std::uint64_t devices = 0, templates = 0, problems = 0, records = 0, best = 0, cubins = 0, sessions = 0;
  std::uint64_t bytes = 0;
  std::string journal_mode;
  bool read_only = false;
};

struct CheckReport {
  bool ok = false;
  std::uint64_t rows_checked = 0;
  std::uint64_t bad_rows = 0;
  std::vector<std::string> problems;  ///< in words: SQLite's integrity_check lines and bad rows by table and key
};

/// What takes the rows of a database, one by one: first the devices and templates, then what refers to them.
class RowSink {
 public:
  RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;
  virtual ~RowSink() = default;
  virtual void take(const DeviceRow& row) = 0;
  virtual void take(const TemplateRow& row) = 0;
  virtual void take(const SessionRow& row) = 0;
  virtual void take(const RecordRow& row) = 0;
  virtual void take(const BestRow& row) = 0;
};

struct RowCounts {
  std::uint64_t devices = 0, templates = 0, sessions = 0, records = 0, best = 0;
  [[nodiscard]] std::uint64_t all() const { return devices + templates + sessions + records + best; }
};

/// Rows that do not travel, besides running sessions.
struct LeftOut {
  std::uint64_t damaged = 0;       ///< do not match their checksums
  std::uint64_t unsourced = 0;     ///< templates of which a source is missing (schema 1 stored none) or damaged
  std::uint64_t orphaned = 0;      ///< refer to a device or template that is not there, or left out itself
  std::uint64_t unverified = 0;    ///< best rows without a verified record of their configuration
  std::uint64_t contradicted = 0;  ///< best rows, on either side, of configurations that fail by a later record of the other side
  std::uint64_t refused = 0;       ///< of an export: what no import takes
};

struct VacuumReport {
  std::uint64_t bytes_before = 0;  ///< of the file and its WAL
  std::uint64_t bytes_after = 0;
};

/// What a best row needs: its configuration compiled, ran and gave the right result.
[[nodiscard]] inline bool is_verified(const RecordRow& record) { return record.outcome == "ok" && record.verified; }
/// Whether the record of its configuration lets a best row stand.
[[nodiscard]] inline bool supports(const RecordRow& record, const BestRow& best) {
  return best.objective == kUnverifiedTime ? record.outcome == "ok" : is_verified(record);
}

/// Content key of specification and sources: what TemplateRow::hash has to be.
[[nodiscard]] std::string content_hash(const TemplateRow& row);

}  // namespace attune::db
