#include "tuner/spec/template_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "tuner/base/hash.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

constexpr std::int64_t kTemplateFormat = 1;

/// A string in quotes, so that "256" is not mistaken for 256.
std::string quoted(const Value& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr ? to_text(value) : fmt::format("\"{}\"", *text);
}

}  // namespace

bool is_safe_path(const std::string& file) {
  const std::filesystem::path path(file);
  const bool plain = std::none_of(file.begin(), file.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; });
  return !file.empty() && plain && file.size() <= kMostPathBytes && path.is_relative() && !file.starts_with('<') &&
         std::none_of(path.begin(), path.end(), [](const std::filesystem::path& part) { return part == ".."; });
}

void require_no_zero_byte(const std::string& file, const std::string& what, const SourcePosition& position) {
  const std::size_t zero = file.find('\0');
  if (zero == std::string::npos) return;
  fail(position,
       fmt::format("the name of {} has a zero byte in it, behind '{}'; write a path without \"\\u0000\"", what, file.substr(0, zero)));
}

std::size_t read_word(const JsonNode& node, const std::string& what, const std::vector<std::string>& words) {
  const std::string& word = node.string(what);
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) fail(node.position, fmt::format("{} must be one of {}, not '{}'", what, joined(words), word));
  return static_cast<std::size_t>(found - words.begin());
}

std::vector<std::string> read_words(const JsonNode& node, const std::string& what) {
  std::vector<std::string> words;
  std::set<std::string> seen;
  for (const JsonNode& item : node.array(what)) {
    const std::string& word = item.string("each of " + what);
    if (word.empty()) fail(item.position, fmt::format("{} hold an empty string", what));
    if (!seen.insert(word).second) fail(item.position, fmt::format("{} hold '{}' twice; remove one", what, word));
    words.push_back(word);
  }
  if (words.size() > kMostValues) fail(node.position, fmt::format("{} are more than {}", what, kMostValues));
  if (words.empty()) fail(node.position, fmt::format("{} are empty; give at least one", what));
  return words;
}

KernelTemplate TemplateParser::run(const std::map<std::string, std::string>& files) {
  files_ = &files;
  const ObjectReader top(root_, "the template", {"attune",     "name",        "summary", "macro_prefix", "sources",   "problem",  "types",
                                                 "parameters", "constraints", "let",     "buffers",      "scalars",   "launches", "setup",
                                                 "check",      "reference",   "work",    "metrics",      "objective", "options"});
  read_head(top);
  read_problem(top.require("problem", R"(say what is computed, e.g. "problem": {"n": {"size": {"min": 1}}})"));
  if (const JsonNode* node = top.find("types")) read_types(*node);
  for (ProblemAxis& axis : kernel_.problem) {
    if (axis.kind == AxisKind::Code) read_code(axis, *top.find("problem")->find(axis.name)->find("code"));
  }
  read_parameters(top.require("parameters", R"(say what may be tuned, e.g. "parameters": {"block_size": {...}})"));
  check_macros();
  if (const JsonNode* node = top.find("constraints")) read_constraints(*node);
  if (const JsonNode* node = top.find("let")) read_lets(*node);
  if (const auto table = files.find(kDefaultsFile); table != files.end()) read_defaults(table->second);
  read_sources(top.require("sources", R"(name the CUDA files, e.g. "sources": ["reduce.cu"])"), files);
  if (const JsonNode* node = top.find("options")) read_options(*node);
  read_buffers(top.require("buffers", R"(say what memory the kernels use, e.g. "buffers": {"in": {"type": "f32", "count": "n"}})"));
  if (const JsonNode* node = top.find("scalars")) read_scalars(*node);
  kernel_.steps = read_steps(top.require("launches", "say which kernels run"), "launches");
  read_untimed(top);
  read_reference(
      top.require(
          "reference",
          R"(say what results are checked against: {"builtin": ...}, {"file": ...}, {"launches": [...]}, {"outputs": ...} or "none")"),
      files);
  if (const JsonNode* node = top.find("work")) read_work(*node);
  read_metrics(top);
  for (const auto& [name, file] : kernel_.data) kernel_.files[name] = to_text(file);
  return std::move(kernel_);
}

