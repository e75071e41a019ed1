#include "tuner/importing/element_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

using spec::ElementType;

constexpr std::array<std::pair<std::string_view, ElementType>, 53> kElementNames{{
    {"int8", ElementType::I8},
    {"int8_t", ElementType::I8},
    {"char", ElementType::I8},
    {"signed char", ElementType::I8},
    {"uint8", ElementType::U8},
    {"uint8_t", ElementType::U8},
    {"uchar", ElementType::U8},
    {"unsigned char", ElementType::U8},
    {"byte", ElementType::U8},
    {"int16", ElementType::I16},
    {"int16_t", ElementType::I16},
    {"short", ElementType::I16},
    {"uint16", ElementType::U16},
    {"uint16_t", ElementType::U16},
    {"ushort", ElementType::U16},
    {"unsigned short", ElementType::U16},
    {"int32", ElementType::I32},
    {"int32_t", ElementType::I32},
    {"int", ElementType::I32},
    {"uint32", ElementType::U32},
    {"uint32_t", ElementType::U32},
    {"uint", ElementType::U32},
    {"unsigned", ElementType::U32},
    {"unsigned int", ElementType::U32},
    {"int64", ElementType::I64},
    {"int64_t", ElementType::I64},
    {"long", ElementType::I64},
    {"long long", ElementType::I64},
    {"longlong", ElementType::I64},
    {"uint64", ElementType::U64},
    {"uint64_t", ElementType::U64},
    {"ulong", ElementType::U64},
    {"size_t", ElementType::U64},
    {"unsigned long", ElementType::U64},
    {"unsigned long long", ElementType::U64},
    {"ulonglong", ElementType::U64},
    {"half", ElementType::F16},
    {"__half", ElementType::F16},
    {"bfloat16", ElementType::BF16},
    {"__nv_bfloat16", ElementType::BF16},
    {"nv_bfloat16", ElementType::BF16},
    {"float", ElementType::F32},
    {"float32", ElementType::F32},
    {"single", ElementType::F32},
    {"double", ElementType::F64},
    {"float64", ElementType::F64},
    {"i32", ElementType::I32},
    {"u32", ElementType::U32},
    {"i64", ElementType::I64},
    {"u64", ElementType::U64},
    {"f16", ElementType::F16},
    {"f32", ElementType::F32},
    {"f64", ElementType::F64},
}};

std::optional<ElementType> known_element(std::string_view name) {
  const auto found = std::find_if(kElementNames.begin(), kElementNames.end(), [&](const auto& one) { return one.first == name; });
  return found == kElementNames.end() ? std::nullopt : std::optional(found->second);
}

/// "float4" is four of float. A vector of two or four begins at a multiple of its size, up to 16; one of three at its element's.
std::optional<ElementLayout> vector_layout(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == name.size()) return std::nullopt;
  const std::string_view lanes = name.substr(digits);
  const auto element = known_element(name.substr(0, digits));
  static constexpr std::array<std::pair<std::string_view, int>, 5> kLanes{{{"2", 2}, {"3", 3}, {"4", 4}, {"8", 8}, {"16", 16}}};
  const auto found = std::find_if(kLanes.begin(), kLanes.end(), [&](const auto& one) { return one.first == lanes; });
  if (!element || found == kLanes.end()) return std::nullopt;
  const int count = found->second;
  return ElementLayout{*element, count, count == 3 ? 0 : std::min(16, count * spec::size_bytes(*element))};
}

const ElementLayout kBoolLayout{ElementType::U8, 1, 0, "attune has no bool: bytes, and tuning fills in small numbers that are not 0"};

std::vector<std::string> names_of_types() {
  std::vector<std::string> names = {"bool", "custom"};
  for (const auto& [name, type] : kElementNames) names.emplace_back(name);
  for (const char* const element : {"half", "float", "double", "int", "uint", "char", "uchar", "short", "ushort"}) {
    for (const char* const lanes : {"2", "3", "4"}) names.push_back(std::string(element) + lanes);
  }
  return names;
}

}  // namespace

std::optional<ElementLayout> find_element_layout(const std::string& name) {
  if (name == "bool") return kBoolLayout;
  if (const auto plain = known_element(name)) return ElementLayout{*plain};
  return vector_layout(name);
}

std::optional<spec::ElementType> exact_element(const std::string& name) {
  static constexpr std::array<std::string_view, 22> kExact{
      "float",    "double",       "half",           "__half",      "nv_bfloat16",   "__nv_bfloat16", "int",
      "unsigned", "unsigned int", "short",          "int8_t",      "uint8_t",       "int16_t",       "uint16_t",
      "int32_t",  "uint32_t",     "unsigned short", "signed char", "unsigned char", "long long",     "unsigned long long",
      "uint"};
  const bool exact = std::find(kExact.begin(), kExact.end(), name) != kExact.end();
  return exact ? known_element(name) : std::nullopt;
}

ElementLayout element_layout(const std::string& name, std::optional<std::int64_t> bytes, const spec::SourcePosition& position) {
  if (name == "bool" || name == "bool_") return kBoolLayout;
  if (name == "custom") {
    constexpr std::int64_t kMostBytes = 1 << 20;
    if (!bytes || *bytes < 1 || *bytes > kMostBytes)
      spec::fail(position, fmt::format("the type \"custom\" needs a \"TypeSize\" of 1 to {} bytes", kMostBytes));
    return {ElementType::U8, static_cast<int>(*bytes), 16, fmt::format("a type of the kernel's own, of {} bytes: bytes", *bytes)};
  }
  if (name == "float16" && bytes == 2) return {ElementType::F16};
  if (const auto found = find_element_layout(name)) return *found;
  const std::string near = spec::suggestion(name, names_of_types());
  spec::fail(position,
             fmt::format("unknown type '{}'{}; types are bool, int8 to int64, uint8 to uint64, half, bfloat16, float, double, vectors "
                         "of these such as float4, and custom with a \"TypeSize\"",
                         name, near));
}

}  // namespace attune::importing
