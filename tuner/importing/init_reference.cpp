// Of InitDraft: the plain kernel that results are compared with.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/importing/init_draft.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

using Role = ImportedArgument::Role;

[[noreturn]] void refuse(const SourceKernel& plain, const std::string& why) {
  spec::fail(plain.position, fmt::format("'{}' cannot be the reference: {}", plain.name, why));
}

/// The types that it takes in angle brackets, as the launch writes them: those of the tuned kernel, by the same names.
std::string template_arguments_of(const InitDraft& draft, const SourceKernel& plain) {
  std::vector<std::string> arguments;
  for (const Tokens& written : plain.template_parameters) {
    const auto found = std::find_if(draft.template_parameters.begin(), draft.template_parameters.end(),
                                    [&](const TemplateParameter& one) { return one.is_type && contains_word(written, one.name); });
    if (found == draft.template_parameters.end())
      refuse(plain, fmt::format("its template parameter '{}' is no type of '{}'; a reference takes the same types by the same names",
                                shown(written), draft.source.name));
    arguments.push_back(found->own_name);
  }
  return fmt::format("{}", fmt::join(arguments, ", "));
}

/// What attune tunes would be compiled into it as well.
void require_plain(const InitDraft& draft, const SourceKernel& plain) {
  for (const auto& named : draft.expressions) {
    const auto& all = draft.kernel.parameters;
    const bool tuned = std::any_of(all.begin(), all.end(), [&](const spec::Parameter& one) { return one.name == named.second; });
    if (tuned && contains_word(plain.body, named.first))
      refuse(plain, fmt::format("it uses {}, which is tuned; let it read blockDim and have no such number", named.first));
  }
}

/// Its launch, without anything to tune.
void place_reference(const InitDraft& draft, InitDraft& plain) {
  plain.is_reference = true;
  plain.kernel.sizes = draft.kernel.sizes;
  plain.sizes = draft.sizes;
  plain.size_order = draft.size_order;
  plain.size_names = draft.size_names;
  std::set<std::string> numbers;
  for (const SourceName& name : draft.names) {
    if (!name.number || name.kind == SourceName::Kind::TemplateArgument) continue;
    plain.expressions[name.name] = std::to_string(*name.number);
    numbers.insert(name.name);
  }
  plain.usage = kernel_usage(plain.source, plain.arguments, numbers);
  draft_geometry(plain);
}

/// By its name in the tuned kernel's list.
ImportedArgument passed(const InitDraft& draft, const SourceKernel& plain, const KernelArgument& argument) {
  for (std::size_t i = 0; i < draft.arguments.size(); ++i) {
    if (draft.arguments[i].name != argument.name) continue;
    ImportedArgument made = draft.kernel.arguments[i];
    if (draft.arguments[i].pointer != argument.pointer ||
        (made.role != Role::Size && (made.type != argument.layout.type || made.struct_bytes != argument.layout.struct_bytes)))
      refuse(plain, fmt::format("its argument '{}' is of another type than that of '{}'", argument.name, draft.source.name));
    made.type = argument.layout.type;
    return made;
  }
  refuse(plain, fmt::format("its argument '{}' is none of '{}'; call what is the same by the same name", argument.name, draft.source.name));
}

}  // namespace

void draft_reference(InitDraft& draft, const std::vector<SourceKernel>& kernels, const std::string& name, const std::string& code) {
  if (name.empty()) {
    draft.note(
        Note::Kind::Decide, "\"reference\"",
        "it is \"none\", so that no result is checked; --reference names a plain kernel of the file, docs/references.md tells of others");
    draft.kernel.remarks["reference"] = "decide: what results are checked against; \"none\" checks nothing";
    return;
  }
  InitDraft plain;
  plain.source = choose_kernel(kernels, name, draft.source.position.file);
  require_plain(draft, plain.source);
  ImportedReference& reference = draft.kernel.reference;
  const std::string arguments = template_arguments_of(draft, plain.source);
  reference.kernel = qualified_name(plain.source) + (arguments.empty() ? "" : fmt::format("<{}>", arguments));
  plain.arguments = kernel_arguments(plain.source, code, draft.types, draft.structs);
  place_reference(draft, plain);
  for (const KernelArgument& argument : plain.arguments) reference.arguments.push_back(passed(draft, plain.source, argument));
  reference.grid = plain.kernel.grid;
  reference.block = plain.kernel.block;
  draft.note(Note::Kind::Guessed, fmt::format("the reference '{}'", plain.source.name),
             fmt::format("{} blocks of {} threads", fmt::join(reference.grid, " x "), fmt::join(reference.block, " x ")));
  draft_terms(draft, plain);
  for (const Note& note : plain.kernel.notes) {
    if (note.kind == Note::Kind::Decide) draft.note(note.kind, fmt::format("the reference's {}", note.about), note.text);
  }
}

}  // namespace attune::importing
