#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

#include "attune/kernel.hpp"

namespace attune {

enum class Op { Sum, Min, Max };

namespace detail {
template <class T>
struct TypeName;
template <>
struct TypeName<float> {
  static constexpr const char* value = "f32";
};
template <>
struct TypeName<double> {
  static constexpr const char* value = "f64";
};
template <>
struct TypeName<std::int32_t> {
  static constexpr const char* value = "i32";
};
template <>
struct TypeName<std::int8_t> {
  static constexpr const char* value = "i8";
};
}  // namespace detail

/// Typed front end of the `reduce` template.
template <class T>
class Reduce {
 public:
  explicit Reduce(Kernel kernel) : kernel_(kernel) {}
  using Result = std::conditional_t<sizeof(T) == 1, std::int32_t, T>;  ///< i8 accumulates into i32, modulo 2^32
  /// out[0] = op over in[0..n); n = 0 writes the operator's identity. Device addresses.
  void operator()(const T* in, std::int64_t n, Result* out, Stream stream) const {
    kernel_.launch({n}, {Argument::pointer(in), Argument::pointer(out)}, stream);
  }
  void prepare() const { kernel_.prepare(); }
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
