#include "tuner/importing/element_layout.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/vector_type.hpp"

namespace attune::importing {
namespace {

using spec::ElementType;

/// "float4" is four of float.
std::optional<ElementLayout> vector_layout(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == name.size()) return std::nullopt;
  const auto element = spec::find_type_called(name.substr(0, digits));
  const auto lanes = spec::find_vector_lanes(name.substr(digits));
  if (!element || !lanes) return std::nullopt;
  return ElementLayout{*element, *lanes, spec::align_bytes({*element, *lanes})};
}

const ElementLayout kBoolLayout{ElementType::U8, 1, 0, 0,
                                "attune has no bool: bytes, which small numbers other than 0 fill where nothing else does"};

std::vector<std::string> names_of_types() {
  std::vector<std::string> names = spec::words_for_types();
  names.insert(names.end(), {"bool", "custom"});
  for (const char* const element : {"half", "float", "double", "int", "uint", "char", "uchar", "short", "ushort"}) {
    for (const int lanes : spec::kVectorLanes) names.push_back(element + std::to_string(lanes));
  }
  return names;
}

}  // namespace

std::optional<ElementLayout> find_element_layout(const std::string& name) {
  if (name == "bool") return kBoolLayout;
  if (const auto plain = spec::find_type_called(name)) return ElementLayout{*plain};
  return vector_layout(name);
}

ElementLayout element_layout(const std::string& name, std::optional<std::int64_t> bytes, const spec::SourcePosition& position) {
  if (name == "bool" || name == "bool_") return kBoolLayout;
  if (name == "custom") {
    constexpr std::int64_t kMostBytes = 1 << 20;
    if (!bytes || *bytes < 1 || *bytes > kMostBytes)
      spec::fail(position, fmt::format("the type \"custom\" needs a \"TypeSize\" of 1 to {} bytes", kMostBytes));
    return {ElementType::U8, static_cast<int>(*bytes), 16, 0, fmt::format("a type of the kernel's own, of {} bytes: bytes", *bytes)};
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
