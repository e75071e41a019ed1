// attune template: list templates, check a folder. template_import.cpp and template_init.cpp have the rest.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/compile_log.hpp"
#include "tools/compiled_kernels.hpp"
#include "tools/named_template.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tools/template_check.hpp"
#include "tools/template_import.hpp"
#include "tools/template_init.hpp"
#include "tools/template_sample.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/compile/compile_pool.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

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

json to_json(const spec::KernelTemplate& kernel, const CheckedProblem& checked) {
  return {{"template", kernel.name},
          {"hash", kernel.content_hash},
          {"problem", base::parse_json(spec::to_text(checked.problem))},
          {"space_size", checked.space_size},
          {"different_launches", checked.different},
          {"cartesian_size", checked.cartesian_size},
          {"default", base::parse_json(spec::to_text(kernel, checked.configuration))},
          {"default_in_space", checked.default_valid},
          {"default_exceeds_limits", checked.limits.exceeded},
          {"fitting", checked.limits.fitting ? base::parse_json(spec::to_text(kernel, *checked.limits.fitting)) : json()},
          {"default_does_not_bind", checked.unbound_log.empty() ? checked.unbound : checked.unbound + "\n" + checked.unbound_log},
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

/// Prints a default that cannot run, and what could take its place.
void print_limits(const spec::KernelTemplate& kernel, const CheckedProblem& checked) {
  const auto& limits = checked.limits;
  if (!checked.default_valid) base::print("  the default configuration does not satisfy the constraints here\n");
  if (!limits.exceeded.empty()) base::print("  the default configuration exceeds limits: {}\n", limits.exceeded);
  if (limits.fitting) {
    base::print("  this one fits and could be the default: {}\n", short_configuration(spec::to_text(kernel, *limits.fitting)));
  } else if (limits.tried > 0) {
    base::print("  none of {} others that were tried fits; the first: {}\n", limits.tried, limits.first_fault);
  }
}

void print(const spec::KernelTemplate& kernel, const CheckedProblem& checked, const CheckOptions& options) {
  const auto length = options.verbose ? LogLength::Whole : LogLength::FirstErrors;
  const auto print_errors = [&](const char* whose, const std::string& log) {
    base::print("  the {} does not compile:\n{}\n", whose, base::Lines{shown_log(log, length)});
  };
  base::print("{} {} for {}\n  search space: {} of {} combinations, {} of them different launches here\n", kernel.name,
              describe(checked.problem), options.architecture, checked.space_size, checked.cartesian_size, checked.different);
  if (checked.space_size == 0) base::print("  EMPTY: condition \"{}\" leaves no configuration\n", checked.emptied_by);
  print(checked.ladder);
  base::print("  default here: {}\n", base::escape_line(spec::to_text(kernel, checked.configuration)));
  print_limits(kernel, checked);
  if (checked.has_errors()) {
    print_errors("default configuration", checked.compiled.log);
  } else if (checked.reference_fails()) {
    print_errors("reference", checked.reference->log);
  }
  print_kernels(checked.compiled);
  if (!checked.unbound.empty()) base::print("  the default configuration does not bind: {}\n", base::Lines{checked.unbound});
  if (!checked.unbound_log.empty()) base::print("{}\n", base::Lines{shown_log(checked.unbound_log, length)});
  if (!options.samples()) return;
  if (checked.different < checked.space_size)
    base::print("  {:.1f} % of the space is to be tried: the rest makes the same launches of code with the same macros\n",
                100.0 * static_cast<double>(checked.different) / static_cast<double>(checked.space_size));
  print_sample(kernel, checked.sample);
}

const char* verdict(ExitCode outcome, bool default_runs) {
  if (outcome != ExitCode::Ok) return "NOT usable";
  return default_runs ? "valid"
                      : "valid, but its default cannot run: attune tune passes it over, and dispatch fails where nothing was tuned";
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
  ExitCode outcome = ExitCode::Ok;  // of the first problem that cannot be tuned
  bool default_runs = true;
  for (const auto& problem : problems) {
    const CheckedProblem checked = check_problem(kernel, problem, device, options, pool);
    if (outcome == ExitCode::Ok) outcome = checked.outcome();
    default_runs = default_runs && checked.default_runs();
    if (options.json_output)
      out.push_back(to_json(options, kernel, checked));
    else
      print(kernel, checked, options);
  }
  if (options.json_output)
    print_json(out, 1);
  else
    base::print("template {} is {}\n", kernel.name, verdict(outcome, default_runs));
  return static_cast<int>(outcome);
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
  checked->add_flag("--verbose", options->verbose, "The compiler's whole log where something does not compile, not its first errors");
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
  checked->footer(
      "A problem may follow as --<axis> values; without one the first types and choices and a size of 2^20 are checked.\n"
      "Exit codes: 0 it can be tuned, also where its default cannot run (the last line says so); 3 malformed, or nothing that was tried\n"
      "can be launched; 6 something does not compile or bind, or nothing fits.");
  checked->callback([options, checked, &context] {
    context.action = [options, checked, &context] { return check(*options, context, checked->remaining()); };
  });
  add_template_import_command(*command, context);
  add_template_init_command(*command, context);
}

}  // namespace attune::tools
