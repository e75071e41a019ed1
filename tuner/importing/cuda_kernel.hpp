#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/importing/cuda_tokens.hpp"
#include "tuner/importing/element_layout.hpp"

namespace attune::importing {

/// A __global__ function with a body.
struct SourceKernel {
  std::string name;
  spec::SourcePosition position;                                ///< of the name
  Tokens arguments, body;                                       ///< between their brackets
  Tokens outside;                                               ///< what stands in no function of the source
  Tokens launch_bounds;                                         ///< the threads of __launch_bounds__; none: it has no such bounds
  enum class Linkage { C, Cpp, Local } linkage = Linkage::Cpp;  ///< Local: static, or in an unnamed namespace
  std::vector<std::string> namespaces;                          ///< around it, the outermost first; unnamed ones have no place here
  bool is_template = false;
  std::vector<Tokens> template_parameters;  ///< as they are written, "int TILE = 32"; none of one that specialises a template
};

/// "ns::scale": as a launch names it, without template arguments.
[[nodiscard]] std::string qualified_name(const SourceKernel& kernel);

/// What `using`, `typedef` or a macro of the source makes of the name; itself where none does.
[[nodiscard]] std::string resolved_type(std::string type, const std::string& code);
/// The line that instantiates the kernel template explicitly, "template __global__ void k<float>(...);"; 0: none does.
[[nodiscard]] int instantiation_line(const std::string& code, const std::string& name);

/// How many arguments its list has; a macro that stands for several counts as one.
[[nodiscard]] std::size_t argument_count(const SourceKernel& kernel);

/// Types that a kernel template takes, by their names, and what they are where nothing else is said.
using TypeArguments = std::map<std::string, ElementLayout>;

/// What a struct of the source is in memory; nothing where it has no such type.
using StructLayouts = std::function<std::optional<ElementLayout>(const std::string& type)>;

/// What a kernel takes at one place of its list.
struct KernelArgument {
  std::string name;
  std::string type;  ///< "float", without const and with its aliases resolved
  ElementLayout layout;
  bool pointer = false, to_const = false, restrict = false;
  bool by_alias = false;     ///< the source writes another name for the type
  bool of_template = false;  ///< the type is an argument of the kernel's template
  spec::SourcePosition position;
};

/// All of a source, in its order. Requires: a source without comments.
[[nodiscard]] std::vector<SourceKernel> source_kernels(const std::string& code, const std::string& file);

/// Those that the name means, in the source's order: the one of just that name, "ns::scale" or "::scale", else any whose namespaces are not
/// all said. Several of one name are written for #if and #else.
[[nodiscard]] std::vector<SourceKernel> kernels_called(const std::vector<SourceKernel>& kernels, const std::string& name);
/// The kernel that the name means, or the only one. Throws: UsageError, SpecError, each naming the kernels that
/// there are.
[[nodiscard]] SourceKernel choose_kernel(const std::vector<SourceKernel>& kernels, const std::string& wanted, const std::string& file);

/// Throws: SpecError at the argument that attune cannot pass, with a remedy.
[[nodiscard]] std::vector<KernelArgument> kernel_arguments(const SourceKernel& kernel, const std::string& code,
                                                           const TypeArguments& types = {}, const StructLayouts& structs = {});

/// The same, one by one: nothing for those that attune cannot pass and those whose type is written by an alias, which may be another under
/// #if.
[[nodiscard]] std::vector<std::optional<KernelArgument>> plain_arguments(const SourceKernel& kernel, const std::string& code);

}  // namespace attune::importing
