#include "tools/failed_records.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "attune/error.hpp"
#include "tools/configuration_text.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

bool has_all(const json& configuration, const json& wanted) {
  return std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& item) {
    const auto found = configuration.find(item.key());
    return found != configuration.end() && *found == item.value();
  });
}

std::string up_to_newline(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string name_of(const db::RecordRow& record, const std::vector<db::TemplateRow>& templates) {
  const auto found = std::find_if(templates.begin(), templates.end(), [&](const auto& row) { return row.hash == record.template_hash; });
  return found == templates.end() ? "template " + record.template_hash.substr(0, 12) : found->name;
}

std::string title_of(const db::RecordRow& record, const std::vector<db::TemplateRow>& templates) {
  return fmt::format("{} {} {}", name_of(record, templates), describe(spec::problem_from_text(record.problem)),
                     short_configuration(record.configuration));
}

void print_indented(const std::string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    base::print("    {}\n", base::Lines{std::string_view(text).substr(begin, end - begin)});
    begin = end + 1;
  }
}

/// The log, and the source once for all records that share it: problems differ in sizes, which never enter.
class LogPrinter {
 public:
  void print(const std::string& title, const std::string& log, const StoredSource& source) {
    base::print("  log:\n");
    print_indented(log);
    if (source.text.empty()) {
      base::print("  source: {}\n\n", source.missing);
      return;
    }
    const auto [first, is_new] = printed_.emplace(source.text + source.architecture, title);
    if (is_new) {
      base::print("  source, compiled with {}:\n{}\n", fmt::join(source.options, " "), base::Lines{source.text});
    } else {
      base::print("  source: as of {}\n\n", first->second);
    }
  }

 private:
  std::map<std::string, std::string> printed_;
};

json to_json(const db::RecordRow& record, const std::string& name, const std::string& detail) {
  return {{"template", name},
          {"template_hash", record.template_hash},
          {"problem", base::parse_json(record.problem)},
          {"configuration", base::parse_json(record.configuration)},
          {"device", record.device_key},
          {"policy", record.policy},
          {"outcome", record.outcome},
          {"detail", detail},
          {"nvrtc", record.nvrtc},
          {"recorded_at", record.recorded_at}};
}

void add_source(json& object, const StoredSource& source) {
  if (source.text.empty()) {
    object["source_missing"] = source.missing;
    return;
  }
  object["source"] = source.text;
  object["options"] = source.options;
}

}  // namespace

StoredSource source_of(const db::RecordRow& record, const std::vector<db::TemplateRow>& templates,
                       const std::vector<db::DeviceRow>& devices) {
  StoredSource source;
  const auto kernel_row =
      std::find_if(templates.begin(), templates.end(), [&](const auto& row) { return row.hash == record.template_hash; });
  const auto device_row = std::find_if(devices.begin(), devices.end(), [&](const auto& row) { return row.hard_key == record.device_key; });
  if (kernel_row == templates.end() || device_row == devices.end()) {
    source.missing = "the database has lost the record's template or device";
    return source;
  }
  if (kernel_row->files.empty()) {
    source.missing = "not stored: this template was last tuned by a version that did not keep sources";
    return source;
  }
  try {
    const auto kernel = spec::KernelTemplate::parse(kernel_row->spec_json, kernel_row->files, kernel_row->name + "/template.json");
    if (kernel.content_hash != record.template_hash) throw Error("the stored files are not those of the template's hash");
    const auto device = spec::DeviceInfo::from_json(base::parse_json(device_row->info_json));
    const auto problem = spec::problem_from_text(record.problem);
    const auto configuration = spec::configuration_from_text(kernel, record.configuration);
    source.text = spec::make_source(kernel, problem, configuration, device);
    source.architecture = device.architecture;
    source.options = compile::full_options(
        {source.text, kernel.name + ".cu", device.architecture, spec::compiler_options(kernel, problem, configuration, device)});
  } catch (const std::exception& error) {  // one record of a damaged or foreign row must not hide the others
    source.text.clear();
    source.missing = fmt::format("cannot be made from what is stored: {}", error.what());
  }
  return source;
}

void show_failed(const db::Database& database, const FailedOptions& options) {
  const json wanted = options.configuration ? parameter_values(*options.configuration) : json::object();
  const auto templates = database.templates();
  const auto devices = database.devices();
  json out = json::array();
  std::map<std::string, int> counts;
  LogPrinter logs;
  for (const auto& record : database.records(options.query)) {
    if (record.outcome == "ok" || !has_all(base::parse_json(record.configuration), wanted)) continue;
    const std::string detail = base::member_or(base::parse_json(record.detail_json), "detail", "");
    ++counts[record.outcome];
    if (options.json_output) {
      out.push_back(to_json(record, name_of(record, templates), detail));
      if (options.log) add_source(out.back(), source_of(record, templates, devices));
      continue;
    }
    const std::string title = title_of(record, templates);
    base::print("{}  {}\n", record.outcome, title);
    if (options.log)
      logs.print(title, detail, source_of(record, templates, devices));
    else
      base::print("    {}\n", up_to_newline(detail));
  }
  if (options.json_output) {
    print_json(out, 1);
    return;
  }
  if (counts.empty()) base::print("The database holds no failed configuration{}.\n", wanted.empty() ? "" : " like that");
  for (const auto& [outcome, count] : counts) base::print("{}{} {}", outcome == counts.begin()->first ? "" : ", ", count, outcome);
  if (!counts.empty()) base::print("{}\n", options.log ? "" : "; --log prints logs and sources");
}

}  // namespace attune::tools
