#include "tools/template_check.hpp"

#include <fmt/core.h>

#include <random>

#include "tools/compile_log.hpp"
#include "tools/compiled_kernels.hpp"
#include "tools/configuration_text.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/progress_line.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/compile/find_kernel.hpp"
#include "tuner/session/source/kernel_resources.hpp"
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

/// Throws: SpecError.
std::string untimed_fault(const char* name, const spec::KernelTemplate& kernel, const std::vector<spec::StepSpec>& steps,
                          const spec::LaunchPlan& untimed, const compile::CompileResult& compiled) {
  check_kernel_names(kernel, steps, untimed, compiled);
  const std::string fault = binding_fault(untimed, compiled);
  return fault.empty() ? fault : fmt::format("{}: {}", name, fault);
}

/// Why one of the default's launches, check and its own setup included, cannot be made of the compiled code; empty where all can.
/// Throws: SpecError.
std::string launch_fault(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                         const CheckedProblem& checked) {
  const auto plan = spec::resolve(kernel, problem, checked.configuration, device);
  check_kernel_names(kernel, kernel.steps, plan, checked.compiled);
  if (std::string fault = binding_fault(plan, checked.compiled); !fault.empty()) return fault;
  for (const auto& [name, steps, untimed] : spec::resolve_own_untimed(kernel, problem, checked.configuration, device))
    if (std::string fault = untimed_fault(name, kernel, *steps, untimed, checked.compiled); !fault.empty()) return fault;
  return {};
}

/// Of the setup that all configurations share, which is of the default's code whether or not that can be launched. Throws: SpecError.
void check_shared_setup(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                        compile::CompilePool& pool, CheckedProblem& checked) {
  const auto program = verify::setup_program(kernel, problem, device);
  if (!program) return;
  const auto compiled = pool.compile_now({program->source, program->file, device.architecture, program->options});
  if (compiled.status != compile::CompileStatus::Ok) {
    checked.unbound = fmt::format("{} does not compile:", program->what);
    checked.unbound_log = compiled.log;
    return;
  }
  const auto plan = spec::resolve_setup(kernel, problem, spec::default_configuration(kernel), device);
  checked.unbound = untimed_fault("setup", kernel, kernel.setup, plan, compiled);
}

/// What the device says of the default, and what could take its place where that is bad. Requires: checked.sample. Throws: SpecError.
void check_default(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                   const space::SearchSpace& space, compile::CompilePool& pool, ProgressLine& line, CheckedProblem& checked) {
  if (checked.has_errors()) return;
  if (checked.default_valid) {
    checked.limits = limits_of_default(kernel, problem, device, checked.configuration, checked.compiled, pool, line);
    const bool binds = checked.compiles() && !checked.limits.before_compiling;
    if (binds) checked.unbound = launch_fault(kernel, problem, device, checked);
    if (!checked.reference_fails() && checked.unbound.empty()) check_shared_setup(kernel, problem, device, pool, checked);
  } else if (!checked.kernels_compile()) {
    checked.limits.exceeded = first_reason(checked.compiled.log);
  }
  if (!checked.default_runs())
    find_fitting(checked.limits, kernel, problem, device, space, checked.sample, checked.configuration, checked.compiled, pool, line);
}

/// Throws: SpecError.
void check_reference_names(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                           const CheckedProblem& checked) {
  const bool defined = kernel.reference.definition && !spec::asks_reference_kernel(kernel, problem);
  const spec::KernelTemplate& form = defined ? kernel.reference.definition->form : kernel;
  const auto& steps = defined ? form.steps : kernel.reference.steps;
  verify::for_each_reference_plan(kernel, problem, device, [&](const spec::LaunchPlan& plan) {
    if (checked.reference && !checked.reference_fails()) check_kernel_names(form, steps, plan, *checked.reference);
  });
}

}  // namespace

bool CheckedProblem::has_errors() const { return !kernels_compile() && !session::exceeds_static_shared(compiled); }

ExitCode CheckedProblem::outcome() const {
  if (has_errors() || reference_fails() || space_size == 0 || !unbound.empty() || !is_sound(sample)) return ExitCode::NothingValid;
  if (limits.exceeded.empty() || limits.fitting) return ExitCode::Ok;
  return limits.before_compiling ? ExitCode::Spec : ExitCode::NothingValid;
}

spec::Problem default_problem(const spec::KernelTemplate& kernel, const spec::DeviceInfo& device) {
  if (kernel.size_names().size() == 1) {
    auto large = problem_of_size(kernel, std::int64_t{1} << 20);
    if (spec::resolve_if_launchable(kernel, large, spec::default_configuration(kernel, large, device), device)) return large;
  }
  return problem_of_size(kernel, std::int64_t{1} << 10);
}

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
  checked.sample = check_sample(kernel, problem, device, checked.chosen, checked.compiled, pool, line);
  check_default(kernel, problem, device, space, pool, line, checked);
  check_reference_names(kernel, problem, device, checked);
  return checked;
}

}  // namespace attune::tools
