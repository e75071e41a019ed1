#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "attune/accumulator.hpp"
#include "attune/kernel.hpp"
#include "attune/reduction.hpp"

namespace attune {

/// Typed front end of the `segmented_reduce` template, each row of a row-major matrix to one value: T is an 8-, 32- or
/// 64-bit integer, __half, __nv_bfloat16, float or double. Runtime::segmented_reduce makes it; copies are cheap and valid
/// while the Runtime lives. docs/reduction.md says who owns scratch, and what may run at the same time.
template <class T>
class SegmentedReduce {
 public:
  explicit SegmentedReduce(Kernel kernel) : kernel_(kernel) {}
  /// i32 for i8, u32 for u8, f32 for f16 and bf16, else T; integers modulo 2^32 or 2^64.
  using Result = typename detail::Accumulator<T>::Type;
  /// out[r] = op over in[r * columns .. (r + 1) * columns). Minimum and maximum pass over NaN; without an element, or all
  /// NaN, out[r] is the operator's identity: 0, 1, +inf or the highest T for Min, -inf or the lowest T for Max.
  /// Shapes:   rows and columns from 0 up; device addresses, aligned to their elements.
  /// Requires, Throws: as Kernel::launch.
  void operator()(const T* in, std::int64_t rows, std::int64_t columns, Result* out, Stream stream) const {
    kernel_.launch({rows, columns}, {Argument::pointer(in), Argument::pointer(out)}, stream);
  }
  /// What a Plan of plan(rows, columns) is launched with.
  [[nodiscard]] static std::array<Argument, 2> arguments(const T* in, Result* out) {
    return {Argument::pointer(in), Argument::pointer(out)};
  }
  /// For every shape tuned on this device, and for one shape.
  void prepare() const { kernel_.prepare(); }
  void prepare(std::int64_t rows, std::int64_t columns) const { kernel_.prepare({rows, columns}); }
  /// A fixed choice for a shape, to be launched with arguments() and a workspace of the caller's, also under capture.
  [[nodiscard]] Plan plan(std::int64_t rows, std::int64_t columns) const { return kernel_.plan({rows, columns}); }
  [[nodiscard]] Decision explain(std::int64_t rows, std::int64_t columns) const { return kernel_.explain({rows, columns}); }
  [[nodiscard]] Decision explain_on(const std::string& device, std::int64_t rows, std::int64_t columns) const {
    return kernel_.explain_on(device, {rows, columns});
  }
  [[nodiscard]] const Kernel& kernel() const { return kernel_; }

 private:
  Kernel kernel_;
};

}  // namespace attune
