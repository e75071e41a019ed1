#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/value.hpp"

namespace attune::spec {

/// A vector of elements: what a template calls "f32x4" and CUDA C++ float4.
struct VectorType {
  ElementType element = ElementType::F32;
  int lanes = 1;
};

/// How many elements a vector may have.
inline constexpr std::array<int, 5> kVectorLanes{2, 3, 4, 8, 16};

/// A number of elements by its digits, "16"; nothing where no vector has so many.
[[nodiscard]] std::optional<int> find_vector_lanes(std::string_view digits);
/// The vector type that a template calls so.
[[nodiscard]] std::optional<VectorType> find_vector_type(std::string_view name);
[[nodiscard]] std::vector<std::string> vector_type_names();
/// What CUDA C++ asks of the address of such vectors: their size, up to 16 bytes. 0: no more than of one element, as of three.
[[nodiscard]] int align_bytes(const VectorType& vector);

}  // namespace attune::spec
