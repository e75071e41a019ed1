#include "tuner/importing/t1_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tuner/base/characters.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {

using spec::JsonNode;

const JsonNode* member_of(const JsonNode& node, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const JsonNode* const found = node.find(key);
    if (found != nullptr && found->kind != JsonNode::Kind::Null) return found;
  }
  return nullptr;
}

bool is_set(const JsonNode* node) {
  if (node == nullptr) return false;
  const std::string text = node->kind == JsonNode::Kind::Scalar ? spec::to_text(node->scalar) : "";
  return text == "1" || text == "true" || text == "True";
}

const JsonNode& required_member(const JsonNode& node, std::string_view key, const std::string& what, const std::string& remedy) {
  static_cast<void>(node.object(what));
  if (const JsonNode* const found = member_of(node, {key})) return *found;
  std::vector<std::string> there;  // without what is there in its own right
  for (const auto& member : node.members) {
    if (member.key != "KernelFile" && member.key != "KernelName" && member.key != "Type" && member.key != "Size")
      there.push_back(member.key);
  }
  const std::string near = spec::suggestion(key, there);
  spec::fail(node.position, fmt::format("{} lacks \"{}\"{}; {}", what, key, near.empty() ? "" : " (" + near.substr(2) + ")", remedy));
}

std::string known_word(const JsonNode& node, const std::string& what, const std::vector<std::string>& words) {
  const std::string& word = node.string(what);
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (const std::string& known : words) {
    if (std::equal(known.begin(), known.end(), word.begin(), word.end(), same)) return known;
  }
  spec::fail(node.position, fmt::format("{} is '{}', which is not known{}", what, word, spec::hint(word, words)));
}

std::string as_identifier(const std::string& text) {
  std::string name;
  for (const char c : text) name += base::is_letter_or_digit(c) ? c : '_';
  if (name.empty() || base::is_digit(name.front())) name.insert(0, "_");
  constexpr std::size_t kMostBytes = 100;
  return name.substr(0, kMostBytes);
}

std::string literal(const spec::Value& value) {
  if (const auto* const boolean = std::get_if<bool>(&value)) return *boolean ? "1" : "0";
  const auto* const real = std::get_if<double>(&value);
  return real != nullptr ? fmt::format("{}", *real) : spec::to_text(value);
}

const spec::Parameter* T1Reader::parameter(std::string_view name) const {
  const auto& all = names_.parameters;
  const auto found = std::find_if(all.begin(), all.end(), [&](const spec::Parameter& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool T1Reader::is_taken(const std::string& name) const {
  const auto& others = names_.others;
  return parameter(name) != nullptr || std::find(others.begin(), others.end(), name) != others.end() ||
         std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(), [&](const auto& one) { return one.name == name; });
}

std::string T1Reader::free_name(const std::string& wanted) const {
  const std::vector<std::string> reserved = spec::reserved_words();
  std::string name = wanted;
  for (int i = 1; is_taken(name) || std::find(reserved.begin(), reserved.end(), name) != reserved.end(); ++i)
    name = fmt::format("{}_{}", wanted, i);
  return name;
}

std::vector<std::pair<std::string, std::int64_t>> T1Reader::sizes() const {
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (const ImportedSize& size : kernel_.sizes) all.emplace_back(size.name, size.value);
  return all;
}

Translation T1Reader::expression(const JsonNode& node, const std::string& what, Use use) const {
  if (node.is_string()) return translate_python(node.string(what), node.inside(), names_, use);
  if (node.kind == JsonNode::Kind::Scalar) {
    const bool* const boolean = std::get_if<bool>(&node.scalar);
    if (boolean != nullptr) return {*boolean ? "True" : "False"};
    return {spec::to_text(node.scalar)};
  }
  spec::fail(node.position, fmt::format("{} must be a number, or an expression in a string, not {}", what, node.describe()));
}

ImportedKernel T1Reader::run(const std::string& name) {
  const JsonNode& space =
      required_member(root_, "ConfigurationSpace", "the file", "a T1 file says there what may be tuned: {\"TuningParameters\": [...]}");
  specification_ = &required_member(root_, "KernelSpecification", "the file", "a T1 file says there which kernel is tuned");
  static_cast<void>(specification_->object("\"KernelSpecification\""));
  kernel_.origin = root_.position.file;
  read_kernel();
  read_parameters(space);
  read_template_arguments();
  read_problem_size();
  for (const JsonNode* const holder : {&space, &root_, specification_}) read_conditions(*holder);
  if (!kernel_.constraints.empty())
    note(Note::Kind::Taken, "\"Conditions\"", counted(kernel_.constraints.size(), "condition") + ", as constraints");
  read_arguments();
  read_geometry();
  fix_sizes();
  read_options();
  read_budget();
  read_reference();
  tell_rest();
  kernel_.name = name.empty() ? template_name() : name;
  kernel_.parameters = std::move(names_.parameters);
  return std::move(kernel_);
}

ImportedKernel read_t1(const std::string& text, const std::string& path, const std::string& name) {
  const JsonNode root = JsonNode::parse(text, path);
  return T1Reader(root).run(name);
}

}  // namespace attune::importing
