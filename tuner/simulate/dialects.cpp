#include "tuner/simulate/dialects.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_fields.hpp"

namespace attune::simulate {
namespace {

using nlohmann::json;

constexpr double kFailedFrom = 1e19;
constexpr std::string_view kBlank = " \t\r\n";

/// Reads through a text without judging it: which brackets are open at its end, and the last text in the outermost of them.
class Outline {
 public:
  /// Takes the text from `at` on up to the next place that tells something, and returns the place behind.
  std::size_t take(const std::string& text, std::size_t at) {
    const char c = text[at];
    if (c == '"') return take_text(text, at);
    if (c == '{' || c == '[') open_ += c;
    if ((c == '}' || c == ']') && !open_.empty()) open_.pop_back();
    return at + 1;
  }
  /// What is open, outermost first: "{{". Nothing where the text ends within a text.
  [[nodiscard]] std::optional<std::string> open() const { return within_text_ ? std::nullopt : std::optional(open_); }
  [[nodiscard]] const std::string& last_outer_text() const { return last_outer_text_; }

 private:
  std::size_t take_text(const std::string& text, std::size_t begin) {
    std::size_t at = begin + 1;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    within_text_ = at >= text.size();
    if (open_.size() == 1 && !within_text_) last_outer_text_ = text.substr(begin + 1, at - begin - 1);
    return within_text_ ? text.size() : at + 1;
  }

  std::string open_;
  std::string last_outer_text_;
  bool within_text_ = false;
};

/// The length of a number at `at` that only Python knows; 0: there is none.
std::size_t python_number(const std::string& text, std::size_t at) {
  if (text[at] != 'N' && text[at] != 'I' && text[at] != '-') return 0;
  for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
    if (text.compare(at, word.size(), word) == 0) return word.size();
  return 0;
}

}  // namespace

RecordedCost recorded_cost(const json& value) {
  if (value.is_number()) {
    const double cost = value.get<double>();
    if (cost > 0 && cost < kFailedFrom) return {cost, ""};
    return {std::nullopt, fmt::format("{} is no time", base::dump_json(value))};
  }
  const json* why = &value;
  if (value.is_object()) {
    const auto error = value.find("__error__");
    if (error != value.end()) why = &*error;
  }
  if (why->is_string() && !why->get<std::string>().empty()) return {std::nullopt, why->get<std::string>()};
  return {std::nullopt, "there is no time"};
}

RecordedFacts exported_facts(const std::function<const json*(const char*)>& find) {
  const auto text = [&](const char* name) {
    const json* const value = find(name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
  };
  const auto number = [&](const char* name) {
    const json* const value = find(name);
    const double read = value != nullptr && value->is_number() ? value->get<double>() : 0;
    return read > 0 && read < kFailedFrom ? read : 0;
  };
  constexpr double kMostSamples = 1e9;
  RecordedFacts facts;
  facts.outcome = text("attune_outcome");
  facts.detail = text("attune_detail");
  facts.low_ms = number("attune_low_ms");
  facts.high_ms = number("attune_high_ms");
  facts.min_ms = number("attune_min_ms");
  facts.samples = static_cast<std::int64_t>(std::min(kMostSamples, number("attune_samples")));
  return facts;
}

void read_about(const json& holder, RecordedEntries& found) {
  if (!holder.is_object() || !holder.contains("attune")) return;
  const json& about = holder["attune"];
  found.template_name = base::member_or(about, "template", "");
  found.policy = base::member_or(about, "policy", "");
  if (about.is_object() && about.contains("problem")) found.problem = base::dump_json_replacing(about["problem"]);
  if (found.device_name.empty()) found.device_name = base::member_or(about, "device", "");
}

spec::Value recorded_value(const json& value, const std::string& parameter) {
  if (!value.is_number() && !value.is_string() && !value.is_boolean()) {
    throw Error(fmt::format("parameter '{}' must be a number, a text or a bool, not {}", parameter, base::shown(value)));
  }
  return spec::value_from_json(value);
}

void check_names(const std::vector<std::string>& names) {
  if (names.empty()) throw Error("it has no parameters");
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second) throw Error(fmt::format("parameter '{}' is there twice", name));
}

std::string completed_json(std::string text) {
  Outline outline;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = python_number(text, at); length > 0) {
      text.replace(at, length, "\"\"" + std::string(length - 2, ' '));
      at += length;
    } else {
      at = outline.take(text, at);
    }
  }
  const auto open = outline.open();
  if (!open || (*open != "{{" && *open != "{") || outline.last_outer_text() != "cache") return text;
  std::size_t last = text.find_last_not_of(kBlank);
  if (text[last] == ',') last = text.find_last_not_of(kBlank, last - 1);
  if (text[last] != '}' && text[last] != '{') return text;
  return text.substr(0, last + 1) + std::string(open->size(), '}');
}

}  // namespace attune::simulate
