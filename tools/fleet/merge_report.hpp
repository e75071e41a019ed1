#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "db/exchange.hpp"
#include "tools/fleet/agreement.hpp"

namespace attune::tools {

/// What a merge found of one shard.
struct MergedShard {
  enum class State { Missing, Partial, Finished, Unreadable };

  std::size_t number = 0;
  State state = State::Missing;
  std::filesystem::path path;           ///< empty: there is nothing to read
  std::string why;                      ///< Unreadable
  bool may_pass = false;                ///< Unreadable, for what says nothing of the file
  std::size_t left = 0;                 ///< problems whose search has not come to its end
  std::vector<nlohmann::json> devices;  ///< as stored: spec::DeviceInfo::to_json, by kind the one that was seen last
  std::vector<nlohmann::json> runs;     ///< of each task: host, when it began, and its devices

  void cannot_be_read(const std::string& reason, bool passing) {
    state = State::Unreadable;
    why = reason;
    may_pass = passing;
    path.clear();
  }
};

/// What `attune fleet merge` tells.
struct MergeReport {
  std::string database;
  db::ImportReport merged;
  std::vector<MergedShard> shards;
  std::vector<ShardAgreement> agreement;  ///< by shard

  /// Every shard is finished and was read, and none disagrees.
  [[nodiscard]] bool complete() const;
  [[nodiscard]] nlohmann::json to_json() const;
  /// `folder`: of the plan, for what to do next.
  [[nodiscard]] std::string text(const std::string& folder) const;

 private:
  [[nodiscard]] std::vector<std::string> numbers_of(MergedShard::State state) const;
  [[nodiscard]] std::string table() const;
  /// Those of one shard, in `agreement`.
  [[nodiscard]] std::span<const ShardAgreement> agreement_of(const MergedShard& shard) const;
};

}  // namespace attune::tools
