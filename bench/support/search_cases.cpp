#include "bench/support/search_cases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attune/error.hpp"
#include "bench/support/json.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/output_file.hpp"

namespace attune::bench {
namespace {

MarkKind kind_of(const std::string& text) {
  if (text == "recorded") return MarkKind::Recorded;
  if (text == "found") return MarkKind::Found;
  if (text == "dispatched") return MarkKind::Dispatched;
  throw UsageError(fmt::format("a mark is \"{}\"; known: recorded, found, dispatched", text));
}

/// As the database writes it, whatever the order in the file.
std::string canonical_text(const spec::KernelTemplate& kernel, const Json& configuration) {
  return spec::to_text(kernel, spec::configuration_from_text(kernel, dump_json(configuration)));
}

SearchCase case_of(const Json& json, const std::filesystem::path& folder) {
  SearchCase one;
  one.name = json.at("case");
  one.template_name = json.at("template");
  if (one.template_name.find('/') != std::string::npos) one.template_name = (folder / one.template_name).lexically_normal().string();
  const auto kernel = spec::TemplateLibrary().find(one.template_name);
  one.problem = spec::canonical(kernel, spec::problem_from_text(dump_json(json.at("problem"))));
  one.options = json.value("options", std::vector<std::string>{});
  one.budget_s = json.at("budget_s");
  one.goal_behind = json.at("goal_behind");
  if (json.contains("goal_command_s")) one.goal_command_s = json.at("goal_command_s").get<double>();
  const Json& mark = json.at("mark");
  one.mark.kind = kind_of(mark.at("is"));
  one.mark.from = mark.at("from");
  if (one.mark.kind == MarkKind::Dispatched) return one;
  one.mark.configuration = canonical_text(kernel, mark.at("configuration"));
  const Json on = mark.value("on", Json::object());
  for (const auto& [device, own] : on.items())
    one.marks_on[device] = {one.mark.kind, canonical_text(kernel, own.at("configuration")), own.at("from")};
  return one;
}

}  // namespace

std::vector<std::string> words_of(const SearchCase& one) {
  std::vector<std::string> words{one.template_name};
  for (const auto& [axis, value] : one.problem.choices) words.insert(words.end(), {"--" + axis, value});
  for (const auto& [axis, size] : one.problem.sizes) words.insert(words.end(), {"--" + axis, std::to_string(size)});
  words.insert(words.end(), one.options.begin(), one.options.end());
  return words;
}

bool reaches(const SearchCase& one, double behind, double behind_low, double command_s) {
  if (one.goal_command_s && command_s > *one.goal_command_s) return false;
  return behind <= one.goal_behind || (one.goal_behind == 0 && behind_low <= 0);
}

CaseFile::CaseFile(std::filesystem::path path) : path_(std::move(path)) {
  try {
    const Json file = parse_json(base::read_file(path_));
    for (const Json& one : file.at("cases")) cases_.push_back(case_of(one, path_.parent_path()));
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("failed reading the cases in {}: {}", path_.string(), error.what()));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("failed reading the cases in {}: {}", path_.string(), error.what()));
  }
}

std::vector<SearchCase> CaseFile::named(const std::vector<std::string>& names) const {
  if (names.empty()) return cases_;
  std::vector<SearchCase> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(cases_.begin(), cases_.end(), [&](const SearchCase& one) { return one.name == name; });
    if (found == cases_.end()) throw UsageError(fmt::format("failed choosing cases: {} has none called '{}'", path_.string(), name));
    chosen.push_back(*found);
  }
  return chosen;
}

void CaseFile::replace_mark(const std::string& name, const std::string& configuration, const std::string& from) {
  Json file = parse_json(base::read_file(path_));
  for (Json& one : file.at("cases")) {
    if (one.at("case") != name) continue;
    one.at("mark")["configuration"] = parse_json(configuration);
    one.at("mark")["from"] = from;
  }
  base::write_output(path_, dump_json(file, 1) + "\n");
  for (SearchCase& one : cases_) {
    if (one.name == name) one.mark = {MarkKind::Found, configuration, from};
  }
}

}  // namespace attune::bench
