#include "tuner/spec/kernel_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attune/error.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/spec/code_axis.hpp"
#include "tuner/spec/device_headers.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/json_document.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

using Json = nlohmann::json;

/// An object of names and scalars. These texts come from databases of others, and whoever writes a value that is nested a million deep into
/// a message walks it recursively.
Json parse_object(const std::string& text, const char* what) {
  constexpr int kMostDepth = 2;
  constexpr std::size_t kShown = 200;
  Json json;
  try {
    json = base::try_parse_shallow_json(text, kMostDepth, "its values are nested too deeply");
  } catch (const Error& error) {
    throw UsageError(fmt::format("failed reading the {} {}...: {}", what, text.substr(0, kShown), error.what()));
  }
  if (json.is_discarded()) throw UsageError(fmt::format("failed reading the {} {}: it is no JSON", what, text));
  if (!json.is_object()) throw UsageError(fmt::format("failed reading the {} {}: a JSON object is needed", what, text));
  return json;
}

std::vector<std::string> parameter_names(const KernelTemplate& kernel) {
  std::vector<std::string> names;
  for (const Parameter& parameter : kernel.parameters) names.push_back(parameter.name);
  return names;
}

std::uint16_t index_of(const KernelTemplate& kernel, const Parameter& parameter, const Json& json) {
  const bool scalar = json.is_boolean() || json.is_number() || json.is_string();
  std::vector<std::string> known;
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    if (scalar && equal(parameter.values[i], value_from_json(json))) return static_cast<std::uint16_t>(i);
    known.push_back(to_text(parameter.values[i]));
  }
  throw UsageError(fmt::format("the parameter '{}' of template '{}' cannot be {}; its values: {}", parameter.name, kernel.name,
                               base::dump_json(json), joined(known)));
}

void check_code(const KernelTemplate& kernel, const ProblemAxis& axis, const Problem& problem) {
  const auto given = problem.choices.find(axis.name);
  if (given == problem.choices.end()) return;
  if (const std::string reason = why_no_expression(given->second); !reason.empty()) {
    throw UsageError(fmt::format("the code '{}' of template '{}' cannot be \"{}\": {}; give one expression of CUDA C++", axis.name,
                                 kernel.name, given->second, reason));
  }
}

void check_choice(const KernelTemplate& kernel, const ProblemAxis& axis, const Problem& problem) {
  const auto given = problem.choices.find(axis.name);
  const char* kind = axis.kind == AxisKind::Type ? "type" : "choice";
  if (given == problem.choices.end()) {
    if (!axis.default_value.empty()) return;
    throw UsageError(
        fmt::format("the problem gives no {} '{}' for template '{}'; allowed: {}", kind, axis.name, kernel.name, joined(axis.values)));
  }
  if (std::find(axis.values.begin(), axis.values.end(), given->second) == axis.values.end()) {
    throw UsageError(fmt::format("the {} '{}' of template '{}' cannot be '{}'; allowed: {}{}", kind, axis.name, kernel.name, given->second,
                                 joined(axis.values), suggestion(given->second, axis.values)));
  }
}

void check_size(const KernelTemplate& kernel, const ProblemAxis& axis, const Problem& problem) {
  const auto given = problem.sizes.find(axis.name);
  if (given == problem.sizes.end()) {
    throw UsageError(fmt::format("the problem gives no size '{}' for template '{}'", axis.name, kernel.name));
  }
  if (given->second < axis.min || given->second > axis.max) {
    throw UsageError(fmt::format("the size '{}' of template '{}' cannot be {}; allowed: {} to {}", axis.name, kernel.name, given->second,
                                 axis.min, axis.max));
  }
}

void check_axis_name(const KernelTemplate& kernel, const std::string& name, bool size) {
  const ProblemAxis* axis = kernel.axis(name);
  if (axis != nullptr && (axis->kind == AxisKind::Size) == size) return;
  std::vector<std::string> known;
  for (const ProblemAxis& candidate : kernel.problem) known.push_back(candidate.name);
  throw UsageError(
      fmt::format("template '{}' has no {} '{}'{}", kernel.name, size ? "size" : "type, choice or code", name, hint(name, known)));
}

/// Whether there is a regular file of this name in the folder. Throws: SpecError when it is a link to one elsewhere: what is read
/// as a part of a template is stored, exported and shown, and whoever made the folder may not be who may read that file.
bool is_part(const std::filesystem::path& folder, const std::string& name) {
  if (included_file("template.json", name).empty()) return false;  // no path inside the folder, which is told where it is named
  const std::filesystem::path path = folder / name;
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable)) return false;
  const std::filesystem::path home = std::filesystem::canonical(folder.empty() ? "." : folder, unreadable),
                              file = std::filesystem::canonical(path, unreadable);
  if (unreadable) return false;  // it is gone again
  if (std::mismatch(home.begin(), home.end(), file.begin(), file.end()).first == home.end()) return true;
  throw SpecError(path.string(), 0, 0, fmt::format("it is '{}', outside of the template's folder; copy the file into it", file.string()));
}

