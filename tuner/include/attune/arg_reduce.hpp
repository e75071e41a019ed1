#pragma once
#include <cstdint>
#include <string>

#include "attune/kernel.hpp"
#include "attune/type_name.hpp"

namespace attune {

enum class ArgOp { Max, Min };

/// Typed front end of the `argreduce` template: T is an 8-, 32- or 64-bit integer, __half, __nv_bfloat16, float or
/// double. Runtime::arg_reduce makes it; copies are cheap and valid while the Runtime lives. docs/reduction.md says who
/// owns scratch, and what may run at the same time.
template <class T>
class ArgReduce {
 public:
  explicit ArgReduce(Kernel kernel) : kernel_(kernel) {}
  /// The greatest or least of in[0..n) and the lowest index that has it: value[0] and index[0]. NaN is passed over, -0
  /// equals +0. Without an element (n = 0, or all NaN) index[0] is -1 and value[0] the operator's identity: -inf or the
  /// lowest T for Max, +inf or the highest for Min.
  /// Shapes:   device addresses, aligned to T; `value` and `index` may be anywhere.
  /// Requires, Throws: as Kernel::launch.
  void operator()(const T* in, std::int64_t n, T* value, std::int64_t* index, Stream stream) const {
    kernel_.launch({n}, {Argument::pointer(in), Argument::pointer(value), Argument::pointer(index)}, stream);
  }
  void prepare() const { kernel_.prepare(); }
  /// A fixed choice for n elements. Its arguments are in, value and index.
  [[nodiscard]] Plan plan(std::int64_t n) const { return kernel_.plan({n}); }
  [[nodiscard]] Decision explain(std::int64_t n) const { return kernel_.explain({n}); }
  [[nodiscard]] Decision explain_on(const std::string& device, std::int64_t n) const {
    return kernel_.explain_on(device, {n});
  }
  [[nodiscard]] const Kernel& kernel() const { return kernel_; }

 private:
  Kernel kernel_;
};

}  // namespace attune
