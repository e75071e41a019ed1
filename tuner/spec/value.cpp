#include "tuner/spec/value.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"

namespace attune::spec {
namespace {

struct TypeRow {
  ElementType type;
  const char* name;
  const char* cuda_name;
  int size_bytes;
};

/// In the order of ElementType. The CUDA names need no header: NVRTC knows no int8_t.
constexpr std::array<TypeRow, 12> kTypes{{
    {ElementType::I8, "i8", "signed char", 1},
    {ElementType::U8, "u8", "unsigned char", 1},
    {ElementType::I16, "i16", "short", 2},
    {ElementType::U16, "u16", "unsigned short", 2},
    {ElementType::I32, "i32", "int", 4},
    {ElementType::U32, "u32", "unsigned int", 4},
    {ElementType::I64, "i64", "long long", 8},
    {ElementType::U64, "u64", "unsigned long long", 8},
    {ElementType::F16, "f16", "__half", 2},
    {ElementType::BF16, "bf16", "__nv_bfloat16", 2},
    {ElementType::F32, "f32", "float", 4},
    {ElementType::F64, "f64", "double", 8},
}};

const TypeRow& row(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::string float_text(double value) {
  // nlohmann writes the shortest digits that read back the same, with ".0" where needed: keys and macros then agree.
  return std::isfinite(value) ? base::dump_json(nlohmann::json(value)) : fmt::format("{}", value);
}

/// bool, integer or float as the widest type that holds each exactly.
long double number(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? 1.0L : 0.0L;
  if (const std::int64_t* i = std::get_if<std::int64_t>(&value)) return static_cast<long double>(*i);
  return static_cast<long double>(std::get<double>(value));
}

}  // namespace

std::string to_text(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const std::int64_t* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const double* d = std::get_if<double>(&value)) return float_text(*d);
  return std::get<std::string>(value);
}

bool equal(const Value& a, const Value& b) {
  const std::string* left = std::get_if<std::string>(&a);
  const std::string* right = std::get_if<std::string>(&b);
  if (left != nullptr || right != nullptr) return left != nullptr && right != nullptr && *left == *right;
  return number(a) == number(b);
}

bool DistinctValues::add(const Value& value) {
  if (const std::string* text = std::get_if<std::string>(&value)) return texts_.insert(*text).second;
  const long double held = number(value);
  return std::isnan(held) || numbers_.insert(held).second;  // NaN equals nothing, and has no place in an order
}

nlohmann::json to_json(const Value& value) {
  return std::visit([](const auto& held) { return nlohmann::json(held); }, value);
}

Value value_from_json(const nlohmann::json& json) {
  switch (json.type()) {
    case nlohmann::json::value_t::boolean:
      return json.get<bool>();
    case nlohmann::json::value_t::number_integer:
      return json.get<std::int64_t>();
    case nlohmann::json::value_t::number_unsigned: {
      const auto value = json.get<std::uint64_t>();
      if (value > static_cast<std::uint64_t>(INT64_MAX)) {
        throw Error(fmt::format("failed reading the value {}: it exceeds 64-bit signed integers", value), ExitCode::Spec);
      }
      return static_cast<std::int64_t>(value);
    }
    case nlohmann::json::value_t::number_float:
      return json.get<double>();
    case nlohmann::json::value_t::string:
      return json.get<std::string>();
    default:
      throw Error(fmt::format("failed reading a value: a number, a boolean or a string is needed, not {}", json.type_name()),
                  ExitCode::Spec);
  }
}

const char* name(ElementType type) { return row(type).name; }
const char* cuda_name(ElementType type) { return row(type).cuda_name; }
int size_bytes(ElementType type) { return row(type).size_bytes; }

std::optional<ElementType> find_element_type(std::string_view name) {
  for (const TypeRow& candidate : kTypes) {
    if (name == candidate.name) return candidate.type;
  }
  return std::nullopt;
}

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  for (const TypeRow& candidate : kTypes) names.emplace_back(candidate.name);
  return names;
}

ElementType element_type(const std::string& name) {
  if (const auto found = find_element_type(name)) return *found;
  throw Error(fmt::format("unknown element type '{}'; known: {}", name, fmt::join(element_type_names(), ", ")), ExitCode::Spec);
}

}  // namespace attune::spec
