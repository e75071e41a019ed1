// What the built-in reference "histogram" needs of a template.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/template_parser.hpp"

namespace attune::spec {
namespace {

using Words = std::vector<std::string>;

constexpr std::int64_t kMostBins = std::int64_t{1} << 24;  ///< more are no f32 numbers, which bins of f32 are computed in

struct CountedAxis {
  const char* axis;
  AxisKind kind;
  enum { Required, Optional } presence;
  Words words;
};

const std::vector<CountedAxis>& counted_axes() {
  static const std::vector<CountedAxis> axes = {
      {"T", AxisKind::Type, CountedAxis::Required, {"i8", "u8", "i16", "u16", "i32", "u32", "f32"}},
      {"Counter", AxisKind::Type, CountedAxis::Required, {"u32", "u64", "f32"}},
      {"mapping", AxisKind::Choice, CountedAxis::Required, {"unit", "shift", "scaled", "edges"}},
      {"channels", AxisKind::Choice, CountedAxis::Optional, {"1", "2", "3", "4"}},
      {"active", AxisKind::Choice, CountedAxis::Optional, {"all", "1", "2", "3"}},
      {"skew", AxisKind::Choice, CountedAxis::Optional, {"unknown", "uniform", "zipf", "hot", "constant", "sorted"}}};
  return axes;
}

bool offers(const ProblemAxis& axis, const std::string& word) {
  return std::find(axis.values.begin(), axis.values.end(), word) != axis.values.end();
}

bool among(const Words& values, const Words& words) {
  return std::all_of(values.begin(), values.end(), [&](const std::string& value) {
    return std::find(words.begin(), words.end(), value) != words.end();
  });
}

void check_axes(const KernelTemplate& kernel, const JsonNode& node) {
  for (const CountedAxis& known : counted_axes()) {
    const ProblemAxis* axis = kernel.axis(known.axis);
    if (axis == nullptr && known.presence == CountedAxis::Optional) continue;
    if (axis != nullptr && axis->kind == known.kind && among(axis->values, known.words)) continue;
    fail(node.position, fmt::format("the built-in reference 'histogram' needs the {} '{}' among {} in \"problem\"{}",
                                    known.kind == AxisKind::Type ? "type" : "choice", known.axis, joined(known.words),
                                    known.presence == CountedAxis::Optional ? ", or another name for it" : ""));
  }
  if (kernel.size_names() != Words{"n", "bins"}) {
    fail(node.position, "the built-in reference 'histogram' needs the sizes 'n' and 'bins', in this order");
  }
  if (const ProblemAxis& bins = *kernel.axis("bins"); bins.min < 1 || bins.max > kMostBins) {
    fail(node.position, fmt::format("the built-in reference 'histogram' counts in 1 to {} bins; give the size 'bins' a \"min\" "
                                    "and a \"max\" within these, not {} and {}", kMostBins, bins.min, bins.max));
  }
}

void check_scalars(const KernelTemplate& kernel, const JsonNode& node) {
  for (const char* name : {"lower", "upper"}) {
    const bool there = std::any_of(kernel.scalars.begin(), kernel.scalars.end(),
                                   [&](const ScalarSpec& scalar) { return scalar.name == name; });
    if (there) continue;
    fail(node.position, fmt::format("the built-in reference 'histogram' counts between the scalars 'lower' and 'upper'; add '{}' "
                                    "to \"scalars\"", name));
  }
}

/// "samples of type T, edges of type T": what the buffers of one role are, in order.
std::string listed(const std::vector<std::pair<std::string, std::string>>& buffers) {
  Words texts;
  for (const auto& [name, type] : buffers) texts.push_back(fmt::format("{} of type {}", name, type));
  return texts.empty() ? "none" : joined(texts);
}

Words types_of(const std::vector<std::pair<std::string, std::string>>& buffers) {
  Words types;
  for (const auto& buffer : buffers) types.push_back(buffer.second);
  return types;
}

}  // namespace

void TemplateParser::check_histogram(const JsonNode& node) const {
  check_axes(kernel_, node);
  check_scalars(kernel_, node);
  std::vector<std::pair<std::string, std::string>> wanted = {{"samples", "T"}}, inputs, outputs;
  if (offers(*kernel_.axis("mapping"), "edges")) wanted.emplace_back("edges", "T");
  if (offers(*kernel_.axis("Counter"), "f32")) wanted.emplace_back("weights", "f32");
  for (const BufferSpec& buffer : kernel_.buffers) {
    if (buffer.input) inputs.emplace_back(buffer.name, buffer.type);
    if (buffer.output) outputs.emplace_back(buffer.name, buffer.type);
  }
  if (types_of(inputs) != types_of(wanted)) {
    fail(node.position, fmt::format("the built-in reference 'histogram' needs the inputs {}, in this order, not {}", listed(wanted),
                                    listed(inputs)));
  }
  if (types_of(outputs) != Words{"Counter"}) {
    fail(node.position, fmt::format("the built-in reference 'histogram' needs one output, the counts of type Counter, not {}",
                                    listed(outputs)));
  }
}

}  // namespace attune::spec
