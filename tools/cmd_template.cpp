// attune template: list templates, check a folder. template_import.cpp and template_init.cpp have the rest.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <random>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/compiled_kernels.hpp"
#include "tools/configuration_text.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/progress_line.hpp"
#include "tools/stop_signals.hpp"
#include "tools/template_import.hpp"
#include "tools/template_init.hpp"
#include "tools/template_sample.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/compile/compile_pool.hpp"
#include "tuner/compile/find_kernel.hpp"
#include "tuner/compile/occupancy.hpp"
#include "tuner/session/variants/ladder_plan.hpp"
#include "tuner/space/launch_classes.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/spec/untimed_steps.hpp"
#include "tuner/spec/variant_ladder.hpp"
#include "tuner/verify/programs.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

struct CheckOptions {
  std::string folder;
  std::string architecture = "sm_90";
  bool json_output = false;
  std::uint64_t sample = 0;  ///< so many configurations at random
  std::uint64_t seed = 1;
  std::string configuration;  ///< one that the caller names

  [[nodiscard]] bool samples() const { return sample > 0 || !configuration.empty(); }
};

/// What is checked when the caller names no problem: 2^20 for a lone size, 2^10 for each of several and for one whose 2^20 is more than a
/// launch can have (a square's side).
spec::Problem default_problem(const spec::KernelTemplate& kernel, const spec::DeviceInfo& device) {
  if (kernel.size_names().size() == 1) {
    auto large = problem_of_size(kernel, std::int64_t{1} << 20);
    if (spec::resolve_if_launchable(kernel, large, spec::default_configuration(kernel, large, device), device)) return large;
  }
  return problem_of_size(kernel, std::int64_t{1} << 10);
}

/// Throws: SpecError when a launch names a kernel that the compiled sources do not have.
void check_kernel_names(const spec::KernelTemplate& kernel, const std::vector<spec::StepSpec>& steps, const spec::LaunchPlan& plan,
                        const compile::CompileResult& compiled) {
  for (const auto* const launch : spec::launches_of(plan)) {
    if (compile::find_kernel(compiled, launch->kernel) != nullptr) continue;
    spec::SourcePosition place{kernel.spec_path, 0, 0};
    for (const auto& step : steps) {
      const auto* const stated = std::get_if<spec::LaunchSpec>(&step);
      if (stated != nullptr && stated->kernel == launch->kernel.substr(0, launch->kernel.find('<'))) place = stated->kernel_position;
    }
    throw SpecError(place.file, place.line, place.column,
                    fmt::format("the launch of \"{}\" names no compiled kernel (there are: {}); name one with its namespace and template "
                                "arguments",
                                launch->kernel, names_of_kernels(compiled)));
  }
}

struct CheckedRung {
  std::string name;
  std::uint64_t configurations = 0;
};

struct CheckedLadder {
  std::vector<CheckedRung> rungs;
  std::uint64_t planned = 0;  ///< configurations that `attune ladder` tries at most
};

/// How much of the space each rung of the template's ladder is; nothing without a ladder. Throws: SpecError.
CheckedLadder check_ladder(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                           const space::BuildWatch& watch) {
  CheckedLadder checked;
  const auto ladder = spec::VariantLadder::of(kernel);
  if (!ladder) return checked;
  const auto plan = session::plan_ladder(kernel, *ladder, session::LadderEffort::AsTheLadderSays, {}, problem, device, watch);
  for (std::size_t i = 0; i < ladder->rungs.size(); ++i) checked.rungs.push_back({ladder->rungs[i].name, plan.rung_sizes[i]});
  checked.planned = plan.configurations;
  return checked;
}

json to_json(const std::vector<CheckedRung>& rungs) {
  json list = json::array();
  for (const auto& rung : rungs) list.push_back({{"name", rung.name}, {"configurations", rung.configurations}});
  return list;
}