void TemplateParser::read_head(const ObjectReader& top) {
  const JsonNode& format = top.require("attune", R"(begin with "attune": 1, the version of the format)");
  if (format.integer("the format version") != kTemplateFormat) {
    fail(format.position, fmt::format("format version {} is not known to this build, which reads {}; use a matching attune",
                                      format.integer("the format version"), kTemplateFormat));
  }
  const JsonNode& name = top.require("name", "give the template a name");
  kernel_.name = name.string("the template's name");
  check_identifier(kernel_.name, "the template's name", name.position);
  if (const JsonNode* summary = top.find("summary")) kernel_.summary = summary->string("the summary");
  if (const JsonNode* prefix = top.find("macro_prefix")) {
    kernel_.macro_prefix = prefix->string("the macro prefix");
    if (!kernel_.macro_prefix.empty()) check_identifier(kernel_.macro_prefix, "the macro prefix", prefix->position);
  }
}

void TemplateParser::read_parameters(const JsonNode& node) {
  for (const JsonNode::Member& member : node.object("\"parameters\"")) {
    kernel_.parameters.push_back(read_parameter(member));
    const bool launch = kernel_.parameters.back().binding == Binding::Launch;
    names_.add(member.key, launch ? NameKind::LaunchParameter : NameKind::SourceParameter, member.position);
  }
}

Parameter TemplateParser::read_parameter(const JsonNode::Member& member) {
  const std::string what = fmt::format("the parameter '{}'", member.key);
  const ObjectReader reader(member.value, what, {"values", "default", "bind", "specialise"});
  Parameter parameter;
  parameter.name = member.key;
  parameter.values = read_values(reader.require("values", "list the values to try"), fmt::format("the values of '{}'", member.key));
  parameter.default_index = index_of(parameter, reader.require("default", "say which value is used where nothing was tuned"));
  if (const JsonNode* bind = reader.find("bind")) {
    static_cast<void>(read_word(*bind, fmt::format("\"bind\" of '{}'", member.key), {"launch"}));
    parameter.binding = Binding::Launch;
  }
  if (const JsonNode* sizes = reader.find("specialise")) read_specialised(parameter, *sizes);
  return parameter;
}

std::size_t TemplateParser::index_of(const Parameter& parameter, const JsonNode& node) {
  const Value& value = node.value(fmt::format("the default of '{}'", parameter.name));
  const auto found = std::find_if(parameter.values.begin(), parameter.values.end(), [&](const Value& v) { return equal(v, value); });
  if (found == parameter.values.end()) {
    std::vector<std::string> known;
    for (const Value& candidate : parameter.values) known.push_back(quoted(candidate));
    fail(node.position, fmt::format("the default {} of '{}' is not among its values ({})", quoted(value), parameter.name, joined(known)));
  }
  return static_cast<std::size_t>(found - parameter.values.begin());
}

void TemplateParser::read_defaults(const std::string& text) {
  constexpr std::int64_t kFormat = 1;
  const JsonNode root = JsonNode::parse(text, (std::filesystem::path(root_.position.file).parent_path() / kDefaultsFile).string());
  const ObjectReader top(root, "the table of defaults", {"attune_defaults", "rows"});
  const JsonNode& format = top.require("attune_defaults", R"(begin with "attune_defaults": 1, the version of the format)");
  if (format.integer("the format version") != kFormat) {
    fail(format.position,
         fmt::format("format version {} is not known to this build, which reads {}", format.integer("the format version"), kFormat));
  }
  kernel_.defaults_text = text;
  std::vector<std::string> known;
  for (const Parameter& parameter : kernel_.parameters) known.push_back(parameter.name);
  for (const JsonNode& item :
       top.require("rows", R"(say which values are the default where, e.g. "rows": [{"if": "n < 1000", "use": {...}}])")
           .array("\"rows\"")) {
    const ObjectReader reader(item, "a row of the defaults", {"if", "use"});
    DefaultRow row;
    if (const JsonNode* condition = reader.find("if"))
      row.condition = read_expression(*condition, "the condition of a row of the defaults", visibility::kLet);
    for (const JsonNode::Member& member :
         reader.require("use", R"(say which values are the default there, e.g. "use": {"block_size": 128})").object("\"use\"")) {
      const auto found = std::find(known.begin(), known.end(), member.key);
      if (found == known.end()) fail(member.position, fmt::format("there is no parameter '{}'{}", member.key, hint(member.key, known)));
      const auto parameter = static_cast<std::size_t>(found - known.begin());
      if (!kernel_.parameters[parameter].specialises.empty()) {
        fail(
            member.position,
            fmt::format("'{}' specialises the code on sizes, which no default does: it would be compiled anew for every size", member.key));
      }
      row.values.emplace_back(parameter, static_cast<std::uint16_t>(index_of(kernel_.parameters[parameter], member.value)));
    }
    kernel_.defaults.push_back(std::move(row));
  }
}

