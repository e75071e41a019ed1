#pragma once
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "db/database.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"

namespace attune::db::test {

namespace fs = std::filesystem;
using attune::test::write_bytes;

/// Readable by others, as test processes under another user need it.
class TemporaryFolder : public attune::test::TempFolder {
 public:
  TemporaryFolder() { ::chmod(path().c_str(), 0755); }
};

/// The database that a released version left behind.
inline fs::path golden(int version) {
  return fs::path(ATTUNE_SOURCE_DIR) / "tests" / "golden" / ("db_v" + std::to_string(version) + ".db");
}

inline std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::string bytes(in.is_open() ? static_cast<std::size_t>(in.tellg()) : 0, '\0');
  in.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline bool same(const DeviceRow& a, const DeviceRow& b) {
  return a.hard_key == b.hard_key && a.hard_json == b.hard_json && a.info_json == b.info_json;
}

inline bool same(const TemplateRow& a, const TemplateRow& b) {
  return a.hash == b.hash && a.name == b.name && a.spec_json == b.spec_json && a.files == b.files;
}

inline bool same(const RecordRow& a, const RecordRow& b) {
  return a.template_hash == b.template_hash && a.problem == b.problem && a.device_key == b.device_key && a.policy == b.policy &&
         a.configuration == b.configuration && a.outcome == b.outcome && a.stage == b.stage && a.verified == b.verified &&
         a.median_us == b.median_us && a.low_us == b.low_us && a.high_us == b.high_us && a.samples == b.samples &&
         a.detail_json == b.detail_json && a.driver == b.driver && a.nvrtc == b.nvrtc && a.recorded_at == b.recorded_at &&
         a.origin == b.origin;
}

inline bool same(const SessionRow& a, const SessionRow& b) {
  return a.key == b.key && a.template_hash == b.template_hash && a.problem == b.problem && a.device_key == b.device_key &&
         a.policy == b.policy && a.strategy == b.strategy && a.seed == b.seed && a.state == b.state && a.space_size == b.space_size &&
         a.started_at == b.started_at && a.finished_at == b.finished_at && a.summary_json == b.summary_json;
}

inline bool same(const BestRow& a, const BestRow& b) {
  return a.template_hash == b.template_hash && a.template_name == b.template_name && a.family == b.family && a.problem == b.problem &&
         a.sizes_json == b.sizes_json && a.device_key == b.device_key && a.policy == b.policy && a.objective == b.objective &&
         a.configuration == b.configuration && a.median_us == b.median_us && a.default_us == b.default_us && a.tie == b.tie &&
         a.cubin_key == b.cubin_key && a.driver == b.driver && a.recorded_at == b.recorded_at && a.detail_json == b.detail_json &&
         a.nvrtc == b.nvrtc;
}

inline DeviceRow device() { return {"device-1", R"({"architecture":"sm_90","backend":"cuda"})", R"({"name":"A GPU"})"}; }

/// As schema version 1 stored it.
inline TemplateRow kernel_template_v1() { return {"hash-1", "reduce", R"({"attune":1,"name":"reduce"})"}; }

inline TemplateRow kernel_template() {
  TemplateRow row = kernel_template_v1();
  row.files = {{"reduce.cu", "// reduce\n"}, {"values.cu", std::string("bytes \0\xff", 8)}};
  return row;
}

/// Rows that differ in `i` alone; every field has a value of its own.
inline RecordRow record(int i) {
  RecordRow row;
  row.template_hash = "hash-1";
  row.problem = R"({"T":"f32","n":1024,"op":"sum"})";
  row.device_key = "device-1";
  row.policy = "cold/graph";
  row.configuration = R"({"block_size":)" + std::to_string(i) + "}";
  row.outcome = "ok";
  row.stage = "measured";
  row.verified = true;
  row.median_us = 2.5 + i;
  row.low_us = 2.25 + i;
  row.high_us = 2.75 + i;
  row.samples = 31;
  row.detail_json = R"({"registers":40})";
  row.driver = "580.159.04";
  row.nvrtc = "13.0.88";
  row.recorded_at = "2026-11-20T13:00:00Z";
  row.origin = "measured";
  return row;
}

inline BestRow best(const std::string& size) {
  BestRow row;
  row.template_hash = "hash-1";
  row.template_name = "reduce";
  row.family = R"({"T":"f32","op":"sum"})";
  row.problem = R"({"T":"f32","n":)" + size + R"(,"op":"sum"})";
  row.sizes_json = R"({"n":)" + size + "}";
  row.device_key = "device-1";
  row.policy = "cold/graph";
  row.configuration = R"({"block_size":256})";
  row.median_us = 2.5;
  row.default_us = 3.125;
  row.tie = true;
  row.cubin_key = "cubin-1";
  row.driver = "580.159.04";
  row.recorded_at = "2026-11-20T13:00:01Z";
  row.detail_json = R"({"finalists":[]})";
  row.nvrtc = "13.0.88";
  return row;
}

/// As a database of this version has it.
inline BestRow golden_best(int version, const std::string& size) {
  BestRow row = best(size);
  if (version < 3) row.nvrtc.clear();
  return row;
}

inline SessionRow session() {
  SessionRow row;
  row.key = "session-1";
  row.template_hash = "hash-1";
  row.problem = R"({"T":"f32","n":1024,"op":"sum"})";
  row.device_key = "device-1";
  row.policy = "cold/graph";
  row.strategy = "random";
  row.seed = 0xfedcba9876543210u;
  row.state = "running";
  row.space_size = 300;
  row.started_at = "2026-11-20T12:59:00Z";
  row.finished_at = "2026-11-20T13:01:00Z";
  row.summary_json = R"({"measured":12})";
  return row;
}

inline const std::string kCubin(
    "\x7f"
    "ELF\0cubin\0bytes",
    16);

/// What tests/golden/db_v3.db holds; db_v2.db lacks the compilers of best rows, db_v1.db the template's files too. Never changes: it is
/// what users of a released version have on disk.
inline void put_golden_rows(Database& database) {
  database.put(device());
  database.put(kernel_template());
  for (int i = 1; i <= 3; ++i) database.put(record(i));
  RecordRow failed = record(4);
  failed.outcome = "compile_failed";
  failed.stage = "none";
  failed.verified = false;
  failed.median_us = failed.low_us = failed.high_us = 0;
  failed.samples = 0;
  database.put(failed);
  database.put(session());
  database.put(best("1024"));
  database.put(best("4096"));
  database.put_cubin("cubin-1", kCubin, R"({"arch":"sm_90"})");
  database.set_in_flight("session-1", R"({"block_size":5})");
}

inline std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

/// Names and contents of all files.
inline std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const std::string& name : names_in(folder)) contents[name] = bytes_of(folder / name);
  return contents;
}

/// A closed database with the golden rows.
inline void make_database(const fs::path& path) {
  Database database = Database::open(path, OpenMode::ReadWrite);
  put_golden_rows(database);
}

/// The message of the DatabaseError that opening gives, which must name the file and its class; "opened" without one.
inline std::string error_of(const fs::path& path, OpenMode mode) {
  try {
    (void)Database::open(path, mode);
  } catch (const DatabaseError& error) {
    if (error.path() != fs::weakly_canonical(path).string() || error.exit_code() != ExitCode::Database) {
      return "an error of another file or class: " + std::string(error.what());
    }
    return error.what();
  }
  return "opened";
}

inline bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace attune::db::test
