#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/importing/imported_kernel.hpp"

namespace attune::importing {

/// What a source says of a kernel, as far as it shows without compiling.
struct KernelDefinition {
  std::size_t arguments = 0;
  bool extern_c = false;
};

/// The source with blanks in place of its comments.
[[nodiscard]] std::string without_comments(std::string_view source);
/// Whether a name occurs by itself.
[[nodiscard]] bool has_word(std::string_view code, std::string_view word);
/// Nothing where no __global__ function of that name shows: a macro may make it. Requires: a source without comments.
[[nodiscard]] std::optional<KernelDefinition> find_kernel(std::string_view code, std::string_view name);

/// Makes the import agree with the kernel's source, which stays as it is: what must stand around it so that attune can launch it and
/// parameters arrive as it expects them, and which arguments in constant memory are arguments of the function. Tells what it changed.
void fit_to_source(ImportedKernel& kernel, const std::string& source);

}  // namespace attune::importing
