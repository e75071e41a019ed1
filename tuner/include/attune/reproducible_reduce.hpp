#pragma once
#include <array>
#include <cstdint>

#include "attune/reduce.hpp"

namespace attune {

/// Typed front end of the template `reproducible_reduce`: what Reduce does, of __half, __nv_bfloat16, float or double,
/// with a result whose bits depend on n and the elements alone. What it costs is in docs/reduction.md
/// (integers need none of this: Reduce has the same bits anyway). Runtime::reproducible_reduce makes it; copies are
/// cheap and valid while the Runtime lives. docs/reduction.md has what is promised and its limits.
template <detail::FloatingElement T>
class ReproducibleReduce : public detail::OneSize {
 public:
  using Result = typename Reduce<T>::Result;
  using Values = ReductionValues<Result>;
  ReproducibleReduce(Kernel kernel, double resolution) : OneSize(kernel), resolution_(static_cast<Result>(resolution)) {}
  /// As Reduce.
  void operator()(const T* in, std::int64_t n, Result* out, Stream stream, const Values& values = {}) const {
    launch(n, arguments(in, out, values), stream);
  }
  /// The arguments of a launch through a Plan.
  [[nodiscard]] std::array<Argument, 7> arguments(const T* in, Result* out, const Values& values = {}) const {
    return {Argument::pointer(in),          Argument::pointer(nullptr),    Argument::pointer(out),       Argument::scalar(values.shift),
            Argument::scalar(values.scale), Argument::scalar(values.bias), Argument::scalar(resolution_)};
  }

 private:
  Result resolution_;
};

/// The same of the products a[i] * b[i]. Runtime::reproducible_dot makes it.
template <detail::FloatingElement T>
class ReproducibleDot : public detail::OneSize {
 public:
  using Result = typename Reduce<T>::Result;
  using Values = ReductionValues<Result>;
  ReproducibleDot(Kernel kernel, double resolution) : OneSize(kernel), resolution_(static_cast<Result>(resolution)) {}
  /// As Dot.
  void operator()(const T* a, const T* b, std::int64_t n, Result* out, Stream stream, const Values& values = {}) const {
    launch(n, arguments(a, b, out, values), stream);
  }
  /// The arguments of a launch through a Plan.
  [[nodiscard]] std::array<Argument, 7> arguments(const T* a, const T* b, Result* out, const Values& values = {}) const {
    return {Argument::pointer(a),           Argument::pointer(b),          Argument::pointer(out),       Argument::scalar(values.shift),
            Argument::scalar(values.scale), Argument::scalar(values.bias), Argument::scalar(resolution_)};
  }

 private:
  Result resolution_;
};

}  // namespace attune
