#pragma once
#include <string>

namespace attune::base {

/// The middle of our error messages: "open returned ENOENT (No such file or directory)".
[[nodiscard]] std::string errno_text(const char* call, int error_number);

}  // namespace attune::base
