#include "db/database.hpp"
#include "tools/commands.hpp"

namespace attune::tools {

std::filesystem::path database_path(const std::string& option) {
  return option.empty() ? db::default_path() : std::filesystem::path(option);
}

}  // namespace attune::tools
