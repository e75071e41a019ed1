// The reference of a template: launches of a plain kernel, or a built-in, and what a built-in needs of the template.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/template_parser.hpp"

namespace attune::spec {
namespace {

constexpr const char* kCustom = "custom";

/// What "reduce" knows beside the operator, by axis. The axes are optional.
struct ReducedAxis {
  const char* axis;
  std::vector<std::string> words;
};

const std::vector<ReducedAxis>& reduced_axes() {
  static const std::vector<ReducedAxis> axes = {
      {"transform", {"identity", "absolute", "square", "shifted_square", "times", kCustom}},
      {"finish", {"none", "mean", "root", "scale_bias"}},
      {"accumulate", {"fixed_order", "compensated", "fixed_point"}}};
  return axes;
}

/// What a value of an axis is computed with.
struct NeededScalar {
  const char* axis;
  const char* word;
  const char* scalar;
};

constexpr NeededScalar kNeededScalars[] = {{"transform", "shifted_square", "shift"},
                                           {"finish", "scale_bias", "scale"},
                                           {"finish", "scale_bias", "bias"},
                                           {"accumulate", "fixed_point", "resolution"}};

bool offers(const ProblemAxis* axis, const std::string& word) {
  return axis != nullptr && std::find(axis->values.begin(), axis->values.end(), word) != axis->values.end();
}

/// A choice among these words only.
bool chooses_among(const ProblemAxis& axis, const std::vector<std::string>& words) {
  return axis.kind == AxisKind::Choice && std::all_of(axis.values.begin(), axis.values.end(), [&](const std::string& value) {
           return std::find(words.begin(), words.end(), value) != words.end();
         });
}

}  // namespace

void TemplateParser::read_reference(const JsonNode& node) {
  if (node.is_string()) {
    static_cast<void>(read_word(node, "\"reference\"", {"none"}));
    return;
  }
  const ObjectReader reader(node, "\"reference\"", {"builtin", "launches", "tolerance"});
  const JsonNode* builtin = reader.find("builtin");
  const JsonNode* launches = reader.find("launches");
  if (builtin == nullptr && launches == nullptr) {
    fail(node.position, R"("reference" must be {"builtin": ...}, {"launches": [...]} or "none")");
  }
  const JsonNode* tolerance = reader.find("tolerance");
  if (launches != nullptr) kernel_.reference.steps = read_steps(*launches, "launches");
  if (builtin != nullptr) {
    if (tolerance != nullptr)
      fail(tolerance->position, "a built-in reference derives its own tolerance; remove this one");
    kernel_.reference.kind = ReferenceSpec::Kind::Builtin;
    kernel_.reference.builtin = builtin->string("the built-in reference");
    static_cast<void>(
        read_word(*builtin, "the built-in reference", {"reduce", "segmented_reduce", "arg_reduce", "histogram"}));
    check_builtin(*builtin);
    return check_custom(*builtin, launches);
  }
  kernel_.reference.kind = ReferenceSpec::Kind::Kernel;
  if (tolerance != nullptr) {
    kernel_.reference.relative_tolerance = tolerance->number("\"tolerance\"");
    if (!(kernel_.reference.relative_tolerance > 0)) fail(tolerance->position, "\"tolerance\" must be above 0");
  }
}

void TemplateParser::check_custom(const JsonNode& builtin, const JsonNode* launches) const {
  const bool custom = kernel_.reference.builtin == "reduce" &&
                      (offers(kernel_.axis("op"), kCustom) || offers(kernel_.axis("transform"), kCustom));
  if (custom && launches == nullptr) {
    fail(builtin.position,
         "the built-in reference 'reduce' cannot compute what 'op' or 'transform' leave \"custom\"; add \"launches\" of a "
         "plain kernel for those problems");
  }
  if (!custom && launches != nullptr) {
    fail(launches->position, fmt::format("the built-in reference '{}' computes every problem of this template; remove its launches",
                                         kernel_.reference.builtin));
  }
}

void TemplateParser::check_builtin(const JsonNode& node) const {
  const std::string& builtin = kernel_.reference.builtin;
  if (builtin == "histogram") return check_histogram(node);
  const bool arg = builtin == "arg_reduce";
  const bool by_rows = builtin == "segmented_reduce";
  const ProblemAxis* type = kernel_.axis("T");
  const ProblemAxis* op = kernel_.axis("op");
  std::vector<std::string> operators = {"min", "max"};
  if (!arg) operators.insert(operators.end(), {"sum", "product"});
  if (!arg && !by_rows) operators.insert(operators.end(), {"and", "or", "xor", kCustom});
  if (type == nullptr || type->kind != AxisKind::Type || op == nullptr || !chooses_among(*op, operators)) {
    fail(node.position, fmt::format("the built-in reference '{}' needs the type 'T' and the choice 'op' among {} in \"problem\"",
                                    builtin,
                                    arg       ? "min and max"
                                    : by_rows ? "sum, product, min and max"
                                              : "sum, product, min, max, and, or, xor and custom"));
  }
  if (by_rows && kernel_.size_names() != std::vector<std::string>{"rows", "columns"}) {
    fail(node.position, "the built-in reference 'segmented_reduce' needs the sizes 'rows' and 'columns', in this order");
  }
  const bool reduce = !arg && !by_rows;
  if (reduce) check_reduce_axes(node);
  const bool second = reduce && offers(kernel_.axis("transform"), "times");
  const auto inputs =
      std::count_if(kernel_.buffers.begin(), kernel_.buffers.end(), [](const BufferSpec& b) { return b.input; });
  std::vector<std::string> outputs;
  for (const BufferSpec& buffer : kernel_.buffers)
    if (buffer.output) outputs.push_back(buffer.type);
  if (!arg && (inputs != (second ? 2 : 1) || outputs.size() != 1)) {
    fail(node.position, fmt::format("the built-in reference '{}' needs {} and one output buffer, not {} and {}", builtin,
                                    second ? "two inputs for the transform 'times'" : "one input", inputs, outputs.size()));
  }
  if (arg && (inputs != 1 || outputs != std::vector<std::string>{"T", "i64"})) {
    fail(node.position,
         fmt::format("the built-in reference 'arg_reduce' needs one input, not {}, and two outputs: the value, of type T, "
                     "and the index, of type i64; they are of type {}",
                     inputs, joined(outputs)));
  }
}

void TemplateParser::check_reduce_axes(const JsonNode& node) const {
  for (const ReducedAxis& known : reduced_axes()) {
    const ProblemAxis* axis = kernel_.axis(known.axis);
    if (axis == nullptr || chooses_among(*axis, known.words)) continue;
    fail(node.position, fmt::format("the built-in reference 'reduce' needs '{}' to be a choice among {}, or another name for it",
                                    known.axis, joined(known.words)));
  }
  for (const NeededScalar& needed : kNeededScalars) {
    if (!offers(kernel_.axis(needed.axis), needed.word)) continue;
    const bool there = std::any_of(kernel_.scalars.begin(), kernel_.scalars.end(),
                                   [&](const ScalarSpec& scalar) { return scalar.name == needed.scalar; });
    if (there) continue;
    fail(node.position, fmt::format("the built-in reference 'reduce' computes the {} '{}' with the scalar '{}'; add it to \"scalars\"",
                                    needed.axis, needed.word, needed.scalar));
  }
}

}  // namespace attune::spec
