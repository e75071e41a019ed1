#pragma once
#include <string>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// The kernel that a launch names, with its template arguments as C++ writes them: "gemm<128, true, float>". Throws: SpecError at an
/// argument that is none.
[[nodiscard]] std::string kernel_name(const KernelTemplate& kernel, const LaunchSpec& launch, const Problem& problem, const Scope& scope);

/// Explicit instantiations of the kernel templates that the steps launch, those of setup, check and the reference as well, for the end of a
/// source; empty where there are none. A launch's condition counts where it depends on nothing that a source must not know: sizes, or what
/// is bound to the launch.
[[nodiscard]] std::string instantiations(const KernelTemplate& kernel, const Problem& problem, const Scope& scope);

}  // namespace attune::spec
