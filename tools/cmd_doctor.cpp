// attune doctor: what of this machine and its databases is fine for tuning, and what is not.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>

#include "attune/error.hpp"
#include "attune_build/version.hpp"
#include "tools/commands.hpp"
#include "tools/doctor/checks.hpp"
#include "tools/output.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {
namespace doctor {

const char* name_of(State state) {
  switch (state) {
    case State::Fine:
      return "fine";
    case State::Note:
      return "note";
    case State::Wrong:
      return "wrong";
  }
  return "";
}

nlohmann::json to_json(const Finding& finding) {
  nlohmann::json told = {{"area", finding.area}, {"state", name_of(finding.state)}, {"text", finding.text}};
  if (!finding.mend.empty()) told["mend"] = finding.mend;
  return told;
}

namespace {

void print_finding(const Finding& finding) {
  base::print("{:<5}  {}: {}\n", name_of(finding.state), finding.area, base::escape_line(finding.text));
  if (!finding.mend.empty()) base::print("       -> {}\n", base::escape_line(finding.mend));
}

struct DoctorOptions {
  std::string database;
  bool json_output = false;
};

int examine(const DoctorOptions& options, const CommandContext& context) {
  Findings findings;
  Machine machine;
  std::size_t printed = 0;
  const auto told = [&] {
    if (options.json_output) return;
    for (; printed < findings.size(); ++printed) print_finding(findings[printed]);
  };
  // What one area throws must not keep the others from being looked at.
  const auto look = [&](const char* area, const std::function<void()>& check) {
    try {
      check();
    } catch (const std::exception& error) {
      Area(area, findings).wrong(error.what(), "mend that first, then look again");
    }
    told();
  };
  look("driver", [&] { check_gpus(machine, findings); });
  look("compiler", [&] { check_compiler(machine, context, findings); });
  look("database", [&] { check_databases(machine, options.database, findings); });
  look("system", [&] { check_system(findings); });
  const auto count = [&](State state) {
    return std::count_if(findings.begin(), findings.end(), [=](const auto& one) { return one.state == state; });
  };
  const auto wrong = count(State::Wrong), notes = count(State::Note);
  if (options.json_output) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& finding : findings) list.push_back(to_json(finding));
    print_json({{"attune", build::kVersion}, {"wrong", wrong}, {"notes", notes}, {"findings", std::move(list)}}, 1);
  } else {
    base::print("{} wrong, {} to note, {} fine\n", wrong, notes, count(State::Fine));
  }
  return static_cast<int>(wrong == 0 ? ExitCode::Ok : ExitCode::Environment);
}

}  // namespace
}  // namespace doctor

void add_doctor_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<doctor::DoctorOptions>();
  auto* command = app.add_subcommand("doctor", "Look whether this machine is fit for tuning, and say what mends it");
  command->footer(
      "Looks at the driver, devices, NVRTC, databases, folders and limits. Nothing is measured; no database is\nmade or changed.\n"
      "Exit code 0: nothing is wrong (notes may be there); 4: something that tuning on a GPU needs does not work.");
  command->add_option("--db", options->database, "Database file to look at instead of the user's and the shipped one");
  command->add_flag("--json", options->json_output, "JSON on standard output");
  command->callback([options, &context] { context.action = [options, &context] { return doctor::examine(*options, context); }; });
}

}  // namespace attune::tools