/// The same of what a template need not have. Throws: SpecError also when something else of this name is there: it is meant to be read.
bool has_part(const std::filesystem::path& folder, const std::string& name) {
  if (is_part(folder, name)) return true;
  std::error_code unreadable;
  if (!std::filesystem::exists(std::filesystem::symlink_status(folder / name, unreadable))) return false;
  throw SpecError((folder / name).string(), 0, 0,
                  "it is no file that can be read, but a link to nothing, a folder or a device; remove it, or put the file there");
}

/// Asks for the size first: a file that is no template must not fill the memory.
std::string read_part(const std::filesystem::path& path, std::size_t most) {
  if (const auto bytes = std::filesystem::file_size(path); bytes > most) {
    throw SpecError(path.string(), 0, 0, fmt::format("the file has {} bytes; at most {} are read", bytes, most));
  }
  return base::read_file(path);
}

/// A loose first look at the sources; parse() then says what is wrong with them, at its place.
void read_sources(const JsonNode& root, const std::filesystem::path& folder, std::map<std::string, std::string>& files) {
  const JsonNode* sources = root.find("sources");
  if (sources == nullptr) return;
  for (const JsonNode& item : sources->items) {
    const JsonNode* name = item.kind == JsonNode::Kind::Object ? item.find("file") : &item;
    if (name == nullptr || !name->is_string()) continue;
    const std::string file = name->string("a source");
    if (files.contains(file) || files.size() > kMostFiles) continue;
    if (is_part(folder, file)) files[file] = read_part(folder / file, kMostFileBytes);
  }
}

/// The file of the template's own reference; empty: it has none.
std::string own_reference(const JsonNode& root) {
  const JsonNode* reference = root.find("reference");
  const JsonNode* file = reference == nullptr ? nullptr : reference->find("file");
  return file != nullptr && file->is_string() ? file->string("the reference's file") : "";
}

}  // namespace

KernelTemplate KernelTemplate::load(const std::filesystem::path& folder) {
  const std::filesystem::path spec = folder / "template.json";
  if (!is_part(folder, "template.json")) {
    throw SpecError(spec.string(), 0, 0,
                    "failed reading the template: no such file; a template is a folder with template.json and its sources");
  }
  const std::string text = read_part(spec, kMostSpecBytes);
  const JsonNode root = JsonNode::parse(text, spec.string());
  std::map<std::string, std::string> files;
  read_sources(root, folder, files);
  if (const std::string own = own_reference(root); !included_file("template.json", own).empty() && has_part(folder, own)) {
    files[own] = read_part(folder / own, kMostSpecBytes);
    read_sources(JsonNode::parse(files[own], (folder / own).string()), folder, files);
  }
  add_included_files(files, [&](const std::string& file, std::string& bytes) {
    if (is_device_header(file) || !is_part(folder, file)) return false;
    bytes = read_part(folder / file, kMostFileBytes);
    return true;
  });
  if (has_part(folder, kDefaultsFile)) files[kDefaultsFile] = read_part(folder / kDefaultsFile, kMostSpecBytes);
  KernelTemplate kernel = parse(text, files, spec.string());
  if (const auto ladder = folder / "ladder.json"; has_part(folder, "ladder.json")) {
    kernel.ladder_text = read_part(ladder, kMostSpecBytes);
    kernel.ladder_path = ladder.string();
  }
  return kernel;
}

std::map<std::string, std::string> KernelTemplate::parts() const {
  auto all = files;
  if (!defaults_text.empty()) all.emplace(kDefaultsFile, defaults_text);
  all.insert(reference.files.begin(), reference.files.end());
  return all;
}

const ProblemAxis* KernelTemplate::axis(std::string_view wanted) const {
  const auto found = std::find_if(problem.begin(), problem.end(), [&](const ProblemAxis& a) { return a.name == wanted; });
  return found == problem.end() ? nullptr : &*found;
}

const Parameter* KernelTemplate::parameter(std::string_view wanted) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == wanted; });
  return found == parameters.end() ? nullptr : &*found;
}

std::vector<std::string> KernelTemplate::size_names() const {
  std::vector<std::string> names;
  for (const ProblemAxis& candidate : problem) {
    if (candidate.kind == AxisKind::Size) names.push_back(candidate.name);
  }
  return names;
}

Configuration default_configuration(const KernelTemplate& kernel) {
  Configuration configuration;
  for (const Parameter& parameter : kernel.parameters) {
    configuration.index.push_back(static_cast<std::uint16_t>(parameter.default_index));
  }
  return configuration;
}

const Value& value_of(const KernelTemplate& kernel, const Configuration& configuration, std::size_t parameter) {
  return kernel.parameters.at(parameter).values.at(configuration.index.at(parameter));
}

