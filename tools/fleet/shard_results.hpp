#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "attune/error.hpp"
#include "tools/fleet/file_version.hpp"
#include "tools/fleet/manifest.hpp"

namespace attune::tools {

/// Whether the result of a shard is there. What lies in its place and cannot be read, holds rows that no merge takes, or is another plan's
/// (it lacks searches of this one's problems) is set aside under another name and told. Throws: EnvironmentError, as read_shard_problems.
[[nodiscard]] bool is_finished(const std::filesystem::path& folder, const Manifest& manifest, std::size_t shard);

/// The folder has another plan than the task's by now: nothing of the task's will ever be published.
class PlanReplaced : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// What one task of a shard has in the plan's folder and on its node. The database is tuned into on the node, since SQLite's locks and
/// memory mapping do not hold over a network; the folder gets whole, closed copies of it, each in one step. Tasks of other nodes may
/// work at the same shard, as when a scheduler believes a node dead that is not: what they have published is taken in before it is
/// replaced, so that the one that ends last has it all.
class ShardResults {
 public:
  /// `manifest`: the plan that this task works at; it outlives this object. `scratch`: a folder of this task's alone. Changes nothing yet.
  ShardResults(std::filesystem::path folder, const Manifest& manifest, std::size_t shard, std::filesystem::path scratch);

  [[nodiscard]] bool finished() const;
  /// The node's database; `begin` makes it.
  [[nodiscard]] const std::filesystem::path& database() const { return database_; }
  /// Takes what earlier tasks have published into the node's database. A copy that cannot be read is set aside under another name and
  /// told: what it held is measured again. So is what an earlier task left on this node of a shard whose files have been removed from the
  /// plan's folder since: whoever removes them wants it measured again. Throws: DatabaseError (the node's own), EnvironmentError.
  void begin();
  enum class State { Partial, Finished };
  /// Copies the database into the folder: as results/shard-0003.part.db, or for good as results/shard-0003.db. Readers see the copy of
  /// before or this one, whole and on disk. Throws: PlanReplaced, EnvironmentError, DatabaseError; the former copy stays.
  void publish(State state);
  /// Of a finished shard: nobody needs the node's database any more. What was set aside stays.
  void remove_node_files() const;

 private:
  void require_same_plan();
  void take_in();
  void remove_partial() const;
  [[nodiscard]] bool were_removed() const;
  void set_node_aside(const char* as, const std::string& why) const;
  [[nodiscard]] std::filesystem::path mark_of_publishing() const;

  std::filesystem::path folder_, scratch_, database_;
  const Manifest& manifest_;
  std::optional<FileVersion> plan_;  ///< of the manifest's file when it was last looked at
  std::size_t shard_;
  std::optional<FileVersion> own_;  ///< what is taken in already, or was published here
};

}  // namespace attune::tools
