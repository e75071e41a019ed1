// attune source: the translation unit that NVRTC gets for one configuration, and how to compile it elsewhere. Needs no GPU.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/compile_command.hpp"
#include "tools/configuration_text.hpp"
#include "tools/named_template.hpp"
#include "tools/open_databases.hpp"
#include "tools/output.hpp"
#include "tools/output_target.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/runtime/lookup.hpp"
#include "tuner/spec/untimed_steps.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

struct SourceOptions {
  std::string template_name;
  std::vector<std::string> template_folders;
  std::string configuration;
  bool best = false;
  std::vector<std::string> databases;
  std::string device;
  std::string policy = "cold/graph";
  std::string architecture = "sm_90";
  std::string output;
  bool options_only = false;
  std::string compiler;  ///< of --command; empty: not asked for
  bool json_output = false;

  /// Whether standard output tells something else than the source.
  [[nodiscard]] bool tells() const { return options_only || !compiler.empty() || json_output; }
};

/// One configured problem and what is compiled for it.
struct ConfiguredSource {
  spec::KernelTemplate kernel;
  spec::Problem problem;
  spec::DeviceInfo device;
  spec::Configuration configuration;
  std::string tier;  ///< how the database chose it; empty: it did not
  compile::CompileRequest request;
};

spec::Problem one_problem(const spec::KernelTemplate& kernel, const std::vector<std::string>& arguments) {
  auto problems = problems_from_arguments(kernel, arguments);
  if (problems.size() == 1) return std::move(problems.front());
  throw UsageError(fmt::format("the arguments name {} problems; a source is that of one: give one value for each axis", problems.size()));
}

/// What dispatch would choose out of the databases. Throws: UsageError where that is nothing.
void choose_best(const SourceOptions& options, const std::vector<runtime::Layer>& layers, ConfiguredSource& source) {
  const std::string policy = measure::to_text(measure::policy_from_text(options.policy));
  const auto choice = runtime::choose(source.kernel, source.problem, source.device, layers, {policy, false});
  if (choice.decision.tier == Tier::Default) {
    std::vector<std::string> names;
    for (const auto& layer : layers) names.push_back(layer.path.string());
    std::string message = fmt::format("there is no best configuration of \"{}\" for {} on {} ({}) in {}; attune tune makes one",
                                      source.kernel.name, describe(source.problem), source.device.name, policy,
                                      names.empty() ? "any database" : fmt::format("{}", fmt::join(names, ", ")));
    for (const auto& reason : choice.decision.passed_over) message += "\npassed over: " + reason;
    throw UsageError(message);
  }
  source.configuration = choice.configuration;
  source.tier = name(choice.decision.tier);
}

ConfiguredSource configured_source(const SourceOptions& options, const std::vector<std::string>& arguments) {
  ConfiguredSource source;
  source.kernel =
      named_template(spec::TemplateLibrary({options.template_folders.begin(), options.template_folders.end()}), options.template_name);
  source.problem = one_problem(source.kernel, arguments);
  if (options.best || !options.device.empty()) {
    const auto opened = open_databases(options.databases);
    source.device = runtime::device_by_name(opened.layers, options.device.empty() ? options.architecture : options.device);
    if (options.best) choose_best(options, opened.layers, source);
  } else {
    source.device = spec::DeviceInfo::of_architecture(options.architecture);
  }
  if (!options.best) {
    source.configuration =
        configuration_with(source.kernel, options.configuration, spec::default_configuration(source.kernel, source.problem, source.device));
    check_in_space(source.kernel, source.problem, source.configuration, source.device);
  }
  source.request = {spec::make_source(source.kernel, source.problem, source.configuration, source.device), source.kernel.name + ".cu",
                    source.device.architecture, spec::compiler_options(source.kernel, source.problem, source.configuration, source.device)};
  return source;
}

json launch_json(const spec::ResolvedLaunch& launch) {
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"cluster", launch.cluster[0] == 0 ? json() : json(launch.cluster)},
          {"shared_bytes", launch.shared_bytes},
          {"cooperative", launch.cooperative},
          {"dependent", launch.dependent}};
}

json launches_json(const spec::LaunchPlan& plan) {
  json kernels = json::array();
  for (const auto* const launch : spec::launches_of(plan)) kernels.push_back(launch_json(*launch));
  return kernels;
}

