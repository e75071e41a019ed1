#pragma once
#include <string>

#include "tuner/report/tuned_table.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::report {

/// Where a header of a template stands unless told otherwise: "attune_tuned::reduce".
[[nodiscard]] std::string default_namespace(const spec::KernelTemplate& kernel);

/// A header of C++17, in need of nothing but the standard library, that holds the table and selects from it: what docs/cli.md says of
/// `attune export --header`. Equal tables give equal bytes.
/// Requires: the table is of this template and has rows.
/// Throws: UsageError (no name of a namespace; a condition that cannot be written as C++).
[[nodiscard]] std::string tuned_header(const spec::KernelTemplate& kernel, const TunedTable& table, const std::string& name_space);

}  // namespace attune::report
