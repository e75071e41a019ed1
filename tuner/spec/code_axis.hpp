#pragma once
#include <string>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// Why a text cannot stand as the one expression that a device function returns; empty when it can. What it means is
/// left to the compiler: this keeps it from leaving its parentheses or its line.
[[nodiscard]] std::string why_no_expression(const std::string& code);

/// The device function of a code axis: its name is that of the axis with the prefix, its types and aliases are at hand
/// under their short names, and the compiler counts lines of `code` under the name of the axis.
[[nodiscard]] std::string code_function(const KernelTemplate& kernel, const ProblemAxis& axis, const std::string& code);

}  // namespace attune::spec