void TemplateParser::read_specialised(Parameter& parameter, const JsonNode& node) {
  const bool is_switch = parameter.values.size() == 2 && std::holds_alternative<bool>(parameter.values.front()) &&
                         !std::get<bool>(parameter.values[parameter.default_index]);
  if (!is_switch || parameter.binding == Binding::Launch) {
    fail(node.position, fmt::format("the parameter '{}' specialises on sizes, so it must be a switch of the source that is off by "
                                    "default: \"values\": [false, true], \"default\": false",
                                    parameter.name));
  }
  const std::vector<std::string> known = kernel_.size_names();
  for (const std::string& size : read_words(node, fmt::format("the sizes that '{}' specialises on", parameter.name))) {
    if (std::find(known.begin(), known.end(), size) == known.end()) {
      fail(node.position,
           fmt::format("'{}' specialises on '{}', which is no size of the problem{}", parameter.name, size, hint(size, known)));
    }
    parameter.specialises.push_back(size);
  }
}

std::vector<Value> TemplateParser::read_values(const JsonNode& node, const std::string& what) {
  struct Read {
    Value value;
    SourcePosition position;
  };
  std::vector<Read> read;
  if (node.is_string()) {
    for (Value& value : parse_value_list(node.string(what), node.inside(), list_work_)) read.push_back({std::move(value), node.position});
    listed_ += read.size();
    if (listed_ > kMostSpecValues)
      fail(node.position, fmt::format("with them the texts of the template list more than {} values; give fewer", kMostSpecValues));
  } else if (node.kind != JsonNode::Kind::Array) {
    fail(node.position,
         fmt::format("{} must be a list, or a text that says one such as \"powers(2, 32, 1024)\", not {}", what, node.describe()));
  } else {
    for (const JsonNode& item : node.items) read.push_back({item.value("each of " + what), item.position});
  }
  std::vector<Value> values;
  DistinctValues seen;
  for (auto& [value, position] : read) {
    const auto kind = [](const Value& v) { return v.index() == 1 || v.index() == 2 ? std::size_t{1} : v.index(); };
    if (!values.empty() && kind(value) != kind(values.front())) {
      fail(position, fmt::format("{} mix kinds; use only numbers, only booleans or only strings", what));
    }
    if (!seen.add(value)) fail(position, fmt::format("{} hold {} twice; remove one", what, to_text(value)));
    if (to_text(value).empty()) fail(position, fmt::format("{} hold an empty string", what));
    values.push_back(std::move(value));
  }
  if (values.empty()) fail(node.position, fmt::format("{} are empty; give at least one", what));
  if (values.size() > kMostValues) fail(node.position, fmt::format("{} are more than {}", what, kMostValues));
  return values;
}

/// Two names that differ only in case or punctuation would meet in one macro, and the later would win unseen.
void TemplateParser::check_macros() const {
  std::map<std::string, std::string> owners;
  const auto claim = [&](const std::string& macro, const std::string& name, const std::string& owner) {
    const auto [at, fresh] = owners.emplace(macro, owner);
    if (!fresh) {
      fail(names_.position(name), fmt::format("{} and {} both become the macro {}; rename one of them", at->second, owner, macro));
    }
  };
  const auto claim_name = [&](const std::string& name) { claim(macro_name(kernel_.macro_prefix, name), name, fmt::format("'{}'", name)); };
  const auto claim_flags = [&](const std::string& name, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      claim(flag_name(kernel_.macro_prefix, name, value), name, fmt::format("'{}' = '{}'", name, value));
    }
  };
  for (const ProblemAxis& axis : kernel_.problem) {
    claim_flags(axis.name, axis.values);
    if (axis.kind == AxisKind::Type) claim_name(axis.name);
  }
  for (const KernelTemplate::TypeAlias& alias : kernel_.types) {
    claim_flags(alias.name, possible_types(kernel_, alias.name));
    claim_name(alias.name);
  }
  std::set<std::string> specialised;
  for (const Parameter& parameter : kernel_.parameters) {
    if (parameter.binding == Binding::Launch) continue;
    claim_name(parameter.name);
    for (const std::string& size : parameter.specialises) {
      if (specialised.insert(size).second) claim_name(size);
    }
    for (const Value& value : parameter.values) {
      if (std::holds_alternative<std::string>(value)) claim_flags(parameter.name, {to_text(value)});
    }
  }
}

