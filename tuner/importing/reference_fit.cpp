#include "tuner/importing/reference_fit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tuner/importing/kernel_source.hpp"
#include "tuner/importing/signature.hpp"
#include "tuner/importing/t1_reader.hpp"

namespace attune::importing {
namespace {

/// What its launch passes, in its order.
std::vector<ImportedArgument> passed_to_reference(const ImportedKernel& kernel) {
  std::vector<ImportedArgument> all;
  if (kernel.reference.passes.empty()) {
    std::copy_if(kernel.arguments.begin(), kernel.arguments.end(), std::back_inserter(all), is_passed);
    return all;
  }
  for (const std::string& name : kernel.reference.passes) {
    const auto found = std::find_if(kernel.arguments.begin(), kernel.arguments.end(),
                                    [&](const ImportedArgument& one) { return one.name == name && is_passed(one); });
    if (found != kernel.arguments.end()) all.push_back(*found);
  }
  return all;
}

/// A parameter that the kernel's code names, though it may not; empty: none.
std::string tuned_name(const ImportedKernel& kernel, const std::vector<SourceKernel>& definitions) {
  const auto& allowed = kernel.reference.at_default;
  for (const spec::Parameter& parameter : kernel.parameters) {
    const auto uses = [&](const SourceKernel& one) { return contains_word(one.body, parameter.name); };
    if (std::find(allowed.begin(), allowed.end(), parameter.name) == allowed.end() &&
        std::any_of(definitions.begin(), definitions.end(), uses))
      return parameter.name;
  }
  return "";
}

std::string why_not_passed(const ImportedKernel& kernel, const std::vector<ImportedArgument>& passed, const SourceKernel& definition,
                           const std::string& code) {
  if (const std::size_t takes = argument_count(definition); takes != passed.size()) {
    return fmt::format("it takes {}, and the tuned kernel has {}: list the names of its own in \"Arguments\"", counted(takes, "argument"),
                       passed.size());
  }
  const auto taken = plain_arguments(definition, code);
  for (std::size_t i = 0; i < taken.size() && i < passed.size(); ++i) {
    const std::string text = taken[i] ? signature_difference(passed[i], *taken[i]) : "";
    if (!text.empty()) return fmt::format("its argument '{}' is another: {}", passed[i].name, text);
  }
  for (const ImportedArgument& argument : kernel.arguments) {
    const bool there = std::any_of(passed.begin(), passed.end(), [&](const auto& one) { return one.name == argument.name; });
    if (is_written(argument) && !there) return fmt::format("it does not take the result '{}', which would be compared", argument.name);
  }
  return "";
}

/// Why the source's kernel is no reference; empty: it is one, and finished.
std::string finish(ImportedKernel& kernel, const std::string& code) {
  ImportedReference& reference = kernel.reference;
  const std::size_t bracket = std::min(reference.kernel.find('<'), reference.kernel.size());
  const auto definitions = kernels_called(source_kernels(code, kernel.kernel_file), reference.kernel.substr(0, bracket));
  if (definitions.empty()) return "the kernel's file shows no __global__ function of this name with a body: name one that is there";
  const SourceKernel& first = definitions.front();
  if (first.linkage == SourceKernel::Linkage::Local) return "it is static or in an unnamed namespace: take that away";
  if (first.is_template != (bracket < reference.kernel.size()))
    return first.is_template ? "it is a template, and its name has no arguments: write them, \"plain<float>\""
                             : "it is no template, and its name has arguments";
  if (const std::string name = tuned_name(kernel, definitions); !name.empty()) {
    return fmt::format(
        "it uses {}, which is tuned: let it have no such name, or give its value in \"Parameters\", where that is the default", name);
  }
  std::vector<ImportedArgument> passed = passed_to_reference(kernel);
  if (std::string why = why_not_passed(kernel, passed, first, code); !why.empty()) return why;
  reference.kernel = qualified_name(first) + reference.kernel.substr(bracket);
  reference.arguments = std::move(passed);
  return "";
}

}  // namespace

void fit_reference(ImportedKernel& kernel, const std::string& source) {
  if (kernel.reference.kernel.empty()) return;
  const std::string about = fmt::format("the reference '{}'", kernel.reference.kernel);
  if (const std::string why = finish(kernel, without_comments(source)); !why.empty()) {
    kernel.reference = {};
    kernel.notes.push_back({Note::Kind::LeftOut, about, why});
    kernel.notes.push_back(unverified_note());
    return;
  }
  kernel.notes.push_back({Note::Kind::Taken, about,
                          fmt::format("launched in {} blocks of {} threads; results are compared with its",
                                      fmt::join(kernel.reference.grid, " x "), fmt::join(kernel.reference.block, " x "))});
}

}  // namespace attune::importing
