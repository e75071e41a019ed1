#include "tuner/importing/init.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/importing/init_draft.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/importing/source_files.hpp"
#include "tuner/importing/template_writer.hpp"

namespace attune::importing {
namespace {

constexpr const char* kTemplateFile = "template.json";

void write_json(InitialTemplate& initial) {
  initial.made.files[kTemplateFile] = template_json(initial.made.kernel, {initial.made.kernel.kernel_file});
}

/// What attune itself says of the outcome: an answer may be an expression of names that there are not.
void check_outcome(const InitialTemplate& initial, const std::filesystem::path& folder) {
  std::map<std::string, std::string> sources = initial.made.files;
  sources.erase(kTemplateFile);
  static_cast<void>(spec::KernelTemplate::parse(initial.made.files.at(kTemplateFile), sources, (folder / kTemplateFile).string()));
}

/// Those of the kernel's file and of what it includes. A name may be used in another file than it is defined in.
std::vector<SourceName> names_of_files(const std::map<std::string, std::string>& files, const std::string& main,
                                       const std::filesystem::path& folder) {
  std::vector<SourceName> all;
  for (const auto& [file, source] : files) {
    if (file.starts_with('<')) continue;  // attune's own headers are not tuned
    for (SourceName& name : source_names(without_comments(source), (folder / file).string())) {
      name.used = name.used || (file != main && has_word(without_directives(without_comments(files.at(main))), name.name));
      all.push_back(std::move(name));
    }
  }
  return all;
}

/// The kernel that is asked for, or the only one beside the reference.
SourceKernel tuned_kernel(const InitRequest& request, std::vector<SourceKernel> kernels) {
  if (request.kernel.empty() && !request.reference.empty()) {
    std::erase_if(kernels,
                  [&](const SourceKernel& one) { return one.name == request.reference || qualified_name(one) == request.reference; });
  }
  return choose_kernel(kernels, request.kernel, request.file.string());
}

/// The plain kernel that is asked for; null: none is, or there is no such one, or several.
const SourceKernel* reference_kernel(const InitRequest& request, const std::vector<SourceKernel>& kernels) {
  if (request.reference.empty()) return nullptr;
  for (const SourceKernel& one : kernels) {
    if (one.name == request.reference || qualified_name(one) == request.reference) return &one;
  }
  return nullptr;
}

void read_draft(InitDraft& draft, const InitRequest& request, const std::map<std::string, std::string>& files, const std::string& code,
                const std::vector<SourceKernel>& kernels) {
  const std::filesystem::path folder = request.file.parent_path();
  draft.source = tuned_kernel(request, kernels);
  draft.ask = request.ask;
  draft.names = names_of_files(files, draft.kernel.kernel_file, folder);
  choose_guards(draft, files, reference_kernel(request, kernels), folder);
  draft_template(draft, code);
  if (request.struct_layout)
    draft.structs = [&](const std::string& type) {
      return request.struct_layout({files, draft.kernel.kernel_file, draft.source.namespaces, type});
    };
  draft.arguments = kernel_arguments(draft.source, code, draft.types, draft.structs);
  std::set<std::string> numbers;
  for (const SourceName& name : draft.names) {
    if (name.number) numbers.insert(name.name);
  }
  draft.usage = kernel_usage(draft.source, draft.arguments, numbers);
  draft.kernel.name = draft.source.name;
  draft.kernel.kernel = qualified_name(draft.source);
  draft.kernel.kernel_position = draft.source.position;
  draft.kernel.origin = request.file.string();
  draft.kernel.origin_text = fmt::format("Made of {} by `attune template init`", draft.kernel.kernel_file);
}

}  // namespace

InitialTemplate init_template(const InitRequest& request) {
  if (!is_regular(request.file))
    throw UsageError(
        fmt::format("failed making a template of {}: there is no such file; give the CUDA source of a kernel", request.file.string()));
  InitialTemplate initial;
  initial.made.files = read_sources(request.file);
  InitDraft draft;
  draft.kernel.kernel_file = request.file.filename().string();
  leave_out_host_code(draft, initial.made.files);
  const std::string code = without_comments(initial.made.files.at(draft.kernel.kernel_file));
  const auto kernels = source_kernels(code, request.file.string());
  read_draft(draft, request, initial.made.files, code, kernels);
  draft.note(Note::Kind::Taken, fmt::format("the kernel '{}'", draft.source.name),
             fmt::format("line {}, {} arguments", draft.source.position.line, draft.arguments.size()));
  draft_parameters(draft);
  draft_sizes(draft);
  draft_geometry(draft);
  draft_arguments(draft);
  draft_constants(draft, initial.made.files);
  draft_constraints(draft);
  draft_reference(draft, kernels, request.reference, code);
  draft_template_arguments(draft);
  write_guards(draft, initial.made.files);
  initial.shared_bytes = draft.shared_bytes;
  initial.made.kernel = std::move(draft.kernel);
  write_json(initial);
  check_outcome(initial, request.file.parent_path());
  drop_own_headers(initial.made.files);
  return initial;
}

void settle_shared_bytes(InitialTemplate& initial, int compiled_bytes) {
  if (initial.shared_bytes.empty()) return;
  ImportedKernel& kernel = initial.made.kernel;
  const auto scope = [&](std::string_view name) -> std::optional<spec::Value> {
    for (const spec::Parameter& parameter : kernel.parameters) {
      if (parameter.name == name) return parameter.values[parameter.default_index];
    }
    for (const auto& [axis, types] : kernel.types) {
      if (axis == name) return types.front();
    }
    return std::nullopt;
  };
  const std::int64_t bytes = spec::Expression::parse(initial.shared_bytes).integer(scope);
  if (bytes == compiled_bytes) {
    kernel.notes.push_back(
        {Note::Kind::Taken, "shared memory", fmt::format("{} bytes = {}, as the compiler says", bytes, initial.shared_bytes)});
  } else {
    std::erase_if(kernel.constraints, [&](const std::string& one) { return one.starts_with(initial.shared_bytes + " <="); });
    kernel.notes.push_back({Note::Kind::LeftOut, "shared memory",
                            fmt::format("the source's arrays come to {} bytes and the compiler uses {}; no condition is made of them",
                                        bytes, compiled_bytes)});
  }
  write_json(initial);
}

void settle_constants(InitialTemplate& initial, const std::string& cubin) {
  ImportedKernel& kernel = initial.made.kernel;
  std::erase_if(kernel.arguments, [&](const ImportedArgument& one) {
    const std::string symbol = '\0' + one.name + '\0';  // as it stands in the table of names
    if (!one.constant_memory || cubin.find(symbol) != std::string::npos) return false;
    const std::string about = fmt::format("the constant '{}'", one.name);
    std::erase_if(kernel.notes, [&](const Note& note) { return note.about.starts_with(about); });
    kernel.notes.push_back({Note::Kind::Decide, about,
                            "the compiled code has no variable of just that name, so that tuning finds zeros in it; take it out of its "
                            "namespace, and make it a buffer with \"memory\": \"constant\""});
    return true;
  });
  write_json(initial);
}

}  // namespace attune::importing
