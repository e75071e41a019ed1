#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/compile/compiler.hpp"

namespace attune::tools {

/// Registers, shared memory, stack and spills of every compiled kernel, as JSON and as a line each on standard output.
[[nodiscard]] nlohmann::json describe_kernels(const compile::CompileResult& compiled);
void print_kernels(const compile::CompileResult& compiled);
/// "ns::scale<64>, shift", for a message that some other is missing.
[[nodiscard]] std::string names_of_kernels(const compile::CompileResult& compiled);

}  // namespace attune::tools
