#include "tuner/importing/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "attune/error.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/files.hpp"
#include "tuner/importing/kernel_source.hpp"
#include "tuner/importing/reference_fit.hpp"
#include "tuner/importing/runnable_default.hpp"
#include "tuner/importing/source_files.hpp"
#include "tuner/importing/t1_reader.hpp"
#include "tuner/importing/template_writer.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/name_table.hpp"

namespace attune::importing {
namespace {

namespace fs = std::filesystem;

constexpr const char *kBefore = "attune_before.cu", *kSpec = "template.json";

/// Kernel Tuner looks beside the file and in the folder above it.
fs::path find_kernel_file(const ImportRequest& request, const ImportedKernel& kernel) {
  if (!request.kernel_file.empty()) {
    if (is_regular(request.kernel_file)) return request.kernel_file;
    throw UsageError(fmt::format("failed importing {}: there is no kernel file '{}'; --kernel-file names the CUDA source of the kernel",
                                 request.file.string(), request.kernel_file.string()));
  }
  if (kernel.kernel_file.empty())
    spec::fail(kernel.kernel_position, "\"KernelSpecification\" lacks \"KernelFile\"; give it, or name the CUDA source with --kernel-file");
  const fs::path folder = request.file.parent_path();
  for (const fs::path& base : {folder, folder / ".."}) {
    if (is_regular(base / kernel.kernel_file)) return base / kernel.kernel_file;
  }
  spec::fail(kernel.kernel_file_position,
             fmt::format("the kernel file '{}' is neither beside this file nor in the folder above it; name it with "
                         "--kernel-file",
                         kernel.kernel_file));
}

bool depends_on(const ImportedKernel& kernel, const std::string& parameter) {
  std::vector<std::string> texts = {kernel.shared_bytes};
  texts.insert(texts.end(), kernel.grid.begin(), kernel.grid.end());
  texts.insert(texts.end(), kernel.block.begin(), kernel.block.end());
  for (const auto& let : kernel.lets) texts.push_back(let.second);
  for (const ImportedArgument& argument : kernel.arguments) texts.insert(texts.end(), {argument.count, argument.value});
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return has_word(text, parameter); });
}

/// A parameter that no source names is no macro of it: configurations that differ there alone share their code.
void bind_unnamed(ImportedKernel& kernel, const std::map<std::string, std::string>& files) {
  std::string code = kernel.before + kernel.template_arguments + "\n";
  for (const auto& [name, text] : files) {
    if (!name.starts_with('<')) code += without_comments(text) + "\n";  // attune's own headers name no parameters
  }
  for (const std::string& option : kernel.options) code += option + "\n";
  for (spec::Parameter& parameter : kernel.parameters) {
    if (has_word(code, parameter.name)) continue;
    const std::string about = fmt::format("the parameter '{}'", parameter.name);
    if (!depends_on(kernel, parameter.name)) {
      kernel.notes.push_back(
          {Note::Kind::Decide, about,
           "no source names it, and nothing of the launch depends on it: its values make the same kernel, and are measured apart all the "
           "same; take it out, or give it \"bind\": \"launch\", which makes one of them"});
    } else if (!std::holds_alternative<std::string>(parameter.values.front())) {
      parameter.binding = spec::Binding::Launch;
      kernel.notes.push_back(
          {Note::Kind::Changed, about, "of the launch alone, since no source names it: nothing is compiled anew for it"});
    }
  }
}

/// Throws: SpecError when an array would take the place of a source.
void check_data_names(const ImportedTemplate& made) {
  for (const auto& data : made.kernel.data) {
    if (made.files.contains(data.first))
      throw SpecError(made.kernel.origin, 0, 0,
                      fmt::format("it fills an argument from '{}', which is a source of the kernel; name a file of data", data.first));
  }
}

/// The outcome as attune itself reads it. Errors in the kernel's files have their place there.
spec::KernelTemplate read_back(const ImportedTemplate& made, const fs::path& kernel_folder) {
  const std::string path = (kernel_folder / kSpec).string();
  try {
    std::map<std::string, std::string> sources = made.files;
    sources.erase(kSpec);
    for (const auto& [name, data] : made.kernel.data) sources.emplace(name, spec::to_text(data.file));
    return spec::KernelTemplate::parse(made.files.at(kSpec), sources, path);
  } catch (const SpecError& error) {
    if (error.file() != path) throw;
    const std::string what = error.what();
    const std::size_t message = what.find(": ", path.size());
    throw SpecError(
        made.kernel.origin, 0, 0,
        fmt::format("it says nothing that attune can tune: {}", message == std::string::npos ? what : what.substr(message + 2)));
  }
}

}  // namespace

ImportedTemplate import_t1(const ImportRequest& request) {
  if (!is_regular(request.file))
    throw UsageError(fmt::format("failed importing {}: there is no such file; give the T1 file of a kernel", request.file.string()));
  if (!request.name.empty()) spec::check_identifier(request.name, "the template's name", {"--name", 1, 1});
  ImportedTemplate made;
  made.kernel = read_t1(base::read_file(request.file), request.file.string(), request.name);
  if (!request.origin.empty()) made.kernel.origin = request.origin;
  const fs::path source = find_kernel_file(request, made.kernel);
  made.files = read_sources(source);
  const std::string main = source.filename().string();
  fit_to_source(made.kernel, made.files.at(main));
  fit_reference(made.kernel, made.files.at(main));
  bind_unnamed(made.kernel, made.files);
  std::vector<std::string> sources = {main};
  if (!made.kernel.before.empty()) {
    sources.insert(sources.begin(), kBefore);
    made.files[kBefore] =
        "// Written by `attune template import`: what the kernel's file, which is unchanged, expects around it.\n" + made.kernel.before;
  }
  made.files[kSpec] = template_json(made.kernel, sources);
  check_data_names(made);
  const auto written = read_back(made, source.parent_path());
  if (choose_default(made.kernel, written)) made.files[kSpec] = template_json(made.kernel, sources);
  drop_own_headers(made.files);
  return made;
}

}  // namespace attune::importing
