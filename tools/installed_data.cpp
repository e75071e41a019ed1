#include "tools/installed_data.hpp"

#include "tuner/base/files.hpp"

namespace attune::tools {

std::vector<std::filesystem::path> installed_data_folders() {
  const std::filesystem::path beside = (base::own_executable().parent_path() / "../share/attune").lexically_normal();
  if (beside == ATTUNE_INSTALLED_DATA) return {beside};
  return {beside, ATTUNE_INSTALLED_DATA};
}

}  // namespace attune::tools
