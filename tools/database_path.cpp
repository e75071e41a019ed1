#include <fmt/core.h>

#include <system_error>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tools/commands.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/runtime/layers.hpp"

namespace attune::tools {

std::filesystem::path database_path(const std::string& option) {
  return option.empty() ? db::default_path() : std::filesystem::path(option);
}

void refuse_shipped(const std::filesystem::path& path, const char* doing) {
  for (const auto& shipped : runtime::shipped_database_paths()) {
    std::error_code not_there;  // what is not there is not the same file
    if (!std::filesystem::equivalent(path, shipped, not_there)) continue;
    throw DatabaseError(path.string(),
                        fmt::format("failed {} database '{}': it is the one that ships with attune, and is never changed; copy it (cp {} "
                                    "mine.db) and name the copy: --db mine.db",
                                    doing, path.string(), base::shell_quoted(path.string())));
  }
}

}  // namespace attune::tools
