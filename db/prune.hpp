#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace attune::db {

/// A moment as rows are dated.
using RowTime = std::chrono::sys_time<std::chrono::microseconds>;

/// "2026-11-20T13:17:05Z", with a fraction or without; nothing for any other text.
[[nodiscard]] std::optional<RowTime> row_time(const std::string& text);

/// Which rows may be removed: those for which every condition that is stated holds.
struct PruneRequest {
  std::optional<RowTime> recorded_before = std::nullopt;                ///< a row without a readable date is never older
  std::optional<std::set<std::string>> template_hashes = std::nullopt;  ///< of these versions of templates
  std::optional<std::set<std::string>> device_keys = std::nullopt;      ///< on these devices
  std::optional<std::uint64_t> to_bytes = std::nullopt;                 ///< no more than it takes for a file of this size, vacuumed
  std::set<std::string> dead_sessions = {};                             ///< keys: "running", and their process is known to be gone
};

/// What is removed of one version of a template on one device.
struct PruneGroup {
  std::string template_hash, device_key;
  std::uint64_t problems = 0;  ///< of which nothing stays
  std::uint64_t records = 0, best = 0, sessions = 0, cubins = 0;
  std::uint64_t bytes = 0;  ///< about
};

struct PruneReport {
  std::vector<PruneGroup> groups;            ///< in the order of hash and device
  std::uint64_t loose_cubins = 0;            ///< that no best row named before either
  std::uint64_t loose_cubin_bytes = 0;       ///< about
  std::uint64_t templates = 0, devices = 0;  ///< of which nothing stays
  std::uint64_t template_bytes = 0;          ///< about what these templates take with their sources
  std::uint64_t problems_in_use = 0;         ///< meet the conditions, and a run is tuning them: all of them stays
  bool others_write = false;                 ///< another process has the file open for writing: templates and devices stay
  std::uint64_t bytes_of_rows = 0;           ///< what all rows take now, without pages that are free already
  std::uint64_t bytes_removed = 0;           ///< about
  std::uint64_t least_bytes = 0;             ///< about what the file takes without any row: no request makes it smaller
  bool goal_missed = false;                  ///< PruneRequest::to_bytes: all that may go is not enough, or it is below least_bytes
  [[nodiscard]] PruneGroup total() const;
  [[nodiscard]] bool nothing() const;
};

}  // namespace attune::db
