#pragma once
#include <string>

namespace attune::base {

/// The middle of our error messages: "open returned ENOENT (No such file or directory)".
[[nodiscard]] std::string errno_text(const char* call, int error_number);

/// What a user can do about it, where an error number says it, as the end of a message: "; free space on its disk ...". Too many
/// open files is told by its limit. Empty when there is nothing to say.
[[nodiscard]] std::string errno_remedy(int error_number);

}  // namespace attune::base
