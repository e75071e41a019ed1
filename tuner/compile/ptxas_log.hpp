#pragma once
#include <string>

namespace attune::compile {

/// The log without the lines of `--ptxas-options=-v`: what a person has to read. The figures (parse_ptxas_log has them)
/// include times, which would make two logs of one compilation differ.
[[nodiscard]] std::string without_ptxas_figures(const std::string& log);

/// A log as NVRTC gives it without zero bytes, which stand at its end, and in front of what ptxas says where the compiler before it said
/// nothing; with one line break at its end.
[[nodiscard]] std::string clean_log(std::string log);

}  // namespace attune::compile
