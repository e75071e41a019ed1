#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/importing/cuda_tokens.hpp"
#include "tuner/importing/element_layout.hpp"

namespace attune::importing {

/// A __global__ function with a body.
struct SourceKernel {
  std::string name;
  spec::SourcePosition position;  ///< of the name
  Tokens arguments, body;         ///< between their brackets
  Tokens outside;                 ///< what stands in no function of the source
  Tokens launch_bounds;           ///< the threads of __launch_bounds__; none: it has no such bounds
  enum class Linkage { C, Cpp, Static } linkage = Linkage::Cpp;
  bool is_template = false;
  bool in_namespace = false;
};

/// What a kernel takes at one place of its list.
struct KernelArgument {
  std::string name;
  std::string type;  ///< "float", without const and with its aliases resolved
  ElementLayout layout;
  bool pointer = false, to_const = false, restrict = false;
  bool by_alias = false;  ///< the source writes another name for the type
  spec::SourcePosition position;
};

/// All of a source, in its order. Requires: a source without comments.
[[nodiscard]] std::vector<SourceKernel> source_kernels(const std::string& code, const std::string& file);

/// The kernel of that name, or the only one. Throws: UsageError, SpecError, each naming the kernels that there are.
[[nodiscard]] SourceKernel choose_kernel(const std::vector<SourceKernel>& kernels, const std::string& wanted, const std::string& file);

/// Throws: SpecError at the argument that attune cannot pass, with a remedy.
[[nodiscard]] std::vector<KernelArgument> kernel_arguments(const SourceKernel& kernel, const std::string& code);

/// The same, one by one: nothing for those that attune cannot pass and those whose type is written by an alias, which may be another under
/// #if.
[[nodiscard]] std::vector<std::optional<KernelArgument>> plain_arguments(const SourceKernel& kernel, const std::string& code);

}  // namespace attune::importing
