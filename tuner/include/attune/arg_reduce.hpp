#pragma once
#include <array>
#include <cstdint>

#include "attune/one_size.hpp"
#include "attune/type_name.hpp"

namespace attune {

enum class ArgOp { Max, Min };

/// Typed front end of the `argreduce` template: T is an 8-, 32- or 64-bit integer, __half, __nv_bfloat16, float or
/// double. Runtime::arg_reduce makes it; copies are cheap and valid while the Runtime lives. docs/reduction.md says who
/// owns scratch, and what may run at the same time.
template <class T>
class ArgReduce : public detail::OneSize {
 public:
  explicit ArgReduce(Kernel kernel) : OneSize(kernel) {}
  /// The greatest or least of in[0..n) and the lowest index that has it: value[0] and index[0]. NaN is passed over, -0
  /// equals +0. Without an element (n = 0, or all NaN) index[0] is -1 and value[0] the operator's identity: -inf or the
  /// lowest T for Max, +inf or the highest for Min.
  /// Shapes:   device addresses; `in` and `value` aligned to T, `index` to 8 bytes.
  /// Requires, Throws: as Kernel::launch.
  void operator()(const T* in, std::int64_t n, T* value, std::int64_t* index, Stream stream) const {
    launch(n, arguments(in, value, index), stream);
  }
  /// What a Plan of plan(n) is launched with.
  [[nodiscard]] static std::array<Argument, 3> arguments(const T* in, T* value, std::int64_t* index) {
    return {Argument::pointer(in), Argument::pointer(value), Argument::pointer(index)};
  }
};

}  // namespace attune
