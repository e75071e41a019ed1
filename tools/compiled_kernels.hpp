#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tuner/compile/compiler.hpp"

namespace attune::tools {

/// Registers, shared memory, stack and spills of every compiled kernel, as JSON and as a line each on standard output.
[[nodiscard]] nlohmann::json describe_kernels(const compile::CompileResult& compiled);
/// As kernel_symbol looks among them.
[[nodiscard]] std::vector<std::string> symbols_of(const compile::CompileResult& compiled);
void print_kernels(const compile::CompileResult& compiled);

}  // namespace attune::tools
