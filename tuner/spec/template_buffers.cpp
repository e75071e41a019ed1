// "buffers" and "scalars" of a template.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/scalar_bits.hpp"
#include "tuner/spec/template_parser.hpp"
#include "tuner/spec/vector_type.hpp"

namespace attune::spec {
namespace {

constexpr int kMaximumAlignment = 256;             ///< what device allocations promise
constexpr std::int64_t kMostStructAlignment = 16;  ///< of what a struct of C++ holds, without an alignas

constexpr const char* kFillObjects = R"({"file": ...}, {"value": number}, {"range": [from, below]} and {"offsets": total})";

int read_alignment(const JsonNode& node) {
  const std::int64_t bytes = node.integer("\"align\"");
  if (bytes < 1 || bytes > kMaximumAlignment || (bytes & (bytes - 1)) != 0)
    fail(node.position, fmt::format("\"align\" must be a power of two up to {} bytes, not {}", kMaximumAlignment, bytes));
  return static_cast<int>(bytes);
}

}  // namespace

void TemplateParser::read_buffer_type(const JsonNode& node, BufferSpec& buffer, const std::string& what) const {
  constexpr std::int64_t kMostStructBytes = 1 << 20;
  if (node.kind == JsonNode::Kind::Object) {
    const ObjectReader reader(node, what, {"bytes", "align"});
    const JsonNode& bytes = reader.require("bytes", "give the size of the struct");
    const std::int64_t size = bytes.integer("the size of a struct");
    const JsonNode* const align = reader.find("align");
    if (size < 1 || size > kMostStructBytes)
      fail(bytes.position, fmt::format("a struct has 1 to {} bytes, not {}", kMostStructBytes, size));
    buffer.type = name(ElementType::U8);
    buffer.lanes = static_cast<int>(size);
    // No struct of this size asks for more, so that none begins where its members must not.
    buffer.align_bytes = align == nullptr ? static_cast<int>(std::gcd(size, kMostStructAlignment)) : read_alignment(*align);
    if (size % buffer.align_bytes != 0)
      fail(node.position, fmt::format("a struct of {} bytes cannot begin at multiples of {}", size, buffer.align_bytes));
    return;
  }
  const auto vector = node.is_string() ? find_vector_type(node.string(what)) : std::nullopt;
  const std::size_t cross = node.is_string() && !vector ? node.string(what).rfind('x') : std::string::npos;
  if (cross != std::string::npos && find_element_type(node.string(what).substr(0, cross))) {
    fail(node.position,
         fmt::format("{} is no type '{}'; vectors have {} elements, and anything else is a struct: {{\"bytes\": 20, \"align\": 4}}", what,
                     node.string(what), fmt::join(kVectorLanes, ", ")));
  }
  if (vector) {
    buffer.type = name(vector->element);
    buffer.lanes = vector->lanes;
    buffer.align_bytes = align_bytes(*vector);
    return;
  }
  buffer.type = read_type(node, what);
}

void TemplateParser::read_buffers(const JsonNode& node) {
  for (const JsonNode::Member& member : node.object("\"buffers\"")) {
    kernel_.buffers.push_back(read_buffer(member));
    names_.add(member.key, NameKind::Buffer, member.position);
  }
  const auto any = [&](auto is) { return std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(), is); };
  if (!any([](const BufferSpec& b) { return b.output; }))
    fail(node.position, R"(no buffer is an output, so nothing could be verified; mark one with "output": true)");
  if (!any([](const BufferSpec& b) { return b.output && b.compared; }))
    fail(node.position, R"(no output is compared, so nothing could be verified; remove "compare", or add one with "output": "check")");
}

BufferSpec TemplateParser::read_buffer(const JsonNode::Member& member) {
  const std::string what = fmt::format("the buffer '{}'", member.key);
  if (member.value.find("init") != nullptr) {
    fail(member.value.find("init")->position, fmt::format(R"({} has "init" beside "workspace"; write "workspace": {{"init": ...}})", what));
  }
  const ObjectReader reader(
      member.value, what,
      {"type", "count", "fill", "input", "output", "compare", "prepared", "workspace", "may_change", "memory", "align"});
  BufferSpec buffer;
  buffer.name = member.key;
  read_buffer_type(reader.require("type", "give its element type"), buffer, "the type of " + what);
  buffer.count = read_expression(reader.require("count", "give the number of its elements"), "the count of " + what, visibility::kGeometry);
  read_buffer_role(reader, member.value, buffer);
  read_buffer_memory(reader, buffer);
  return buffer;
}

