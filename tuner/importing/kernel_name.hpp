#pragma once
#include <string>
#include <vector>

#include "tuner/spec/json_document.hpp"

namespace attune::importing {

/// "ns::gemm<float, TILE>" as another tuner names a kernel.
struct WrittenKernelName {
  std::string function;                ///< "ns::gemm"
  std::vector<std::string> arguments;  ///< of the template, as C++ writes them; none: it is no template, or has none stated
};

/// Throws: SpecError at `position` (which is that of the text's first character) where it is no name of C++.
[[nodiscard]] WrittenKernelName read_kernel_name(const std::string& text, const spec::SourcePosition& position);

/// Template arguments of C++ as a launch of attune's writes them: types by attune's names ("f32" for float) or in quotes, expressions of
/// numbers and `parameters` as they are. Throws: SpecError at `position` for what is none of these.
[[nodiscard]] std::string launch_arguments(const std::vector<std::string>& arguments, const std::vector<std::string>& parameters,
                                           const spec::SourcePosition& position);

}  // namespace attune::importing