void print(const CheckedLadder& ladder) {
  if (!ladder.rungs.empty())
    base::print("  ladder of {} rungs, which takes at most {} configurations\n", ladder.rungs.size(), ladder.planned);
  for (const auto& rung : ladder.rungs)
    base::print("    {}: {}\n", rung.name, rung.configurations > 0 ? fmt::format("{} configurations", rung.configurations) : "EMPTY here");
}

/// What the check of one problem came to.
struct CheckedProblem {
  spec::Problem problem;
  std::uint64_t space_size = 0, cartesian_size = 0, different = 0;
  std::string emptied_by;             ///< the condition that leaves nothing
  spec::Configuration configuration;  ///< the default
  bool default_valid = false;
  std::string unbound;  ///< why the default's launches cannot be made
  CheckedLadder ladder;
  compile::CompileResult compiled;
  std::optional<compile::CompileResult> reference;  ///< its own code, where it has one
  std::vector<spec::Configuration> chosen;          ///< that are compiled and bound besides the default
  std::vector<SampledConfiguration> sample;

  [[nodiscard]] bool kernels_compile() const { return compiled.status == compile::CompileStatus::Ok; }
  [[nodiscard]] bool compiles() const { return kernels_compile() && !reference_fails(); }
  [[nodiscard]] bool reference_fails() const { return reference && reference->status != compile::CompileStatus::Ok; }
  [[nodiscard]] bool usable() const { return compiles() && space_size > 0 && unbound.empty() && is_sound(sample); }
};

/// Throws: UsageError for one that the caller names and that is none of the space.
std::vector<spec::Configuration> chosen_configurations(const CheckOptions& options, const spec::KernelTemplate& kernel,
                                                       const spec::Problem& problem, const spec::DeviceInfo& device,
                                                       const space::SearchSpace& space) {
  std::vector<spec::Configuration> chosen;
  if (!options.configuration.empty()) {
    chosen.push_back(configuration_with(kernel, options.configuration, spec::default_configuration(kernel, problem, device)));
    check_in_space(kernel, problem, chosen.front(), device);
  }
  if (options.sample == 0) return chosen;
  std::mt19937_64 random(options.seed);
  for (const auto ordinal : space.sample(options.sample, random)) chosen.push_back(space.at(ordinal));
  return chosen;
}

/// Why one of the default's launches, setup and check included, cannot be made of the compiled code; empty where all can.
/// Throws: SpecError.
std::string check_launches(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                           const CheckedProblem& checked, compile::CompilePool& pool) {
  const auto plan = spec::resolve(kernel, problem, checked.configuration, device);
  check_kernel_names(kernel, kernel.steps, plan, checked.compiled);
  if (std::string fault = binding_fault(plan, checked.compiled); !fault.empty()) return fault;
  const auto check = [&](const char* name, const std::vector<spec::StepSpec>& steps, const spec::LaunchPlan& untimed,
                         const compile::CompileResult& compiled) {
    check_kernel_names(kernel, steps, untimed, compiled);
    const std::string fault = binding_fault(untimed, compiled);
    return fault.empty() ? fault : fmt::format("{}: {}", name, fault);
  };
  for (const auto& [name, steps, untimed] : spec::resolve_own_untimed(kernel, problem, checked.configuration, device))
    if (std::string fault = check(name, *steps, untimed, checked.compiled); !fault.empty()) return fault;
  const auto program = verify::setup_program(kernel, problem, device);
  if (!program) return {};
  const auto compiled = pool.compile_now({program->source, program->file, device.architecture, program->options});
  if (compiled.status != compile::CompileStatus::Ok) return fmt::format("{} does not compile:\n{}", program->what, compiled.log);
  return check("setup", kernel.setup, spec::resolve_setup(kernel, problem, spec::default_configuration(kernel), device), compiled);
}

