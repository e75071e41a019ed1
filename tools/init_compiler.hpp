#pragma once
#include <string>

#include "tools/commands.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/importing/init.hpp"

namespace attune::tools {

struct DefaultCode {
  compile::KernelResources resources;  ///< of the tuned kernel
  std::string cubin;
};

/// The template's default configuration through the compiler. `file`: the source that it is made of; `folder`: where it is to be.
/// Throws: SpecError with the compiler's text, EnvironmentError.
[[nodiscard]] DefaultCode compile_default(const importing::InitialTemplate& initial, const std::string& file, const std::string& folder,
                                          const std::string& architecture, const CommandContext& context);

/// What a struct of a source is: it compiles the source with a kernel that takes as many bytes as a struct has. Nothing where there is no
/// such type. `file`: the source, as errors name it. Throws: SpecError with the compiler's text where the source does not compile,
/// EnvironmentError.
[[nodiscard]] importing::StructLayout struct_probe(const std::string& file, const std::string& architecture, const CommandContext& context);

}  // namespace attune::tools
