#pragma once
#include <array>
#include <cstdint>

#include "attune/accumulator.hpp"
#include "attune/one_size.hpp"
#include "attune/reduction.hpp"

namespace attune {

/// Typed front end of the template `reduce`, n elements to one value: T is an 8-, 32- or 64-bit integer, __half,
/// __nv_bfloat16, float or double. Runtime::reduce, mean and norm2 make it; copies are cheap and valid while the Runtime
/// lives. docs/reduction.md has what a result is for every operator and type; ReproducibleReduce gives the same bits
/// wherever the input lies and whatever was tuned.
template <class T>
class Reduce : public detail::OneSize {
 public:
  using OneSize::OneSize;
  /// What is accumulated and put out: i32 for i8, u32 for u8, f32 for f16 and bf16, else T.
  using Result = typename detail::Accumulator<T>::Type;
  using Values = ReductionValues<Result>;
  /// out[0] = the reduction of in[0..n); without an element the operator's identity, finished like any other value.
  /// Shapes:   n from 0 up; device addresses, aligned to their elements.
  /// Requires, Throws: as Kernel::launch.
  void operator()(const T* in, std::int64_t n, Result* out, Stream stream, const Values& values = {}) const {
    launch(n, arguments(in, out, values), stream);
  }
  /// The arguments of a launch through a Plan.
  [[nodiscard]] static std::array<Argument, 6> arguments(const T* in, Result* out, const Values& values = {}) {
    return {Argument::pointer(in),          Argument::pointer(nullptr),     Argument::pointer(out),
            Argument::scalar(values.shift), Argument::scalar(values.scale), Argument::scalar(values.bias)};
  }
};

/// The same of the products a[i] * b[i], which are accumulated as they are: no array of them is written. Runtime::dot
/// makes it.
template <class T>
class Dot : public detail::OneSize {
 public:
  using OneSize::OneSize;
  using Result = typename Reduce<T>::Result;
  using Values = ReductionValues<Result>;
  /// out[0] = the reduction of a[i] * b[i] for i from 0 to n - 1. `a` and `b` may be misaligned against each other, overlap or be
  /// the same. All else as Reduce.
  void operator()(const T* a, const T* b, std::int64_t n, Result* out, Stream stream, const Values& values = {}) const {
    launch(n, arguments(a, b, out, values), stream);
  }
  /// The arguments of a launch through a Plan.
  [[nodiscard]] static std::array<Argument, 6> arguments(const T* a, const T* b, Result* out, const Values& values = {}) {
    auto arguments = Reduce<T>::arguments(a, out, values);
    arguments[1] = Argument::pointer(b);
    return arguments;
  }
};

}  // namespace attune
