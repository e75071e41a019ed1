#include "tools/template_import.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tools/scratch_folder.hpp"
#include "tools/script_capture.hpp"
#include "tools/stop_signals.hpp"
#include "tools/template_folder.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/importing/import.hpp"

namespace attune::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t kLargestArrayMib = 256;

struct ImportOptions {
  importing::ImportRequest request;
  std::string folder;
  std::vector<std::string> arguments;             ///< of a script
  std::optional<std::int64_t> largest_array_mib;  ///< of a script; none: kLargestArrayMib
  bool json_output = false;
};

void print(const importing::ImportedTemplate& made, const std::string& from, const std::string& folder) {
  const auto& kernel = made.kernel;
  base::print("{}: the template {}, imported from {}: {}, {}, {} of {}\n", folder, kernel.name, from,
              importing::counted(kernel.parameters.size(), "parameter"), importing::counted(kernel.constraints.size(), "condition"),
              importing::counted(kernel.arguments.size(), "argument"), kernel.kernel);
  print_notes(kernel.notes);
  print_next_step(folder);
}

int import_file(const ImportOptions& options) {
  const auto made = importing::import_t1(options.request);
  write_template_folder(options.folder, made);
  if (options.json_output)
    print_json(folder_json(made, options.folder), 1);
  else
    print(made, options.request.file.string(), options.folder);
  return 0;
}

/// Whether anybody has made a template of what a call asks for.
bool is_importable(const CapturedCall& call) { return call.problems.empty(); }

/// A folder for each call where there are several, named as its kernel and, from the second of that name on, its number.
std::string folder_of(const ImportOptions& options, const CapturedScript& script, const CapturedCall& call) {
  if (std::count_if(script.calls.begin(), script.calls.end(), is_importable) == 1) return options.folder;
  return (fs::path(options.folder) / call.file.stem()).string();
}

/// Makes a template of a call. What keeps it from becoming one is added to its problems: nobody has the T1 file that errors name.
json import_call(const ImportOptions& options, const CapturedScript& script, CapturedCall& call, const fs::path& captured) {
  const std::string from = options.request.file.string();
  try {
    const auto made = importing::import_t1({captured / call.file, {}, options.request.name, from});
    const std::string folder = folder_of(options, script, call);
    write_template_folder(folder, made);
    if (!options.json_output) print(made, from, folder);
    return folder_json(made, folder);
  } catch (const SpecError& error) {
    const std::string what = error.what();
    const std::size_t place = what.find(": ");
    call.problems.push_back(place == std::string::npos ? what : what.substr(place + 2));
    return nullptr;
  }
}

/// Makes a template of each call of a script that can become one.
int import_script(const ImportOptions& options) {
  const std::string from = options.request.file.string();
  if (!options.request.kernel_file.empty())
    throw UsageError(fmt::format("failed importing {}: a script names its kernel itself; leave --kernel-file away", from));
  const ScratchFolder scratch;
  const CapturedScript script =
      capture_script(options.request.file, options.arguments, scratch.path(), options.largest_array_mib.value_or(kLargestArrayMib));
  stop_on_signals();  // the folder of the script's arrays, which may be large, is not left behind
  json told = json::array();
  bool made_one = false;
  for (CapturedCall call : script.calls) {
    throw_when_output_is_stopped();
    json made = is_importable(call) ? import_call(options, script, call, scratch.path()) : json();
    made_one = made_one || !made.is_null();
    if (!options.json_output) {
      for (const auto& note : call.notes) base::print("  in the script: {}\n", base::escape_line(note));
      for (const auto& problem : call.problems) base::print("{}: no template of {}: {}\n", from, call.kernel, base::escape_line(problem));
    }
    told.push_back({{"kernel", call.kernel}, {"notes", call.notes}, {"problems", call.problems}, {"template", std::move(made)}});
  }
  if (!script.ended.empty())
    base::tell_message(fmt::format("the script ended behind what was imported: {}", base::escape_line(script.ended)));
  if (options.json_output) print_json({{"script", from}, {"calls", told}, {"ended", script.ended}}, 1);
  if (!made_one) throw SpecError(from, 0, 0, "nothing that the script tunes can become a template; each of its calls says why");
  return 0;
}

int run_import(const ImportOptions& options) {
  const std::string from = options.request.file.string();
  check_template_folder(options.folder, "importing " + from);
  if (options.request.file.extension() == ".py") return import_script(options);
  if (!options.arguments.empty()) throw UsageError(fmt::format("failed importing {}: only scripts (*.py) take arguments", from));
  if (options.largest_array_mib)
    throw UsageError(
        fmt::format("failed importing {}: only the arrays of scripts (*.py) have a largest size; leave --largest-array away", from));
  return import_file(options);
}

}  // namespace

void add_template_import_command(CLI::App& parent, CommandContext& context) {
  auto options = std::make_shared<ImportOptions>();
  auto* command = parent.add_subcommand(
      "import", "Make a template of a T1 file, a kernel described for Kernel Tuner, KTT or BAT, or of a Python script of Kernel Tuner");
  command->add_option("file", options->request.file, "The T1 file (JSON), or the script (FILE.py), which is run: trust it")->required();
  command->add_option("arguments", options->arguments, "Arguments of the script, after --");
  command->add_option("--output,-o", options->folder, "Folder to write: a new one, or one that is empty")->required();
  command->add_option("--kernel-file", options->request.kernel_file, "The kernel's CUDA source (default: the file's \"KernelFile\")");
  command->add_option("--name", options->request.name, "The template's name (default: the file's \"BenchmarkName\", or the kernel)");
  command
      ->add_option("--largest-array", options->largest_array_mib,
                   fmt::format("Of a script's arrays, take contents of up to so many MiB each (default: {})", kLargestArrayMib))
      ->check([](const std::string& word) { return base::whole_number_fault(word); })
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30));
  command->add_flag("--json", options->json_output, "The result as JSON");
  command->footer(
      "The kernel's file and its data are copied as they are. What a template cannot say is told, a line each; docs/own-kernel.md explains.");
  command->callback([options, &context] { context.action = [options] { return run_import(*options); }; });
}

}  // namespace attune::tools
