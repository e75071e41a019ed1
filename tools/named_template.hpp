#pragma once
#include <string>

#include "tuner/spec/kernel_template.hpp"

namespace attune::tools {

/// The template that a word of the command line names: as the library finds it, and "." and ".." are paths as "./" and "../" are. Another
/// bare name stays one: a folder of that name in the working directory is told and not taken.
/// Throws: UsageError (there is none), SpecError (it is malformed).
[[nodiscard]] spec::KernelTemplate named_template(const spec::TemplateLibrary& library, const std::string& word);

}  // namespace attune::tools
