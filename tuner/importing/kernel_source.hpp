#pragma once
#include <string>
#include <string_view>

#include "tuner/importing/imported_kernel.hpp"

namespace attune::importing {

/// The source with blanks in place of its comments.
[[nodiscard]] std::string without_comments(std::string_view source);
/// Whether a name occurs by itself.
[[nodiscard]] bool has_word(std::string_view code, std::string_view word);
/// Makes the import agree with the kernel's source, which stays as it is: what must stand before it so that parameters arrive as it expects
/// them, how a launch names the kernel, and which arguments in constant memory are arguments of the function. Tells what it changed.
void fit_to_source(ImportedKernel& kernel, const std::string& source);

}  // namespace attune::importing
