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

std::string why_not_of_the_installation(const fs::path& path) {
  struct stat program {};
  const bool known = ::stat(base::own_executable().c_str(), &program) == 0;
  return base::why_not_trusted(path, known ? program.st_uid : 0);
}

}  // namespace attune::tools
