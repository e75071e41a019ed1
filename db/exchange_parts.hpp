#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "attune/error.hpp"
#include "db/records.hpp"
#include "tuner/base/hash.hpp"

namespace attune::db {

// What exporting, importing and merging share.

[[nodiscard]] std::uint64_t& count_of(RowCounts& counts, const DeviceRow& row);
[[nodiscard]] std::uint64_t& count_of(RowCounts& counts, const TemplateRow& row);
[[nodiscard]] std::uint64_t& count_of(RowCounts& counts, const SessionRow& row);
[[nodiscard]] std::uint64_t& count_of(RowCounts& counts, const RecordRow& row);
[[nodiscard]] std::uint64_t& count_of(RowCounts& counts, const BestRow& row);

/// Names a row in a message: "the record of {...} for {...}".
[[nodiscard]] std::string name_of(const DeviceRow& row);
[[nodiscard]] std::string name_of(const TemplateRow& row);
[[nodiscard]] std::string name_of(const SessionRow& row);
[[nodiscard]] std::string name_of(const RecordRow& row);
[[nodiscard]] std::string name_of(const BestRow& row);

[[nodiscard]] Query problem_of(const RecordRow& row);
[[nodiscard]] Query problem_of(const BestRow& row);
/// The key of the record of a best row's configuration.
[[nodiscard]] std::string record_key_of(const BestRow& row);

/// What the digest of a file is made of: the checksums of its rows, as one text.
class RowDigest {
 public:
  void add(std::string_view checksum) { hasher_.add(checksum); }
  [[nodiscard]] std::string key() const { return hasher_.key(); }

 private:
  base::ContentHasher hasher_;
};

/// Why `check` refuses a row; nothing when it takes it. Throws: what is no refusal, the database's failures and interruptions.
template <class Check>
[[nodiscard]] std::optional<std::string> why_refused(Check&& check) {
  try {
    check();
  } catch (const DatabaseError&) {
    throw;
  } catch (const Error& error) {
    if (error.exit_code() == ExitCode::Interrupted) throw;
    return error.what();
  }
  return std::nullopt;
}

}  // namespace attune::db
