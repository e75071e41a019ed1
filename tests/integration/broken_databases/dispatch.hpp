#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attune/runtime.hpp"
#include "db/records.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::test {

/// What one launch through a Runtime gave.
struct Dispatched {
  Decision decision;
  bool right_result = false;
  std::vector<std::string> notices;
};

/// A machine with the fake driver, the template "synthetic", and a user with folders of their own. Where the tests run as
/// root the folders belong to another user, as whom `dispatch` runs: permissions mean nothing to root.
struct World {
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// Writes a tuned database: kSizes, a configuration and a stored cubin for each. Rollback mode, closed.
  void tune(const std::filesystem::path& path) const;
  /// The same in WAL mode, with what a killed process leaves beside it: all rows are in the WAL.
  void tune_and_die(const std::filesystem::path& path) const;
  /// Makes everything in `data` the user's.
  void give_to_user() const;
  /// A new Runtime over the default layers, one launch of "synthetic" at `n`, and the end of it.
  [[nodiscard]] Dispatched dispatch(std::int64_t n) const;
  [[nodiscard]] Dispatched dispatch(std::int64_t n, const Options& options) const;
  /// One launch; whether the result is right.
  [[nodiscard]] bool launch(const Kernel& kernel, std::int64_t n) const;

  /// The decision is the one that a sound database gives for `n`.
  [[nodiscard]] bool is_exact(const Decision& decision, std::int64_t n) const;
  /// The decision is one of a stored row, told as it was stored, or the template's default.
  [[nodiscard]] bool is_honest(const Decision& decision, std::int64_t n) const;

  static constexpr std::int64_t kSizes[] = {1000, 4000, 16000};

  TempFolder folder;
  std::filesystem::path data, database, cache;  ///< $ATTUNE_DB is `database`, which does not exist yet
  spec::KernelTemplate kernel;
  spec::DeviceInfo device;
  std::map<std::int64_t, db::BestRow> rows;  ///< by size
  Options options;                           ///< the template's folder

 private:
  void put_rows(const std::filesystem::path& path) const;
  std::map<std::string, std::string> cubins_;  ///< by key
};

/// The notices that name a file.
[[nodiscard]] std::size_t about(const std::vector<std::string>& notices, const std::filesystem::path& path);

[[nodiscard]] std::string read_bytes(const std::filesystem::path& path);
/// Names and contents of the files in a folder.
[[nodiscard]] std::map<std::string, std::string> contents_of(const std::filesystem::path& folder);

/// Files that somebody began to write, below a folder.
[[nodiscard]] std::size_t unfinished_files(const std::filesystem::path& folder);

}  // namespace attune::test
