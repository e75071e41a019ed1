#include "bench/support/scored_spaces.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/simulate/warm.hpp"

namespace attune::bench {
namespace {

namespace fs = std::filesystem;

bool is_recording(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".json.zst");
}

}  // namespace

std::string short_name(const fs::path& path, const std::string& label) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  std::string name = (whole.parent_path().filename() / whole.filename()).generic_string();
  if (!label.empty()) name += " " + label;
  return name;
}

std::vector<fs::path> recorded_files(const std::vector<fs::path>& named) {
  std::vector<fs::path> files;
  for (const fs::path& path : named) {
    if (!fs::exists(path)) throw UsageError(fmt::format("failed finding recorded spaces: there is no {}", path.string()));
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.is_regular_file() && is_recording(entry.path())) files.push_back(entry.path());
    if (files.size() == before) {
      throw UsageError(fmt::format("failed finding recorded spaces: {} has no file named .json, .json.gz or .json.zst", path.string()));
    }
  }
  const auto by_name = [](const fs::path& a, const fs::path& b) { return short_name(a) < short_name(b); };
  std::sort(files.begin(), files.end(), by_name);
  const auto twice =
      std::adjacent_find(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return short_name(a) == short_name(b); });
  if (twice != files.end()) {
    throw UsageError(fmt::format("failed naming recorded spaces: {} and {} are both '{}'; name one of them, or rename its folder",
                                 twice->string(), std::next(twice)->string(), short_name(*twice)));
  }
  return files;
}

std::vector<ScoredSpace> read_scored_spaces(const std::vector<fs::path>& files) {
  std::vector<ScoredSpace> spaces;
  for (const fs::path& path : files) {
    const std::string digest = base::content_key(base::read_file(path)).substr(0, 16);
    auto found = simulate::read_recorded_spaces(path);
    const bool several = found.size() > 1;
    for (auto& recorded : found) {
      std::string name = short_name(path, several ? recorded.label : "");
      spaces.push_back({std::move(recorded), fs::absolute(path).lexically_normal(), std::move(name), digest});
    }
  }
  return spaces;
}

std::vector<std::size_t> sources_for(std::size_t target, const std::vector<ScoredSpace>& spaces) {
  const ScoredSpace& scored = spaces[target];
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    const bool elsewhere = spaces[i].path != scored.path && spaces[i].path.parent_path() == scored.path.parent_path();
    if (elsewhere && simulate::has_parameters_of(spaces[i].recorded, scored.recorded)) places.push_back(i);
  }
  return places;
}

std::string common_name(std::size_t target, const std::vector<ScoredSpace>& spaces) {
  if (sources_for(target, spaces).empty()) return spaces[target].name;
  return spaces[target].path.parent_path().filename().string();
}

}  // namespace attune::bench
