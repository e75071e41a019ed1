#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attune::spec {

// Sources that were written for nvcc include headers of the host, which NVRTC does not have. Most ask for what device code has without
// any header, or for a few names.

/// What the compiler reads in place of `#include <header>`.
struct HeaderReplacement {
  std::vector<std::string_view> includes;  ///< headers of CUDA, "<cub/block/block_scan.cuh>", that may be precompiled
  std::string declarations;                ///< whole lines; to any other compiler than NVRTC they include the header itself
};

/// Whether a header is replaced rather than left as it is. Requires: the brackets, "<math.h>".
[[nodiscard]] bool is_replaced(std::string_view header);

/// A replacement may be read any number of times. Requires: is_replaced.
[[nodiscard]] HeaderReplacement replacement_of(std::string_view header);

/// Whether a header is known to be of use to the host alone: C++'s library, the system's headers, Thrust,
/// CUB's device-wide algorithms, cuBLAS and the like.
/// NVRTC says what is missing of it. Requires: the brackets.
[[nodiscard]] bool is_host_code(std::string_view header);

/// Whether such a header comes with CUDA, so that what is missing, or refused, may be in another that it includes. Requires: the brackets.
[[nodiscard]] bool is_host_library(std::string_view header);

/// Whether a header is one of Thrust. NVRTC compiles some: <thrust/functional.h>, <thrust/tuple.h>, <thrust/pair.h>. Requires: the
/// brackets.
[[nodiscard]] bool is_of_thrust(std::string_view header);

/// What to do about a header of which is_host_code holds: the end of a sentence.
[[nodiscard]] std::string remedy_for(std::string_view header);

}  // namespace attune::spec
