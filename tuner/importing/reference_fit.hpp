#pragma once
#include <string>

#include "tuner/importing/imported_kernel.hpp"

namespace attune::importing {

/// Finishes a reference that is a kernel by the source that it is in, or takes it back and tells why. attune compiles it with the source as
/// it is and the parameters at their defaults: a kernel that uses others is none. Requires: fit_to_source has been called.
void fit_reference(ImportedKernel& kernel, const std::string& source);

}  // namespace attune::importing
