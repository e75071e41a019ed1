#include "tools/template_import.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/importing/import.hpp"

namespace attune::tools {
namespace {

namespace fs = std::filesystem;
using importing::Note;
using nlohmann::json;

struct ImportOptions {
  importing::ImportRequest request;
  std::string folder;
  bool json_output = false;
};

const char* text_of(Note::Kind kind) {
  switch (kind) {
    case Note::Kind::Taken:
      return "taken";
    case Note::Kind::Changed:
      return "changed";
    case Note::Kind::LeftOut:
      return "left out";
    case Note::Kind::Decide:
      return "to decide";
  }
  throw Error("failed describing a note: unknown kind");
}

/// Nothing of anybody's is written over.
void check_folder(const ImportOptions& options) {
  const auto refuse = [&](const char* why) {
    throw UsageError(fmt::format("failed importing {}: '{}' {}; name a folder that does not exist yet", options.request.file.string(),
                                 options.folder, why));
  };
  std::error_code error;
  const fs::file_status status = fs::status(options.folder, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) refuse("is no folder");
  const bool empty = fs::is_empty(options.folder, error);
  if (error) throw EnvironmentError(fmt::format("failed reading {}: {}", options.folder, error.message()));
  if (!empty) refuse("is not empty");
}

/// template.json comes last: a folder is a template when it is there.
void write_folder(const fs::path& folder, const std::map<std::string, std::string>& files) {
  const auto make = [](const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw EnvironmentError(fmt::format("failed creating {}: {}", path.string(), error.message()));
  };
  make(folder);
  for (const bool spec : {false, true}) {
    for (const auto& [name, bytes] : files) {
      if ((name == "template.json") != spec) continue;
      make((folder / name).parent_path());
      write_output_target((folder / name).string(), bytes);
    }
  }
}

json to_json(const importing::ImportedTemplate& made, const std::string& folder) {
  json files = json::array(), notes = json::array();
  for (const auto& file : made.files) files.push_back(file.first);
  for (const Note& note : made.kernel.notes) notes.push_back({{"what", text_of(note.kind)}, {"about", note.about}, {"text", note.text}});
  return {{"template", made.kernel.name},
          {"folder", folder},
          {"files", files},
          {"kernel", made.kernel.kernel},
          {"parameters", made.kernel.parameters.size()},
          {"conditions", made.kernel.constraints.size()},
          {"arguments", made.kernel.arguments.size()},
          {"notes", notes}};
}

void print(const importing::ImportedTemplate& made, const ImportOptions& options) {
  const auto& kernel = made.kernel;
  base::print("{}: the template {}, imported from {}: {}, {}, {} of {}\n", options.folder, kernel.name, options.request.file.string(),
              importing::counted(kernel.parameters.size(), "parameter"), importing::counted(kernel.constraints.size(), "condition"),
              importing::counted(kernel.arguments.size(), "argument"), kernel.kernel);
  for (const auto kind : {Note::Kind::Taken, Note::Kind::Changed, Note::Kind::LeftOut, Note::Kind::Decide}) {
    for (const Note& note : kernel.notes) {
      if (note.kind == kind) base::print("  {}: {}: {}\n", text_of(kind), note.about, note.text);
    }
  }
  const bool is_path = options.folder.find('/') != std::string::npos;  // a bare name would be that of a built-in template
  base::print("attune template check {}{} counts its space and compiles it\n", options.folder, is_path ? "" : "/");
}

int run_import(const ImportOptions& options) {
  check_folder(options);
  const auto made = importing::import_t1(options.request);
  write_folder(options.folder, made.files);
  if (options.json_output)
    print_json(to_json(made, options.folder), 1);
  else
    print(made, options);
  return 0;
}

}  // namespace

void add_template_import_command(CLI::App& parent, CommandContext& context) {
  auto options = std::make_shared<ImportOptions>();
  auto* command = parent.add_subcommand("import", "Make a template of a T1 file: a kernel described for Kernel Tuner, KTT or BAT");
  command->add_option("file", options->request.file, "The T1 file (JSON)")->required();
  command->add_option("--output,-o", options->folder, "Folder to write: a new one, or one that is empty")->required();
  command->add_option("--kernel-file", options->request.kernel_file, "The kernel's CUDA source (default: the file's \"KernelFile\")");
  command->add_option("--name", options->request.name, "The template's name (default: the file's \"BenchmarkName\", or the kernel)");
  command->add_flag("--json", options->json_output, "The result as JSON");
  command->footer("The kernel's file is copied as it is. What a template cannot say is told, a line each; docs/own-kernel.md explains.");
  command->callback([options, &context] { context.action = [options] { return run_import(*options); }; });
}

}  // namespace attune::tools