/// Throws: SpecError, space::BuildStopped.
CheckedProblem check_problem(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                             const CheckOptions& options, compile::CompilePool& pool) {
  stop_on_signals();
  ProgressLine line(options.json_output);
  const space::BuildWatch watch = [&](const space::BuildProgress& progress) {
    if (line.due()) line.show(building_text(describe(problem), progress));
    return !stop_asked();
  };
  const auto space = space::SearchSpace::build(kernel, problem, device, {}, watch);
  CheckedProblem checked;
  checked.problem = problem;
  checked.space_size = space.size();
  checked.cartesian_size = space.cartesian_size();
  if (space.size() == 0) checked.emptied_by = space.emptied_by();
  checked.configuration = spec::default_configuration(kernel, problem, device);
  checked.default_valid = spec::satisfies(kernel, problem, checked.configuration, device);
  space::LaunchClasses classes(kernel, problem, device, space);
  checked.different = classes.count([] { return !stop_asked(); });
  if (stop_asked()) throw space::BuildStopped();
  checked.ladder = check_ladder(kernel, problem, device, watch);
  if (options.samples()) checked.chosen = chosen_configurations(options, kernel, problem, device, space);
  line.clear();
  end_on_signals();
  checked.compiled = pool.compile_now({spec::make_source(kernel, problem, checked.configuration, device), kernel.name + ".cu",
                                       options.architecture, spec::compiler_options(kernel, problem, checked.configuration, device)});
  if (const auto program = verify::reference_program(kernel, problem, device)) {
    checked.reference = pool.compile_now({program->source, program->file, options.architecture, program->options});
  }
  if (checked.compiles() && checked.default_valid) checked.unbound = check_launches(kernel, problem, device, checked, pool);
  const bool defined = kernel.reference.definition && !spec::asks_reference_kernel(kernel, problem);
  const spec::KernelTemplate& form = defined ? kernel.reference.definition->form : kernel;
  const auto& steps = defined ? form.steps : kernel.reference.steps;
  verify::for_each_reference_plan(kernel, problem, device, [&](const spec::LaunchPlan& plan) {
    if (checked.reference && !checked.reference_fails()) check_kernel_names(form, steps, plan, *checked.reference);
  });
  checked.sample = check_sample(kernel, problem, device, checked.chosen, checked.compiled, pool, line);
  return checked;
}

json to_json(const spec::KernelTemplate& kernel, const CheckedProblem& checked) {
  return {{"template", kernel.name},
          {"hash", kernel.content_hash},
          {"problem", base::parse_json(spec::to_text(checked.problem))},
          {"space_size", checked.space_size},
          {"different_launches", checked.different},
          {"cartesian_size", checked.cartesian_size},
          {"default", base::parse_json(spec::to_text(kernel, checked.configuration))},
          {"default_in_space", checked.default_valid},
          {"default_does_not_bind", checked.unbound},
          {"ladder", to_json(checked.ladder.rungs)},
          {"ladder_planned", checked.ladder.planned},
          {"compiles", checked.compiles()},
          {"kernels", describe_kernels(checked.compiled)},
          {"log", checked.compiles()          ? ""
                  : checked.kernels_compile() ? checked.reference->log
                                              : checked.compiled.log}};
}

json to_json(const CheckOptions& options, const spec::KernelTemplate& kernel, const CheckedProblem& checked) {
  json told = to_json(kernel, checked);
  if (!options.samples()) return told;
  told["sample"] = sample_json(kernel, checked.sample);
  told["sample"]["seed"] = options.seed;
  return told;
}

void print_errors(const char* whose, const std::string& log) { base::print("  the {} does not compile:\n{}\n", whose, base::Lines{log}); }

