// attune explain: what dispatch would use for a problem on a device, and why. Needs no GPU.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/named_template.hpp"
#include "tools/open_databases.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/gpu/driver.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/runtime/lookup.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

struct ExplainOptions {
  std::string template_name;
  std::vector<std::string> template_folders;
  std::vector<std::string> databases;
  std::string device;
  std::string policy = "cold/graph";
  bool unverified = false;
  bool json_output = false;
};

spec::DeviceInfo device_of(const ExplainOptions& options, const std::vector<runtime::Layer>& layers) {
  if (!options.device.empty()) return runtime::device_by_name(layers, options.device);
  const std::string unavailable = gpu::Driver::unavailable_reason();
  if (!unavailable.empty()) {
    throw EnvironmentError(unavailable + "\nName a device with --device: a recorded one by name or key, or an architecture such as sm_90");
  }
  return gpu::read_device(0);
}

/// In words; nothing for the default, which nobody has recorded.
json age_of(const Decision& decision) {
  if (decision.tier == Tier::Default) return nullptr;
  return age_in_words(decision.recorded_at, std::chrono::system_clock::now());
}

/// What the record says of its time here.
std::string time_of(const Decision& decision) {
  if (decision.tier == Tier::RelatedProblem) return ", which stands in for this problem";
  const std::string time =
      decision.median_us > 0 ? fmt::format(", {} us in its run-off", format_us(decision.median_us)) : ", which it did not win";
  return time + (decision.unverified ? ", unverified" : "");
}

json to_json(const spec::Problem& problem, const spec::DeviceInfo& device, const Decision& decision) {
  return {{"problem", base::parse_json(spec::to_text(problem))},
          {"device", device.name},
          {"tier", name(decision.tier)},
          {"configuration", base::parse_json(decision.configuration)},
          {"donor_problem", decision.donor_problem.empty() ? json() : base::parse_json(decision.donor_problem)},
          {"donor_device", decision.donor_device},
          {"device_difference", decision.device_difference},
          {"donor_driver", decision.donor_driver},
          {"recorded_at", decision.recorded_at},
          {"age", age_of(decision)},
          {"median_us", decision.median_us},
          {"aged", decision.aged},
          {"unverified", decision.unverified},
          {"layer", decision.layer},
          {"forecast", decision.forecast},
          {"passed_over", decision.passed_over}};
}

void print(const spec::Problem& problem, const spec::DeviceInfo& device, const Decision& decision) {
  base::print("{} on {} ({})\n  {}: {}\n", describe(problem), device.name, device.architecture, name(decision.tier),
              short_configuration(decision.configuration));
  if (decision.tier != Tier::Default) {
    base::print("  from {} on {}{}\n", describe(spec::problem_from_text(decision.donor_problem)), decision.donor_device, time_of(decision));
    if (!decision.device_difference.empty()) base::print("  that device has {}\n", decision.device_difference);
    base::print("  recorded {}, {}{}\n  in {}\n", decision.recorded_at, age_of(decision).get<std::string>(),
                decision.aged ? fmt::format(", under another driver ({}): aged", decision.donor_driver) : "", decision.layer);
  }
  if (!decision.forecast.empty()) base::print("  forecast: {}\n", decision.forecast);
  for (const auto& reason : decision.passed_over) base::print("  passed over: {}\n", reason);
}

int explain(const ExplainOptions& options, const std::vector<std::string>& arguments) {
  const spec::TemplateLibrary library({options.template_folders.begin(), options.template_folders.end()});
  const auto kernel = named_template(library, options.template_name);
  const auto problems = problems_from_arguments(kernel, arguments);
  const std::string policy = measure::to_text(measure::policy_from_text(options.policy));
  const auto opened = open_databases(options.databases);
  const auto device = device_of(options, opened.layers);
  json out = json::array();
  std::size_t aged = 0;
  for (const auto& problem : problems) {
    const auto choice = runtime::choose(kernel, problem, device, opened.layers, {policy, options.unverified});
    aged += choice.decision.aged ? 1 : 0;
    if (options.json_output)
      out.push_back(to_json(problem, device, choice.decision));
    else
      print(problem, device, choice.decision);
  }
  if (options.json_output)
    print_json(out, 1);
  else if (aged > 0)
    base::print("What has aged is dispatched all the same; attune renew --aged --dry-run tells what of it can be tuned again here.\n");
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ExplainOptions>();
  auto* command = app.add_subcommand("explain", "Say which configuration dispatch would use for a problem, and why");
  command->add_option("template", options->template_name, "Template: a built-in name or a folder")->required();
  command->add_option("--template-folder", options->template_folders, "Further folders to look for templates in");
  command->add_option("--db", options->databases, "Database files in order (default: the user's, then the shipped one)");
  command->add_option("--device", options->device, "A recorded device (name or key) or an architecture (sm_90); default: GPU 0 here");
  command->add_option("--policy", options->policy, "cold/graph, hot/graph, cold/stream or hot/stream")->capture_default_str();
  command->add_flag("--unverified", options->unverified,
                    "As a program with Options::unverified: results of a template without a reference count too");
  command->add_flag("--json", options->json_output, "JSON on standard output");
  command->allow_extras();
  command->footer("The problem follows as --<axis> values, e.g. attune explain reduce --T f32 --op sum --size 48M --device sm_90");
  command->callback(
      [options, command, &context] { context.action = [options, command] { return explain(*options, command->remaining()); }; });
}

}  // namespace attune::tools