void TemplateParser::read_buffer_role(const ObjectReader& reader, const JsonNode& node, BufferSpec& buffer) {
  read_output_role(reader, buffer);
  if (const JsonNode* workspace = reader.find("workspace")) {
    if (workspace->kind == JsonNode::Kind::Object) {
      const ObjectReader scratch(*workspace, "\"workspace\"", {"init"});
      const JsonNode& init = scratch.require("init", R"(say "none", "zero_once" or "zero_each")");
      buffer.init = static_cast<WorkspaceInit>(read_word(init, "\"init\"", {"none", "zero_once", "zero_each"}));
      buffer.workspace = true;
    } else {
      buffer.workspace = workspace->boolean("\"workspace\"");
    }
  }
  buffer.input = !buffer.output && !buffer.workspace && !buffer.prepared;
  if (const JsonNode* input = reader.find("input")) buffer.input = input->boolean("\"input\"");
  check_prepared(reader, node, buffer);
  if (buffer.workspace && (buffer.input || buffer.output)) {
    fail(node.position, fmt::format("{} cannot be workspace and input or output at once", reader.what()));
  }
  if (!buffer.workspace && !buffer.input && !buffer.output && !buffer.prepared) {
    fail(node.position, fmt::format("{} is neither input, output nor workspace", reader.what()));
  }
  if (const JsonNode* change = reader.find("may_change")) {
    buffer.may_change = change->boolean("\"may_change\"");
    const bool changes_anyway = buffer.output || buffer.workspace || buffer.prepared || reader.find("memory") != nullptr;
    if (buffer.may_change && changes_anyway)
      fail(change->position, fmt::format("\"may_change\" is of inputs alone, in global memory; remove it from {}", reader.what()));
  }
  if (const JsonNode* fill = reader.find("fill")) {
    read_fill(*fill, buffer, reader.what());
    if (!buffer.input) fail(fill->position, fmt::format("{} is no input, so nothing fills it; remove \"fill\"", reader.what()));
  }
}

void TemplateParser::read_fill(const JsonNode& node, BufferSpec& buffer, const std::string& what) {
  buffer.fill_position = node.position;
  if (node.kind != JsonNode::Kind::Object) {
    static const std::vector<std::string> kWords{"uniform", "integers", "zeros", "ones", "index", "permutation"};
    const std::string& word = node.string("\"fill\"");
    const auto found = std::find(kWords.begin(), kWords.end(), word);
    if (found == kWords.end())
      fail(node.position, fmt::format("\"fill\" must be one of {}, {}, not '{}'", joined(kWords), kFillObjects, word));
    buffer.fill = static_cast<Fill>(found - kWords.begin());
    return;
  }
  const ObjectReader reader(node, "\"fill\"", {"file", "range", "offsets", "value"});
  if (node.members.size() != 1) fail(node.position, fmt::format("\"fill\" must be one of {}", kFillObjects));
  if (const JsonNode* file = reader.find("file")) {
    buffer.data = read_data(*file, what);
    return;
  }
  const JsonNode *const range = reader.find("range"), *const offsets = reader.find("offsets");
  buffer.fill = range != nullptr ? Fill::Range : offsets != nullptr ? Fill::Offsets : Fill::Constant;
  if (range == nullptr) {
    const JsonNode& one = offsets != nullptr ? *offsets : *reader.find("value");
    buffer.fill_bounds.push_back(read_fill_number(one, "the fill of " + what));
    return;
  }
  if (range->array("the range of " + what).size() != 2) fail(range->position, R"(a range is two numbers, [from, below])");
  for (const JsonNode& bound : range->items) buffer.fill_bounds.push_back(read_fill_number(bound, "the range of " + what));
}

/// A number is taken as it is: its text as an expression would be a sign before a number, which -2^63 has none for.
Expression TemplateParser::read_fill_number(const JsonNode& node, const std::string& what) const {
  if (node.is_string() || node.kind != JsonNode::Kind::Scalar) return read_expression(node, what, visibility::kScalar);
  return Expression::constant(node.scalar, node.position);
}

void TemplateParser::read_buffer_memory(const ObjectReader& reader, BufferSpec& buffer) {
  if (const JsonNode* memory = reader.find("memory")) {
    buffer.memory = static_cast<Memory>(read_word(*memory, "\"memory\"", {"global", "constant"}));
    if (buffer.memory == Memory::Constant && (buffer.output || buffer.workspace || buffer.prepared)) {
      fail(memory->position, fmt::format("{} is written by kernels and cannot be constant memory", reader.what()));
    }
  }
  if (const JsonNode* align = reader.find("align")) {
    buffer.align_bytes = std::max(buffer.align_bytes, read_alignment(*align));
  }
}

void TemplateParser::read_scalars(const JsonNode& node) {
  for (const JsonNode::Member& member : node.object("\"scalars\"")) {
    const std::string what = fmt::format("the scalar '{}'", member.key);
    const ObjectReader reader(member.value, what, {"type", "value"});
    ScalarSpec scalar;
    scalar.name = member.key;
    scalar.type = read_type(reader.require("type", "give its element type"), "the type of " + what);
    const JsonNode& value = reader.require("value", "give the value that tuning passes");
    scalar.value = read_scalar_value(value, scalar);
    kernel_.scalars.push_back(std::move(scalar));
    names_.add(member.key, NameKind::Scalar, member.position);
  }
}

/// What is the same for every problem is tried on every type that it can have; the rest is when a problem is resolved.
Expression TemplateParser::read_scalar_value(const JsonNode& node, const ScalarSpec& scalar) const {
  const std::string what = fmt::format("the value of the scalar '{}'", scalar.name);
  Expression expression = node.is_string() ? read_expression(node, what, visibility::kScalar) : Expression::constant(node.value(what));
  if (!expression.variables().empty()) return expression;
  const Value value = expression.evaluate([](std::string_view) { return std::optional<Value>(); });
  for (const std::string& type : possible_types(kernel_, scalar.type)) {
    if (scalar_bits(value, element_type(type))) continue;
    fail(node.position, fmt::format("the value {} of the scalar '{}' is no {}", to_text(value), scalar.name, type));
  }
  return expression;
}

}  // namespace attune::spec
