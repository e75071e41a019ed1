#include "tools/template_init.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <string_view>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/template_folder.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/compile/compile_pool.hpp"
#include "tuner/compile/find_kernel.hpp"
#include "tuner/importing/init.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/kernel_name.hpp"
#include "tuner/spec/launch_plan.hpp"

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
    const std::size_t begin = answer.find_first_not_of(" \t\r");
    if (begin == std::string::npos) return question.proposed;
    answer = answer.substr(begin, answer.find_last_not_of(" \t\r") + 1 - begin);
    const std::string fault = question.fault(answer);
    if (fault.empty()) return answer;
    base::tell("{}\n", fault);
  }
}

/// The first "FILE(12): error" of a log; 0: there is none.
int error_line(const std::string& log, const std::string& file) {
  const std::size_t error = log.find("): error");
  if (error == std::string::npos) return 0;
  const std::size_t open = log.rfind('(', error);
  if (open == std::string::npos || open < file.size() || log.compare(open - file.size(), file.size(), file) != 0) return 0;
  const std::string digits = log.substr(open + 1, error - open - 1);
  const bool number = !digits.empty() && digits.size() < 9 && digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(digits) : 0;
}

const char* remedy(const std::string& log) {
  const bool header =
      log.find("could not open source file") != std::string::npos || log.find("cannot open source file") != std::string::npos;
  return header
             ? "NVRTC has CUDA's headers and those of the kernel's folder; put what is for the host between #ifndef __CUDACC_RTC__ and #endif"
             : "mend it, or put code for the host between #ifndef __CUDACC_RTC__ and #endif";
}

/// The template's default configuration through the compiler. Throws: SpecError with the compiler's text, EnvironmentError.
compile::KernelResources compile_default(const InitialTemplate& initial, const InitOptions& options, const CommandContext& context) {
  const std::string file = options.request.file.string();
  std::map<std::string, std::string> sources = initial.made.files;
  sources.erase("template.json");
  spec::add_included_files(sources, [](const std::string&, std::string&) { return false; });  // attune's own headers
  const auto kernel = spec::KernelTemplate::parse(initial.made.files.at("template.json"), sources, options.folder + "/template.json");
  const auto device = spec::DeviceInfo::of_architecture(options.architecture);
  const auto problem = problem_of_size(kernel, 1 << 10);
  const auto standard = spec::default_configuration(kernel);
  const auto source = spec::make_source(kernel, problem, standard, device);
  compile::CompilePool::Options pool_options;
  pool_options.worker = context.executable;
  pool_options.workers = 1;
  compile::CompilePool pool(pool_options);
  const auto compiled =
      pool.compile_now({source, kernel.name + ".cu", options.architecture, spec::compiler_options(kernel, problem, standard, device)});
  if (compiled.status != compile::CompileStatus::Ok)
    throw SpecError(file, error_line(compiled.log, initial.made.kernel.kernel_file), 1,
                    fmt::format("failed compiling the kernel with default values: {}\n{}", remedy(compiled.log), compiled.log));
  const auto* const launch = std::get_if<spec::LaunchSpec>(&kernel.steps.front());
  const auto scope = spec::make_scope(kernel, problem, standard, device);
  if (const auto* const found = compile::find_kernel(compiled, spec::kernel_name(kernel, *launch, problem, scope))) return *found;
  throw SpecError(
      file, initial.made.kernel.kernel_position.line, initial.made.kernel.kernel_position.column,
      fmt::format("the compiled source has no kernel '{}'; is it inside an #if that does not hold?", initial.made.kernel.kernel));
}

void print(const InitialTemplate& initial, const InitOptions& options, const compile::KernelResources& compiled) {
  const auto& kernel = initial.made.kernel;
  base::print("{}: the template {}, made of {}: {}, {}, {}\n", options.folder, kernel.name, options.request.file.string(),
              importing::counted(kernel.parameters.size(), "parameter"), importing::counted(kernel.constraints.size(), "condition"),
              importing::counted(kernel.arguments.size(), "argument"));
  print_notes(kernel.notes);
  base::print("its default compiles for {}: {} registers, {} bytes shared\n", options.architecture, compiled.registers,
              compiled.static_shared_bytes);
  print_next_step(options.folder);
}

int run_init(const InitOptions& options, const CommandContext& context) {
  check_template_folder(options.folder, fmt::format("making a template of {}", options.request.file.string()));
  static_cast<void>(spec::DeviceInfo::of_architecture(options.architecture));  // a wrong one is told before any question
  importing::InitRequest request = options.request;
  if (options.interactive) request.ask = ask_person;
  InitialTemplate initial = importing::init_template(request);
  const auto compiled = compile_default(initial, options, context);
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
