#include "tools/open_databases.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "attune/error.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {

runtime::OpenedLayers open_databases(const std::vector<std::string>& named) {
  for (const auto& database : named) {
    std::error_code error;
    if (!std::filesystem::exists(database, error) && !error)
      throw DatabaseError(database, fmt::format("failed reading '{}': there is no such file; a tuning run creates it", database));
  }
  auto opened = runtime::open_layers({named.begin(), named.end()});
  for (const auto& notice : opened.notices) base::tell_message(notice);
  return opened;
}

}  // namespace attune::tools