void print(const spec::KernelTemplate& kernel, const CheckedProblem& checked, const CheckOptions& options) {
  base::print("{} {} for {}\n  search space: {} of {} combinations, {} of them different launches here\n", kernel.name,
              describe(checked.problem), options.architecture, checked.space_size, checked.cartesian_size, checked.different);
  if (checked.space_size == 0) base::print("  EMPTY: condition \"{}\" leaves no configuration\n", checked.emptied_by);
  print(checked.ladder);
  base::print("  default here: {}\n", base::escape_line(spec::to_text(kernel, checked.configuration)));
  if (!checked.default_valid) base::print("  the default configuration does not satisfy the constraints here\n");
  if (!checked.kernels_compile()) {
    print_errors("default configuration", checked.compiled.log);
  } else if (checked.reference_fails()) {
    print_errors("reference", checked.reference->log);
  }
  print_kernels(checked.compiled);
  if (!checked.unbound.empty()) base::print("  the default configuration does not bind: {}\n", base::Lines{checked.unbound});
  if (!options.samples()) return;
  if (checked.space_size > 0)
    base::print("  identical launches leave {:.1f} % of the space to be tried\n",
                100.0 * static_cast<double>(checked.different) / static_cast<double>(checked.space_size));
  print_sample(kernel, checked.sample);
}

int check(const CheckOptions& options, const CommandContext& context, const std::vector<std::string>& arguments) {
  const auto kernel = named_template(spec::TemplateLibrary(), options.folder);
  const auto device = spec::DeviceInfo::of_architecture(options.architecture);
  const auto problems = arguments.empty() ? std::vector{default_problem(kernel, device)} : problems_from_arguments(kernel, arguments);
  compile::CompilePool::Options pool_options;
  pool_options.worker = context.executable;
  pool_options.workers = options.sample > 1 ? base::plan_cpus(base::available_cpus(), 0).compile_workers : 1;
  compile::CompilePool pool(pool_options);
  json out = json::array();
  bool usable = true;
  for (const auto& problem : problems) {
    const CheckedProblem checked = check_problem(kernel, problem, device, options, pool);
    usable = usable && checked.usable();
    if (options.json_output)
      out.push_back(to_json(options, kernel, checked));
    else
      print(kernel, checked, options);
  }
  if (options.json_output)
    print_json(out, 1);
  else
    base::print("template {} is {}\n", kernel.name, usable ? "valid" : "NOT usable");
  return static_cast<int>(usable ? ExitCode::Ok : ExitCode::NothingValid);
}

}  // namespace

void add_template_command(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("template", "List templates, check, import or make one");
  command->require_subcommand(1);
  auto* list = command->add_subcommand("list", "Names of the built-in templates and those in $ATTUNE_TEMPLATES");
  list->callback([&context] {
    context.action = [] {
      const spec::TemplateLibrary library;
      for (const auto& name : library.names()) base::print("{}: {}\n", name, library.find(name).summary);
      return 0;
    };
  });
  auto options = std::make_shared<CheckOptions>();
  auto* checked = command->add_subcommand("check", "Validate a template, print its space size and compile its default (no GPU needed)");
  checked->add_option("folder", options->folder, "Folder with template.json, or a template's name")->required();
  checked->add_option("--arch", options->architecture, "Architecture to compile for")->capture_default_str();
  checked->add_flag("--json", options->json_output, "JSON on standard output");
  auto* sample = checked->add_option("--sample", options->sample, "Compile and bind so many configurations of the space, at random")
                     ->check([](const std::string& word) { return base::whole_number_fault(word); })
                     ->check(CLI::PositiveNumber);
  checked->add_option("--seed", options->seed, "Of the random choice")
      ->needs(sample)
      ->check([](const std::string& word) { return base::whole_number_fault(word); })
      ->capture_default_str();
  checked->add_option("--configuration", options->configuration,
                      "Compile and bind this one: \"block_size=64 items=2\" or JSON; parameters that it does not name, as by default");
  checked->allow_extras();
  checked->footer("A problem may follow as --<axis> values; without one the first types and choices and a size of 2^20 are checked.");
  checked->callback([options, checked, &context] {
    context.action = [options, checked, &context] { return check(*options, context, checked->remaining()); };
  });
  add_template_import_command(*command, context);
  add_template_init_command(*command, context);
}

}  // namespace attune::tools
