#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/spec/expression.hpp"

namespace attune::spec {

/// "ns::gemm<T, 64>" cut at its brackets.
struct KernelNameParts {
  std::string function;             ///< "ns::gemm"
  std::optional<std::string> list;  ///< "T, 64", as it is written; nothing: there are no brackets
  std::size_t list_offset = 0;      ///< bytes in front of the list
};

/// Cuts the name of a kernel as a file states it. What may stand in the list its reader says: files of other tuners hold other arguments
/// than attune's. `example` is a whole name, which a message shows.
/// Throws: SpecError at `position` where the function is not made of identifiers with "::" between them, or nothing closes the list.
[[nodiscard]] KernelNameParts cut_kernel_name(const std::string& text, const SourcePosition& position, std::string_view example);

}  // namespace attune::spec
