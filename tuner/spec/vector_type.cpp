#include "tuner/spec/vector_type.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attune::spec {
namespace {

constexpr int kMostVectorAlignment = 16;  ///< of CUDA's vector types

}  // namespace

std::optional<int> find_vector_lanes(std::string_view digits) {
  for (const int lanes : kVectorLanes) {
    if (digits == std::to_string(lanes)) return lanes;
  }
  return std::nullopt;
}

std::optional<VectorType> find_vector_type(std::string_view name) {
  const std::size_t cross = name.rfind('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const auto element = find_element_type(name.substr(0, cross));
  const auto lanes = find_vector_lanes(name.substr(cross + 1));
  return element && lanes ? std::optional(VectorType{*element, *lanes}) : std::nullopt;
}

std::vector<std::string> vector_type_names() {
  std::vector<std::string> names;
  for (const std::string& element : element_type_names()) {
    for (const int lanes : kVectorLanes) names.push_back(fmt::format("{}x{}", element, lanes));
  }
  return names;
}

int align_bytes(const VectorType& vector) {
  return vector.lanes == 3 ? 0 : std::min(kMostVectorAlignment, vector.lanes * size_bytes(vector.element));
}

}  // namespace attune::spec
