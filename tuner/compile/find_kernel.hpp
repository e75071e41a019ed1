#pragma once
#include <string>

#include "tuner/compile/compiler.hpp"

namespace attune::compile {

/// The compiled kernel that a launch names, as base::kernel_symbol finds it among all of them; null: none is. Valid as long as `compiled`.
/// Throws: Error where several are (overloads).
[[nodiscard]] const KernelResources* find_kernel(const CompileResult& compiled, const std::string& launched);

}  // namespace attune::compile
