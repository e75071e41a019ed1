#include "tuner/importing/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tuner/importing/cuda_kernel.hpp"
#include "tuner/importing/element_layout.hpp"
#include "tuner/importing/kernel_usage.hpp"

namespace attune::importing {
namespace {

using Role = ImportedArgument::Role;

bool passes_number(const ImportedArgument& argument) {
  return argument.role == Role::Scalar || argument.role == Role::Size || argument.role == Role::Computed;
}

/// Random integers would lead out of the other array.
void keep_indices_in_range(ImportedArgument& listed, const KernelUsage& usage, const std::string& name, std::vector<Note>& notes) {
  const auto use = usage.pointers.find(name);
  if (use == usage.pointers.end() || !use->second.is_index || spec::is_floating(listed.type)) return;
  if (passes_number(listed) || listed.role == Role::Output || listed.fill != spec::Fill::Uniform) return;
  if (!listed.fill_file.empty()) return;  // they are the kernel's own
  listed.fill = spec::Fill::Zeros;
  notes.push_back({Note::Kind::Decide, fmt::format("the argument '{}'", listed.name),
                   "the kernel indexes another array with its elements: zeros stand there, which are in range; a kernel whose time depends "
                   "on them needs others"});
}

}  // namespace

std::string signature_difference(const ImportedArgument& listed, const KernelArgument& taken) {
  const std::string written = fmt::format("'{}{} {}' (line {})", taken.type, taken.pointer ? "*" : "", taken.name, taken.position.line);
  if (taken.pointer && passes_number(listed))
    return fmt::format("the kernel takes memory here, {}, and the file gives it a number", written);
  if (!taken.pointer && !passes_number(listed))
    return fmt::format("the kernel takes a number here, {}, and the file gives it memory", written);
  if (!spec::same_bits(listed.type, taken.layout.type))
    return fmt::format("the kernel takes {} here, and the file's type is {}", written, spec::name(listed.type));
  return "";
}

void fit_to_signature(ImportedKernel& kernel, const SourceKernel& definition, const std::string& code) {
  const auto taken = plain_arguments(definition, code);
  std::vector<ImportedArgument*> listed;
  for (ImportedArgument& argument : kernel.arguments) {
    if (is_passed(argument)) listed.push_back(&argument);
  }
  if (listed.size() != taken.size()) return;
  std::vector<KernelArgument> known;
  for (const auto& argument : taken) {
    if (argument) known.push_back(*argument);
  }
  const KernelUsage usage = kernel_usage(definition, known);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) continue;
    const std::string text = signature_difference(*listed[i], *taken[i]);
    if (!text.empty()) kernel.notes.push_back({Note::Kind::Decide, fmt::format("the argument '{}'", listed[i]->name), text});
    keep_indices_in_range(*listed[i], usage, taken[i]->name, kernel.notes);
  }
}

}  // namespace attune::importing
