#pragma once
#include "tuner/importing/imported_kernel.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::importing {

/// Another default where the first values of parameters, for which the file states no default, violate a condition or ask for a launch that
/// no device makes. What the code asks for is not known before it is compiled. The note on "Default" tells what was chosen, and why.
/// `made`: the template of the kernel. Returns whether the kernel was changed.
[[nodiscard]] bool choose_default(ImportedKernel& kernel, const spec::KernelTemplate& made);

}  // namespace attune::importing
