#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/tuning.hpp"

namespace attune::tools {

/// One shard as the manifest names it: its problems stand in a file of their own, a JSON object a line, as `tune --problems` takes them.
struct ShardEntry {
  std::string file;  ///< in the plan's folder: "shards/0003.jsonl"
  std::string key;   ///< content key of that file
  std::size_t problems = 0;
  double expected_s = 0;
};

/// A database that the plan carries to every node (`plan --try`): one file, which nobody writes, checked before it is used.
struct CarriedFile {
  std::string file;  ///< in the plan's folder: "try/0.db"
  std::string key;   ///< content key of its bytes
  std::uint64_t bytes = 0;
};

/// DIR/manifest.json: what a fleet tunes, and who tunes what. It never changes once it is written: every task of every node reads it, and
/// two of equal contents are the same plan. It holds no problem itself, so that a task of a plan of a million problems reads little.
struct Manifest {
  static constexpr int kFormat = 1;
  static constexpr std::size_t kMostShards = 100'000;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;  ///< twice what so many shards take

  std::string attune_version;  ///< of the attune that planned
  std::string attune_content;  ///< its content hash
  std::string template_hash;
  TuningOptions options;  ///< those of `tune` that decide what is measured; a folder's template_name is absolute
  std::size_t problems = 0;
  std::size_t controls = 0;  ///< the first problems of every shard, the same ones in all
  std::vector<CarriedFile> carried;
  std::vector<ShardEntry> shards;

  /// Reads DIR/manifest.json. Throws: UsageError (there is none), EnvironmentError (whether there is one is not known), Error (it is longer
  /// than kMostBytes), SpecError with file, line and column of a malformed text, or the field.
  [[nodiscard]] static Manifest load(const std::filesystem::path& folder);
  [[nodiscard]] static Manifest parse(const std::string& text, const std::string& file);
  /// What `parse` reads back: sorted members, an indent, equal for equal plans.
  [[nodiscard]] std::string text() const;
  /// Names the plan: content key of `text()`.
  [[nodiscard]] std::string key() const;
  /// Throws: UsageError naming the numbers that there are.
  [[nodiscard]] const ShardEntry& shard(std::size_t number) const;
};

/// Files of a plan's folder.
[[nodiscard]] std::filesystem::path manifest_path(const std::filesystem::path& folder);
/// "shard-0003": what a shard's results are called.
[[nodiscard]] std::string shard_name(std::size_t number);
[[nodiscard]] std::filesystem::path finished_path(const std::filesystem::path& folder, std::size_t number);  ///< results/shard-0003.db
[[nodiscard]] std::filesystem::path partial_path(const std::filesystem::path& folder, std::size_t number);   ///< results/shard-0003.part.db
/// Where tasks note on which device of which host they ran, a JSON object a line.
[[nodiscard]] std::filesystem::path runs_path(const std::filesystem::path& folder, std::size_t number);

}  // namespace attune::tools
