#pragma once
#include <cstdint>
#include <string>

#include "attune/kernel.hpp"
#include "attune/reduce.hpp"

namespace attune {

namespace detail {
/// What sums, products, minima and maxima of T are computed in and stored as.
template <class T>
struct Accumulator {
  using Type = T;
};
template <>
struct Accumulator<std::int8_t> {
  using Type = std::int32_t;
};
template <>
struct Accumulator<std::uint8_t> {
  using Type = std::uint32_t;
};
template <>
struct Accumulator<__half> {
  using Type = float;
};
template <>
struct Accumulator<__nv_bfloat16> {
  using Type = float;
};
}  // namespace detail

/// Typed front end of the `segmented_reduce` template: each row of a row-major matrix to one value.
template <class T>
class SegmentedReduce {
 public:
  explicit SegmentedReduce(Kernel kernel) : kernel_(kernel) {}
  /// i32 for i8, u32 for u8, f32 for f16 and bf16, else T; integers modulo 2^32 or 2^64.
  using Result = typename detail::Accumulator<T>::Type;
  /// out[r] = op over in[r * columns .. (r + 1) * columns); minimum and maximum pass over NaN.
  /// Shapes: any rows and columns from 0 up; no columns write the operator's identity for each row. Device addresses,
  ///         aligned to their elements.
  void operator()(const T* in, std::int64_t rows, std::int64_t columns, Result* out, Stream stream) const {
    kernel_.launch({rows, columns}, {Argument::pointer(in), Argument::pointer(out)}, stream);
  }
  void prepare() const { kernel_.prepare(); }
  void prepare(std::int64_t rows, std::int64_t columns) const { kernel_.prepare({rows, columns}); }
  [[nodiscard]] Plan plan(std::int64_t rows, std::int64_t columns) const { return kernel_.plan({rows, columns}); }
  [[nodiscard]] Decision explain(std::int64_t rows, std::int64_t columns) const {
    return kernel_.explain({rows, columns});
  }
  [[nodiscard]] Decision explain_on(const std::string& device, std::int64_t rows, std::int64_t columns) const {
    return kernel_.explain_on(device, {rows, columns});
  }
  [[nodiscard]] const Kernel& kernel() const { return kernel_; }

 private:
  Kernel kernel_;
};

}  // namespace attune
