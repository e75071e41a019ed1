#pragma once
#include <optional>
#include <string>

#include "tuner/spec/json_document.hpp"
#include "tuner/spec/value.hpp"

namespace attune::importing {

/// What an argument's type is in memory: so many of an element type that attune knows, one behind the other.
struct ElementLayout {
  spec::ElementType type = spec::ElementType::F32;
  int lanes = 1;            ///< of float4: 4
  int align_bytes = 0;      ///< what CUDA asks for; 0: the element's own
  int struct_bytes = 0;     ///< of a struct of the source's own; 0: it is none. Its type and lanes say nothing
  std::string remark = {};  ///< what is not quite the same; empty: nothing
};

/// The types of T1 ("float", "int32", "half2", "bool"), of CUDA ("unsigned int", "float4", "__half") and of numpy ("float32"). `bytes`:
/// what the file says that one of them takes; it tells numpy's float16 from OpenCL's, which is 16 floats. Throws: SpecError at `position`
/// naming the closest type.
[[nodiscard]] ElementLayout element_layout(const std::string& name, std::optional<std::int64_t> bytes,
                                           const spec::SourcePosition& position);

/// What element_layout says of a type that CUDA C++ has; nothing where there is none of that name.
[[nodiscard]] std::optional<ElementLayout> find_element_layout(const std::string& name);

}  // namespace attune::importing
