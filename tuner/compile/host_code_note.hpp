#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/compile/compiler.hpp"

namespace attune::compile {

/// Where a source that did not compile includes what NVRTC has not, and what to do about it, a line each: NVRTC itself says where in Thrust
/// it stopped, or that it found no <vector>. Empty when the log is about other things.
/// Requires: `log` is NVRTC's of this request, and `include_folders` are CUDA's that it was given.
[[nodiscard]] std::string host_code_note(const CompileRequest& request, const std::string& log,
                                         const std::vector<std::filesystem::path>& include_folders);

}  // namespace attune::compile
