#include "tuner/base/json_fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"

namespace attune::base {
namespace {

using nlohmann::json;

constexpr std::size_t kMostShownBytes = 60;

std::string whole_number_between(const std::string& low, const std::string& high) {
  return fmt::format("a whole number from {} to {}", low, high);
}

}  // namespace

std::string shown(const json& value) {
  if (value.is_object() || value.is_array()) return fmt::format("an {} of {}", value.type_name(), value.size());
  if (value.is_string() && value.get_ref<const std::string&>().size() > kMostShownBytes) {
    return fmt::format("a text of {} bytes", value.get_ref<const std::string&>().size());
  }
  return dump_json_replacing(value);
}

JsonFields::JsonFields(const json& object, std::string context, std::string prefix)
    : object_(object), context_(std::move(context)), prefix_(std::move(prefix)) {
  if (!object.is_object()) fail(fmt::format("must be an object, not {}", shown(object)));
}

void JsonFields::fail(const std::string& message) const { throw Error(context_ + message, ExitCode::Spec); }

void JsonFields::fail(const char* name, const std::string& expected, const json& value) const {
  fail(fmt::format("field '{}{}' must be {}, not {}", prefix_, name, expected, shown(value)));
}

bool JsonFields::has(const char* name) const { return object_.contains(name); }

const json& JsonFields::at(const char* name) const {
  const auto found = object_.find(name);
  if (found == object_.end()) fail(fmt::format("field '{}{}' is missing", prefix_, name));
  return *found;
}

std::string JsonFields::text(const char* name, std::size_t most_bytes) const {
  const json& value = at(name);
  if (!value.is_string()) fail(name, "a string", value);
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > most_bytes) fail(name, fmt::format("a string of at most {} bytes", most_bytes), value);
  return text;
}

bool JsonFields::flag(const char* name) const {
  const json& value = at(name);
  if (!value.is_boolean()) fail(name, "true or false", value);
  return value.get<bool>();
}

double JsonFields::number(const char* name, double low, double high) const {
  const json& value = at(name);
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  // NaN fits no range.
  if (!(number >= low && number <= high)) fail(name, fmt::format("a number from {} to {}", low, high), value);
  return number;
}

std::int64_t JsonFields::signed_integer(const char* name, std::int64_t low, std::int64_t high) const {
  const json& value = at(name);
  // What is above the greatest signed number is kept as an unsigned one, and would come out negative.
  const bool too_large = value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>());
  const bool fits = value.is_number_integer() && !too_large && value.get<std::int64_t>() >= low && value.get<std::int64_t>() <= high;
  if (!fits) fail(name, whole_number_between(fmt::to_string(low), fmt::to_string(high)), value);
  return value.get<std::int64_t>();
}

std::uint64_t JsonFields::unsigned_integer(const char* name, std::uint64_t low, std::uint64_t high) const {
  const json& value = at(name);
  const bool negative = value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() < 0;
  const bool fits = value.is_number_integer() && !negative && value.get<std::uint64_t>() >= low && value.get<std::uint64_t>() <= high;
  if (!fits) fail(name, whole_number_between(fmt::to_string(low), fmt::to_string(high)), value);
  return value.get<std::uint64_t>();
}

JsonFields JsonFields::object(const char* name) const {
  const json& value = at(name);
  if (!value.is_object()) fail(name, "an object", value);
  return {value, context_, prefix_ + name + "."};
}

const json& JsonFields::array(const char* name) const {
  const json& value = at(name);
  if (!value.is_array()) fail(name, "an array", value);
  return value;
}

std::vector<std::string> JsonFields::texts(const char* name) const {
  std::vector<std::string> all;
  for (const json& value : array(name)) {
    if (!value.is_string()) fail(name, "an array of strings", value);
    all.push_back(value.get<std::string>());
  }
  return all;
}

}  // namespace attune::base
