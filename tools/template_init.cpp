#include "tools/template_init.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/init_compiler.hpp"
#include "tools/output.hpp"
#include "tools/template_folder.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/importing/init.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::tools {
namespace {

using importing::InitialTemplate;
using importing::Question;

struct InitOptions {
  importing::InitRequest request;
  std::string folder;
  std::string architecture = "sm_90";
  bool json_output = false;
  bool interactive = false;
};

/// Asks on standard error and reads standard input; the end of input accepts this guess and all others.
std::string ask_person(const Question& question) {
  for (std::string answer;;) {
    base::tell("{}: {} [{}]: ", question.about, question.text, question.proposed);
    if (!std::getline(std::cin, answer)) {
      base::tell("\n");
      return question.proposed;
    }
    answer = base::trimmed(answer, " \t\r");
    if (answer.empty()) return question.proposed;
    const std::string fault = question.fault(answer);
    if (fault.empty()) return answer;
    base::tell("{}\n", fault);
  }
}

void print(const InitialTemplate& initial, const InitOptions& options, const compile::KernelResources& compiled) {
  const auto& kernel = initial.made.kernel;
  const auto passed = std::count_if(kernel.arguments.begin(), kernel.arguments.end(), importing::is_passed);
  base::print("{}: the template {}, made of {}: {}, {}, {}\n", options.folder, kernel.name, options.request.file.string(),
              importing::counted(kernel.parameters.size(), "parameter"), importing::counted(kernel.constraints.size(), "condition"),
              importing::counted(static_cast<std::size_t>(passed), "argument"));
  print_notes(kernel.notes);
  base::print("its default compiles for {}: {} registers, {} bytes shared\n", options.architecture, compiled.registers,
              compiled.static_shared_bytes);
  print_next_step(options.folder);
}

int run_init(const InitOptions& options, const CommandContext& context) {
  check_template_folder(options.folder, fmt::format("making a template of {}", options.request.file.string()));
  static_cast<void>(spec::DeviceInfo::of_architecture(options.architecture));  // a wrong one is told before any question
  importing::InitRequest request = options.request;
  request.struct_layout = struct_probe(options.request.file.string(), options.architecture, context);
  if (options.interactive) request.ask = ask_person;
  InitialTemplate initial = importing::init_template(request);
  const DefaultCode code = compile_default(initial, options.request.file.string(), options.folder, options.architecture, context);
  const compile::KernelResources& compiled = code.resources;
  importing::settle_constants(initial, code.cubin);
  importing::settle_shared_bytes(initial, compiled.static_shared_bytes);
  write_template_folder(options.folder, initial.made);
  if (options.json_output) {
    auto object = folder_json(initial.made, options.folder);
    object["registers"] = compiled.registers;
    object["shared_bytes"] = compiled.static_shared_bytes;
    print_json(object, 1);
  } else {
    print(initial, options, compiled);
  }
  return 0;
}

}  // namespace

void add_template_init_command(CLI::App& parent, CommandContext& context) {
  auto options = std::make_shared<InitOptions>();
  auto* command = parent.add_subcommand("init", "Make a template of a kernel in a plain .cu file");
  command->add_option("file", options->request.file, "The CUDA source")->required();
  command->add_option("--output,-o", options->folder, "Folder to write: a new one, or one that is empty")->required();
  command->add_option("--kernel", options->request.kernel, "Which __global__ function, where the source has several");
  command->add_option("--reference", options->request.reference,
                      "A plain __global__ function of the file that computes the same: results are compared with its");
  command->add_option("--arch", options->architecture, "Architecture to compile for")->capture_default_str();
  command->add_flag("--json", options->json_output, "The result as JSON");
  command->add_flag("--interactive", options->interactive, "Ask about each guess; Enter accepts it, the end of input all that are left");
  command->footer(
      "The source is copied without code for the host. What was taken, guessed and left out is told, a line each; docs/own-kernel.md explains.");
  command->callback([options, &context] { context.action = [options, &context] { return run_init(*options, context); }; });
}

}  // namespace attune::tools
