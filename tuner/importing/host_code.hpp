#pragma once
#include <string>
#include <vector>

namespace attune::importing {

/// A source without what is for the host alone, which NVRTC does not compile.
struct DeviceCode {
  std::string text;                   ///< every line keeps its number
  std::vector<std::string> left_out;  ///< "main (line 12)", "<iostream> (line 1)", in the source's order; empty: the text is the source
};

/// Leaves out headers of the host and, where a function or a declaration is for the host for certain (it is `main`, launches kernels, calls
/// CUDA's runtime, names what is C++'s library), all functions that no code of the device names. Lines between #ifndef __CUDACC_RTC__
/// and #endif stay, for NVRTC does not see them.
[[nodiscard]] DeviceCode without_host_code(const std::string& source);

}  // namespace attune::importing
