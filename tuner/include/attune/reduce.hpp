#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

#include "attune/kernel.hpp"
#include "attune/type_name.hpp"

namespace attune {

/// What a front end combines elements with; a template that lacks one refuses it with UsageError.
enum class Op { Sum, Min, Max, Product };

namespace detail {
/// The word of the choice "op" of attune's templates.
[[nodiscard]] constexpr const char* name(Op op) {
  switch (op) {
    case Op::Sum:
      return "sum";
    case Op::Min:
      return "min";
    case Op::Max:
      return "max";
    case Op::Product:
      return "product";
  }
  return "";  // no value of Op: refused as an unknown choice
}
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
