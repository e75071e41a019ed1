#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace attune::tools {

/// Adds a line to a shard's file of notes (results/shard-0003.runs.jsonl): who works at it, on what. It is the first that a task writes
/// into the plan's folder, so that a folder that cannot be written is told before anything is measured. A line that a killed task left
/// without its end stays a line of its own. What is no file of this name alone (a link, a hard link, a pipe) may be somebody else's, and is
/// refused. Throws: EnvironmentError.
void note_run(const std::filesystem::path& path, const nlohmann::json& fields);

/// What the last 256 tasks noted; a line that was torn is passed over. Nothing where there is no file.
/// Throws: Error naming the file, when it is no regular one, too long for notes, or cannot be read.
[[nodiscard]] std::vector<nlohmann::json> read_runs(const std::filesystem::path& path);

}  // namespace attune::tools
