// Of T1Reader: what the kernel takes.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/importing/element_layout.hpp"
#include "tuner/importing/t1_reader.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/scalar_bits.hpp"

namespace attune::importing {
namespace {

using spec::JsonNode;
using Role = ImportedArgument::Role;

/// Other tuners pass whole allocations, which kernels may read as vectors of up to so many bytes, whatever type they declare.
constexpr int kWidestLoad = 16;

/// A number, where a kernel takes it by value and the file has it as one.
std::optional<spec::Value> number_of(const JsonNode& node) {
  if (node.kind != JsonNode::Kind::Scalar || node.is_string()) return std::nullopt;
  return node.scalar;
}

}  // namespace

const JsonNode& T1Reader::arguments_node() const {
  for (const JsonNode* const holder : {specification_, &root_}) {
    if (const JsonNode* const list = member_of(*holder, {"Arguments"})) return *list;
  }
  spec::fail(specification_->position, "\"KernelSpecification\" lacks \"Arguments\"; list what the kernel takes, in its order");
}

void T1Reader::read_arguments() {
  const JsonNode& list = arguments_node();
  for (const JsonNode& item : list.array("\"Arguments\"")) read_argument(item);
  const auto& all = kernel_.arguments;
  if (std::none_of(all.begin(), all.end(), is_written)) {
    spec::fail(list.position,
               "no argument is written, so nothing could be checked; give the result \"AccessType\": \"WriteOnly\" or \"ReadWrite\"");
  }
  note(Note::Kind::Taken, "\"Arguments\"", counted(list.items.size(), "argument") + ", in the kernel's order");
}

std::string T1Reader::argument_name(const JsonNode& node) {
  const std::string fallback = fmt::format("argument_{}", argument_names_.size() + 1);
  const JsonNode* const given = member_of(node, {"Name"});
  const std::string name = given != nullptr ? given->string("the name of an argument") : fallback;
  if (std::find(argument_names_.begin(), argument_names_.end(), name) != argument_names_.end())
    spec::fail(given == nullptr ? node.position : given->position,
               fmt::format("the argument '{}' is given twice; name each by itself", name));
  argument_names_.push_back(name);
  const std::string identifier = as_identifier(name);
  const std::string free = is_taken(identifier) ? free_name(identifier) : identifier;  // no expression names it: it may be "in"
  if (free != name) note(Note::Kind::Changed, fmt::format("the argument '{}'", name), fmt::format("called '{}' in the template", free));
  return free;
}

void T1Reader::read_argument(const JsonNode& node) {
  static_cast<void>(node.object("an argument"));
  ImportedArgument argument;
  argument.name = argument_name(node);
  const std::string what = fmt::format("the argument '{}'", argument_names_.back());
  const JsonNode& type = required_member(node, "Type", what, "give its element type, e.g. \"float\"");
  const JsonNode* const bytes = member_of(node, {"TypeSize"});
  const auto layout = element_layout(type.string("the type of " + what),
                                     bytes == nullptr ? std::nullopt : std::optional(bytes->integer("\"TypeSize\"")), type.position);
  argument.type = layout.type;
  argument.align_bytes = layout.align_bytes;
  argument.remark = layout.remark;
  if (layout.lanes > 1 && layout.remark.empty()) argument.remark = fmt::format("{}: {} elements each", type.string(what), layout.lanes);
  if (!argument.remark.empty()) note(Note::Kind::Changed, what, argument.remark);
  const JsonNode* const memory = member_of(node, {"MemoryType"});
  const std::string kind = memory != nullptr ? known_word(*memory, "\"MemoryType\" of " + what, {"Vector", "Scalar", "Local", "Symbol"})
                           : member_of(node, {"Size"}) != nullptr ? "Vector"
                                                                  : "Scalar";
  if (kind == "Scalar") {
    if (layout.lanes > 1)
      spec::fail(type.position, fmt::format("{} is a {} by value, which attune cannot pass; pass its parts, or memory that holds it", what,
                                            type.string(what)));
    read_scalar(node, argument);
  } else if (kind == "Local") {
    argument.role = Role::DynamicShared;
    const JsonNode& size = required_member(node, "Size", what, "give the number of its elements");
    argument.count =
        fmt::format("({}) * {}", expression(size, "\"Size\" of " + what, Use::Number).text, layout.lanes * spec::size_bytes(layout.type));
    note(Note::Kind::Changed, what, "dynamic shared memory of the launch, which a CUDA kernel does not take as an argument");
  } else {
    argument.count = read_count(node, layout.lanes);
    argument.constant_memory = kind == "Symbol";
    if (!argument.constant_memory) argument.align_bytes = std::max(argument.align_bytes, kWidestLoad);
    read_vector(node, argument);
  }
  kernel_.arguments.push_back(std::move(argument));
}

std::string T1Reader::read_count(const JsonNode& node, int lanes) {
  const std::string what = fmt::format("the argument '{}'", argument_names_.back());
  const JsonNode& size = required_member(node, "Size", what, "give the number of its elements");
  std::string count = expression(size, "\"Size\" of " + what, Use::DataSize).text;
  const auto parsed = spec::Expression::parse(count, size.inside());
  for (const auto& [name, text] : kernel_.lets) {
    const auto& used = parsed.variables();
    if (std::find(used.begin(), used.end(), name) != used.end())
      spec::fail(size.inside(),
                 fmt::format("the data of {} would depend on parameters through \"ProblemSize\" (\"{}\"); write the number of the elements",
                             what, text));
  }
  const std::int64_t elements = integer_of(count, size.inside(), sizes());
  constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
  if (elements < 1 || elements > kMostElements)
    spec::fail(size.position, fmt::format("\"Size\" of {} is {}; give a number of elements from 1 to 2^40", what, elements));
  if (lanes > 1) count = parsed.variables().empty() ? std::to_string(elements * lanes) : fmt::format("({}) * {}", count, lanes);
  return count;
}

void T1Reader::read_access(const JsonNode& node, ImportedArgument& argument) {
  const std::string what = fmt::format("the argument '{}'", argument_names_.back());
  const bool marked = is_set(member_of(node, {"Output"}));
  if (const JsonNode* const access = member_of(node, {"AccessType"})) {
    const std::string word = known_word(*access, "\"AccessType\" of " + what, {"ReadOnly", "WriteOnly", "ReadWrite"});
    argument.role = word == "WriteOnly" ? Role::Output : word == "ReadWrite" || marked ? Role::Both : Role::Input;
    if (word == "ReadOnly" && marked) note(Note::Kind::Decide, what, "it is \"ReadOnly\" and an \"Output\": taken for read and written");
  } else if (marked) {
    argument.role = Role::Output;
  } else {
    argument.role = Role::Both;
    note(Note::Kind::Decide, what, "it has no \"AccessType\": taken for read and written");
  }
}

void T1Reader::read_vector(const JsonNode& node, ImportedArgument& argument) {
  const std::string what = fmt::format("the argument '{}'", argument_names_.back());
  read_access(node, argument);
  if (const JsonNode* const place = member_of(node, {"MemType"})) {
    const std::string word = known_word(*place, "\"MemType\" of " + what, {"Global", "Constant", "Shared", "Texture"});
    if (word == "Texture" || word == "Shared")
      note(Note::Kind::LeftOut, what,
           fmt::format("attune has no {} memory for arguments: it is in global memory", word == "Texture" ? "texture" : "shared"));
    if (word == "Constant" && !argument.constant_memory) argument.constant_memory = argument.perhaps_passed = true;
  }
  if (argument.constant_memory && argument.role != Role::Input) {
    argument.role = Role::Input;
    note(Note::Kind::Changed, what, "it is in constant memory, which kernels only read");
  }
  read_fill(node, argument);
}

void T1Reader::read_scalar(const JsonNode& node, ImportedArgument& argument) {
  const std::string what = fmt::format("the argument '{}'", argument_names_.back());
  const JsonNode& value = required_member(node, "FillValue", what, "give the number that the kernel gets");
  argument.role = Role::Scalar;
  if (const auto number = number_of(value)) {
    if (!spec::scalar_bits(*number, argument.type))
      spec::fail(value.position,
                 fmt::format("the value {} of {} is no {}; correct it or \"Type\"", literal(*number), what, spec::name(argument.type)));
    argument.value = literal(*number);
    return;
  }
  argument.value = expression(value, "\"FillValue\" of " + what, Use::Number).text;
  const auto parsed = spec::Expression::parse(argument.value);
  const auto varies = [&](const std::string& name) {
    return parameter(name) != nullptr ||
           std::any_of(kernel_.lets.begin(), kernel_.lets.end(), [&](const auto& let) { return let.first == name; });
  };
  if (std::none_of(parsed.variables().begin(), parsed.variables().end(), varies)) return;
  argument.role = Role::Computed;
  argument.name = free_name(argument.name);
}

}  // namespace attune::importing
