#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// The macro of a parameter: "block_size" -> "ATTUNE_BLOCK_SIZE"; with an empty prefix the name as it is.
[[nodiscard]] std::string macro_name(std::string_view prefix, std::string_view name);
/// The macro that says whether a value is the chosen one: ("op", "sum") -> "ATTUNE_OP_SUM".
[[nodiscard]] std::string flag_name(std::string_view prefix, std::string_view name, std::string_view value);
/// The C++ name of a type axis or alias: "T" -> "attune_T"; with an empty prefix "T".
[[nodiscard]] std::string type_alias_name(std::string_view prefix, std::string_view name);

/// Every element type that a type axis, alias or element type name may stand for, in declaration order.
[[nodiscard]] std::vector<std::string> possible_types(const KernelTemplate& kernel, const std::string& reference);
/// The element type that it stands for in this problem (of a choice or code: its value), the default of its axis where
/// the problem leaves it out. Throws: UsageError when it may not.
[[nodiscard]] std::string resolve_type(const KernelTemplate& kernel, const std::string& reference, const Problem& problem);

}  // namespace attune::spec