/// "setup" and "check" where the template has them. A setup that all configurations share is that of the parameters' own defaults.
void add_untimed(json& told, const ConfiguredSource& source) {
  if (source.kernel.setup_is_shared)
    told["setup"] =
        launches_json(spec::resolve_setup(source.kernel, source.problem, spec::default_configuration(source.kernel), source.device));
  for (const auto& untimed : spec::resolve_own_untimed(source.kernel, source.problem, source.configuration, source.device))
    told[untimed.name] = launches_json(untimed.plan);
}

json source_json(const ConfiguredSource& source, const std::string& command) {
  const auto plan = spec::resolve(source.kernel, source.problem, source.configuration, source.device);
  json told = {{"template", source.kernel.name},
               {"problem", base::parse_json(spec::to_text(source.problem))},
               {"architecture", source.device.architecture},
               {"configuration", base::parse_json(spec::to_text(source.kernel, source.configuration))},
               {"tier", source.tier.empty() ? json() : json(source.tier)},
               {"source", source.request.source},
               {"options", compile::full_options(source.request)},
               {"kernels", launches_json(plan)},
               {"command", command}};
  add_untimed(told, source);
  return told;
}

/// Byte for byte, but to a terminal, on which a template of others must not act.
void print_exactly(const std::string& text) { base::write_standard_output(::isatty(STDOUT_FILENO) == 1 ? base::escape_lines(text) : text); }

int print_source(const SourceOptions& options, const CommandContext& context, const std::vector<std::string>& arguments) {
  if (!options.output.empty()) {
    if (options.tells() && base::is_standard_output(options.output))
      throw UsageError(fmt::format("failed writing the source to {}: that is where the rest is printed; name a file", options.output));
    check_output_target(options.output, database_path(options.databases.empty() ? "" : options.databases.front()));
  }
  const Compiler compiler = options.compiler.empty() ? Compiler::Nvcc : compiler_from_text(options.compiler);
  const ConfiguredSource source = configured_source(options, arguments);
  std::string told;
  if (options.options_only) {
    for (const auto& option : compile::full_options(source.request)) told += option + "\n";
  } else if (options.tells()) {
    const std::string command = command_line(compiler, source.request, options.output, compiler_places(context.executable));
    told = options.json_output ? json_text(source_json(source, command), 1) + "\n" : command + "\n";
  }
  if (!options.output.empty()) write_output_target(options.output, source.request.source);
  print_exactly(options.tells() ? told : options.output.empty() ? source.request.source : "");
  return 0;
}

}  // namespace

void add_source_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<SourceOptions>();
  auto* command = app.add_subcommand("source", "Print the translation unit that the compiler gets for a configuration (no GPU needed)");
  command->add_option("template", options->template_name, "Template: a built-in name or a folder")->required();
  command->add_option("--template-folder", options->template_folders, "Further folders to look for templates in");
  auto* configuration = command->add_option("--configuration", options->configuration,
                                            "Values of parameters, \"block_size=64 items=2\" or JSON; the others, or all, as by default");
  auto* best = command->add_flag("--best", options->best, "What dispatch would choose out of the database (attune explain)");
  best->excludes(configuration);
  command->add_option("--db", options->databases, "With --best: database files in order (default: the user's, then the shipped one)");
  command->add_option("--policy", options->policy, "With --best: cold/graph, hot/graph, cold/stream or hot/stream")->needs(best);
  auto* device = command->add_option("--device", options->device, "A device that a database knows, by name or key, in place of --arch");
  command->add_option("--arch", options->architecture, "Architecture to compile for")->capture_default_str()->excludes(device);
  command->add_option("--output,-o", options->output, "File for the translation unit; what else is asked for is printed");
  auto* only = command->add_flag("--options", options->options_only, "Print NVRTC's options, one a line, in place of the source");
  auto* line =
      command->add_option("--command", options->compiler,
                          "Print a command line of nvcc or nvrtc (through attune compile) for the file of -o, or for standard input");
  command->add_flag("--json", options->json_output, "JSON on standard output: source, options, kernels, command")->excludes(only);
  line->excludes(only);
  command->allow_extras();
  command->footer("The problem follows as --<axis> values, e.g. attune source reduce --T f32 --op sum --n 2^22 --arch sm_90");
  command->callback([options, command, &context] {
    context.action = [options, command, &context] { return print_source(*options, context, command->remaining()); };
  });
}

}  // namespace attune::tools