void TemplateParser::read_constraints(const JsonNode& node) {
  for (const JsonNode& item : node.array("\"constraints\"")) {
    static_cast<void>(item.string("a constraint"));
    kernel_.constraints.push_back({read_expression(item, "a constraint", visibility::kConstraint)});
  }
}

void TemplateParser::read_lets(const JsonNode& node) {
  for (const JsonNode::Member& member : node.object("\"let\"")) names_.add(member.key, NameKind::LaterLet, member.position);
  for (const JsonNode::Member& member : node.members) {
    kernel_.lets.emplace_back(member.key, read_expression(member.value, fmt::format("the let '{}'", member.key), visibility::kLet));
    names_.define_let(member.key);
  }
}

void TemplateParser::read_sources(const JsonNode& node, const std::map<std::string, std::string>& files) {
  for (const JsonNode& item : node.array("\"sources\"")) {
    SourceSpec source;
    const JsonNode* file = &item;
    if (item.kind == JsonNode::Kind::Object) {
      const ObjectReader reader(item, "a source", {"file", "if"});
      file = &reader.require("file", "name the file");
      if (const JsonNode* condition = reader.find("if")) {
        source.condition = read_expression(*condition, "a source's condition", visibility::kSource);
      }
    }
    source.file = file->string("a source");
    require_no_zero_byte(source.file, "a source", file->position);
    if (!is_safe_path(source.file)) {
      fail(file->position,
           fmt::format("the source '{}' must be a path inside the template's folder, of at most {} bytes and without control characters",
                       source.file, kMostPathBytes));
    }
    const auto found = files.find(source.file);
    if (found == files.end())
      fail(file->position, fmt::format("the source file '{}' is missing; it belongs beside {}", source.file,
                                       std::filesystem::path(file->position.file).filename().string()));
    if (!kernel_.files.insert(*found).second) fail(file->position, fmt::format("the source '{}' is named twice", source.file));
    if (kernel_.files.size() > kMostFiles) fail(file->position, fmt::format("there are more than {} sources", kMostFiles));
    kernel_.sources.push_back(std::move(source));
  }
  if (kernel_.sources.empty()) fail(node.position, "\"sources\" is empty; name at least one file");
  add_included_files(kernel_.files, [&](const std::string& name, std::string& bytes) {
    const auto found = files.find(name);
    if (found != files.end()) bytes = found->second;
    return found != files.end();
  });
}

void TemplateParser::count_expression(std::size_t bytes, const SourcePosition& position) const {
  expression_bytes_ += bytes;
  if (expression_bytes_ > kMostExpressionsBytes)
    fail(position, fmt::format("with it the expressions of the template have more than {} bytes", kMostExpressionsBytes));
}

Expression TemplateParser::read_expression(const JsonNode& node, const std::string& what, const Visibility& visibility) const {
  if (node.kind != JsonNode::Kind::Scalar) {
    fail(node.position, fmt::format("{} must be an expression in a string, or a number, not {}", what, node.describe()));
  }
  const std::string text = node.is_bool() ? (std::get<bool>(node.scalar) ? "True" : "False") : to_text(node.scalar);
  count_expression(text.size(), node.position);
  Expression expression = Expression::parse(text, node.inside());
  names_.check(expression, visibility);
  return expression;
}

KernelTemplate KernelTemplate::parse(const std::string& spec_text, const std::map<std::string, std::string>& files,
                                     const std::string& path) {
  const JsonNode root = JsonNode::parse(spec_text, path);
  KernelTemplate kernel = TemplateParser(root).run(files);
  kernel.spec_text = spec_text;
  kernel.spec_path = path;
  kernel.includes_files = check_includes(kernel);
  base::ContentHasher hasher;
  hasher.add(spec_text);
  for (const auto& [file, bytes] : kernel.files) hasher.add(file).add(bytes);
  kernel.content_hash = hasher.key();
  return kernel;
}

}  // namespace attune::spec
