#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/simulate/recorded_space.hpp"

namespace attune::bench {

/// A recorded space that searches are scored on.
struct ScoredSpace {
  simulate::RecordedSpace recorded;
  std::filesystem::path path;
  std::string name;    ///< as results call it, the same on every machine: see short_name
  std::string digest;  ///< of the file's bytes
};

/// The file's name after its folder's: "convolution_milo/A100_T4.json.gz". The label of one of several spaces of a file comes behind.
[[nodiscard]] std::string short_name(const std::filesystem::path& path, const std::string& label = {});

/// The files, and the recordings that lie in the folders, not below them. In the order of their short names.
/// Throws: UsageError when one is not there, a folder has none, or two have one short name.
[[nodiscard]] std::vector<std::filesystem::path> recorded_files(const std::vector<std::filesystem::path>& named);

/// The spaces in these files. Throws: what reading a space throws.
[[nodiscard]] std::vector<ScoredSpace> read_scored_spaces(const std::vector<std::filesystem::path>& files);

/// The places of those that a search of this one may learn from first: in the same folder, of parameters of the same names, and in another
/// file, because a file is what one device gave.
[[nodiscard]] std::vector<std::size_t> sources_for(std::size_t target, const std::vector<ScoredSpace>& spaces);

/// What is searched on several devices has one name: the folder's where there are others to learn from, else the space's own.
[[nodiscard]] std::string common_name(std::size_t target, const std::vector<ScoredSpace>& spaces);

}  // namespace attune::bench