bool is_specialised(const KernelTemplate& kernel, const Configuration& configuration) {
  return for_any_size(kernel, configuration) != configuration;
}

Configuration for_any_size(const KernelTemplate& kernel, Configuration configuration) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (!parameter.specialises.empty()) configuration.index.at(i) = static_cast<std::uint16_t>(parameter.default_index);
  }
  return configuration;
}

std::string to_text(const KernelTemplate& kernel, const Configuration& configuration) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    json[kernel.parameters[i].name] = to_json(value_of(kernel, configuration, i));
  }
  return base::dump_json(json);
}

Configuration configuration_from_text(const KernelTemplate& kernel, const std::string& text) {
  const Json json = parse_object(text, "configuration");
  for (const auto& [name, value] : json.items()) {
    if (kernel.parameter(name) == nullptr) {
      throw UsageError(fmt::format("template '{}' has no parameter '{}'{}", kernel.name, name, hint(name, parameter_names(kernel))));
    }
  }
  Configuration configuration;
  for (const Parameter& parameter : kernel.parameters) {
    const auto found = json.find(parameter.name);
    if (found == json.end()) {
      throw UsageError(fmt::format("the configuration {} lacks the parameter '{}' of template '{}'", text, parameter.name, kernel.name));
    }
    configuration.index.push_back(index_of(kernel, parameter, *found));
  }
  return configuration;
}

std::string to_text(const Problem& problem) {
  Json json = Json::object();
  for (const auto& [name, choice] : problem.choices) json[name] = choice;
  for (const auto& [name, size] : problem.sizes) json[name] = size;
  return base::dump_json(json);
}

std::string family_text(const Problem& problem) { return to_text(Problem{problem.choices, {}}); }

std::string choice_of(const KernelTemplate& kernel, const Problem& problem, const std::string& axis) {
  if (const auto given = problem.choices.find(axis); given != problem.choices.end()) return given->second;
  const ProblemAxis* declared = kernel.axis(axis);
  return declared == nullptr ? "" : declared->default_value;
}

bool asks_reference_kernel(const KernelTemplate& kernel, const Problem& problem) {
  if (kernel.reference.kind == ReferenceSpec::Kind::Kernel) return true;
  if (kernel.reference.kind == ReferenceSpec::Kind::None || kernel.reference.steps.empty()) return false;
  const auto& leaves = kernel.reference.definition->leaves;
  return std::any_of(leaves.begin(), leaves.end(), [&](const auto& left) {
    return std::find(left.second.begin(), left.second.end(), choice_of(kernel, problem, left.first)) != left.second.end();
  });
}

Problem problem_from_text(const std::string& text) {
  Problem problem;
  const Json json = parse_object(text, "problem");
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) {
      problem.choices[name] = value.get<std::string>();
    } else if (value.is_number_integer() &&
               !(value.is_number_unsigned() &&
                 value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))) {
      problem.sizes[name] = value.get<std::int64_t>();
    } else {
      throw UsageError(
          fmt::format("failed reading the problem {}: '{}' must be a string (type or choice) or a 64-bit integer (size)", text, name));
    }
  }
  return problem;
}

Problem canonical(const KernelTemplate& kernel, Problem problem) {
  for (const ProblemAxis& axis : kernel.problem) {
    if (axis.default_size) problem.sizes.try_emplace(axis.name, *axis.default_size);
    const auto given = problem.choices.find(axis.name);
    if (given != problem.choices.end() && !axis.default_value.empty() && given->second == axis.default_value) problem.choices.erase(given);
  }
  return problem;
}

std::vector<Problem> related_problems(const KernelTemplate& kernel, Problem problem) {
  std::vector<Problem> related;
  for (auto axis = kernel.problem.rbegin(); axis != kernel.problem.rend(); ++axis) {
    if (axis->stand_in.empty() || choice_of(kernel, problem, axis->name) == axis->stand_in) continue;
    problem.choices[axis->name] = axis->stand_in;
    related.push_back(canonical(kernel, problem));
  }
  return related;
}

void validate(const KernelTemplate& kernel, const Problem& problem) {
  for (const auto& [name, choice] : problem.choices) check_axis_name(kernel, name, false);
  for (const auto& [name, size] : problem.sizes) check_axis_name(kernel, name, true);
  if (const Problem key = canonical(kernel, problem); key != problem) {
    const char* const why =
        key.sizes == problem.sizes ? "names defaults; its key leaves them out" : "lacks a size that has a default; its key names it";
    throw UsageError(fmt::format("the problem {} of template '{}' {}: {}", to_text(problem), kernel.name, why, to_text(key)));
  }
  for (const ProblemAxis& axis : kernel.problem) {
    if (axis.kind == AxisKind::Size) {
      check_size(kernel, axis, problem);
    } else if (axis.kind == AxisKind::Code) {
      check_code(kernel, axis, problem);
    } else {
      check_choice(kernel, axis, problem);
    }
  }
}

}  // namespace attune::spec
