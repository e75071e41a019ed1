#pragma once
#include <string>
#include <vector>

#include "tuner/importing/cuda_tokens.hpp"

namespace attune::importing {

/// A declaration that stands in no function and no class, but perhaps in a namespace.
struct SourcePart {
  enum class Kind {
    Function,   ///< with its body
    Prototype,  ///< a function without one
    Class,
    Other,
  } kind = Kind::Other;
  std::string name;         ///< of a function or class; of an operator "operator"; empty: none shows
  bool for_device = false;  ///< __global__, __device__ or constexpr: device code may use it
  Tokens tokens;            ///< all of it, with the bracket or semicolon at its end
};

/// In the source's order. Requires: a source without comments.
[[nodiscard]] std::vector<SourcePart> source_parts(const std::string& code);

}  // namespace attune::importing
