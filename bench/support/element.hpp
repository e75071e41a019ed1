#pragma once
#include <cstddef>

namespace attune::bench {

enum class Element { F32, F64, F16, Bf16, I32, I8 };

[[nodiscard]] constexpr std::size_t size_bytes(Element element) {
  switch (element) {
    case Element::F64:
      return 8;
    case Element::F16:
    case Element::Bf16:
      return 2;
    case Element::I8:
      return 1;
    default:
      return 4;
  }
}

[[nodiscard]] constexpr bool is_integer(Element element) { return element == Element::I32 || element == Element::I8; }

}  // namespace attune::bench
