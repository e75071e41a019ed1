#include "tools/installed_data.hpp"

#include <sys/stat.h>

#include <system_error>

#include "tuner/base/files.hpp"
#include "tuner/base/private_path.hpp"

namespace attune::tools {

namespace fs = std::filesystem;

std::vector<fs::path> installed_data_folders() {
  const fs::path beside = (base::own_executable().parent_path() / "../share/attune").lexically_normal();
  if (beside == ATTUNE_INSTALLED_DATA) return {beside};
  return {beside, ATTUNE_INSTALLED_DATA};
}

fs::path source_tree() {
#ifdef ATTUNE_SOURCE_TREE
  std::error_code gone;  // a build tree that is no longer there has no program
  if (fs::equivalent(base::own_executable().parent_path(), ATTUNE_BUILT_PROGRAMS, gone)) return ATTUNE_SOURCE_TREE;
#endif
  return {};
}

uid_t owner_of_program() {
  struct stat status {};
  return ::stat(base::own_executable().c_str(), &status) == 0 ? status.st_uid : 0;
}

std::string why_not_trusted_folder(const fs::path& folder, uid_t also) {
  std::string reason = base::why_not_trusted(folder, also);
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; reason.empty() && !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    reason = base::why_not_trusted(entry->path(), also);
  if (reason.empty() && error) reason = "failed reading '" + folder.string() + "': " + error.message();
  return reason;
}

}  // namespace attune::tools
