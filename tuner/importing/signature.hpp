#pragma once
#include <string>

#include "tuner/importing/cuda_kernel.hpp"
#include "tuner/importing/imported_kernel.hpp"

namespace attune::importing {

/// What a kernel takes otherwise than a file lists it, as a sentence; empty: nothing.
[[nodiscard]] std::string signature_difference(const ImportedArgument& listed, const KernelArgument& taken);

/// Tells, for somebody to decide, where the kernel's arguments are of another kind or type than the file's: a number for a pointer, an int
/// for a float. Silent where their number differs, and of types that are not written as CUDA's own: a macro or an alias may be another type
/// in each build. An array whose elements stand in the index of another is filled with zeros, which are in range everywhere, and told.
/// Requires: a source without comments.
void fit_to_signature(ImportedKernel& kernel, const SourceKernel& definition, const std::string& code);

}  // namespace attune::importing
