// attune export: what was tuned, for programs that have no database at run time.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "attune/error.hpp"
#include "tools/commands.hpp"
#include "tools/named_template.hpp"
#include "tools/open_databases.hpp"
#include "tools/output_target.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/report/header_writer.hpp"
#include "tuner/runtime/layers.hpp"

namespace attune::tools {
namespace {

struct ExportOptions {
  std::string template_name;
  std::vector<std::string> template_folders;
  bool header = false;
  std::vector<std::string> databases;
  std::string policy = "cold/graph";
  std::string output = "-";
  std::string name_space;
};

/// Throws: UsageError where there is nothing for a table.
report::TunedTable table_of(const ExportOptions& options, const spec::KernelTemplate& kernel) {
  const auto opened = open_databases(options.databases);
  std::vector<const db::Database*> databases;
  std::vector<std::string> paths;
  for (const auto& layer : opened.layers) {
    databases.push_back(&layer.database);
    paths.push_back(layer.path.string());
  }
  auto table = report::tuned_table(kernel, measure::to_text(measure::policy_from_text(options.policy)), databases);
  for (const auto& row : table.left_out) base::tell_message("left out: " + row);
  if (!table.rows.empty()) return table;
  throw UsageError(fmt::format("there is no verified best configuration of this version of \"{}\" ({}) in {}; attune tune makes one",
                               kernel.name, table.policy, paths.empty() ? "any database" : fmt::format("{}", fmt::join(paths, ", "))));
}

int export_header(const ExportOptions& options) {
  const spec::TemplateLibrary library({options.template_folders.begin(), options.template_folders.end()});
  const auto kernel = named_template(library, options.template_name);
  check_output_target(options.output, database_path(options.databases.empty() ? "" : options.databases.front()));
  const auto table = table_of(options, kernel);
  const auto text =
      report::tuned_header(kernel, table, options.name_space.empty() ? report::default_namespace(kernel) : options.name_space);
  const bool on_standard_output = base::is_standard_output(options.output);
  write_output_target(options.output, text);
  if (!on_standard_output) base::print("{}: {} configurations of {} devices\n", options.output, table.rows.size(), table.devices.size());
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ExportOptions>();
  auto* command = app.add_subcommand("export", "Write what was tuned as a C++ header, for programs without a database");
  command->add_option("template", options->template_name, "Template: a built-in name or a folder")->required();
  command->add_option("--template-folder", options->template_folders, "Further folders to look for templates in");
  command->add_flag("--header", options->header, "A self-contained header of C++17: a constexpr table and a selector")->required();
  command->add_option("--db", options->databases, "Database files in order (default: the user's, then the shipped one)");
  command->add_option("--policy", options->policy, "cold/graph, hot/graph, cold/stream or hot/stream")->capture_default_str();
  command->add_option("--output,-o", options->output, "File to write; -: standard output")->capture_default_str();
  command->add_option("--namespace", options->name_space, "Namespace of the header (default: attune_tuned::<template>)");
  command->callback([options, &context] { context.action = [options] { return export_header(*options); }; });
}

}  // namespace attune::tools
