#include "tuner/importing/source_files.hpp"

#include <system_error>

#include "tuner/base/files.hpp"
#include "tuner/spec/includes.hpp"

namespace attune::importing {

bool is_regular(const std::filesystem::path& path) {
  std::error_code ignored;  // what cannot be looked at is not there
  return std::filesystem::is_regular_file(path, ignored);
}

std::map<std::string, std::string> read_sources(const std::filesystem::path& path) {
  std::map<std::string, std::string> files;
  files[path.filename().string()] = base::read_file(path);
  spec::add_included_files(files, [&](const std::string& name, std::string& bytes) {
    const std::filesystem::path included = path.parent_path() / name;
    if (!is_regular(included)) return false;
    bytes = base::read_file(included);
    return true;
  });
  return files;
}

void drop_own_headers(std::map<std::string, std::string>& files) {
  std::erase_if(files, [](const auto& file) { return file.first.starts_with('<'); });
}

}  // namespace attune::importing
