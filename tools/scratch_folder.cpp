#include "tools/scratch_folder.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"

namespace attune::tools {

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "attune-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    throw EnvironmentError(fmt::format("failed making a temporary folder: {}; name another place with TMPDIR",
                                       error ? error.message() : base::errno_text("mkdtemp", errno)));
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // a folder that cannot be removed must not turn what is finished into a failure
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace attune::tools
