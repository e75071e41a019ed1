#pragma once
#include <cstdint>
#include <string>

#include "attune/kernel.hpp"

namespace attune::detail {

/// What front ends of templates with the one size n have in common: a thread-safe handle, cheap to copy, valid while its
/// Runtime lives.
class OneSize {
 public:
  explicit OneSize(Kernel kernel) : kernel_(kernel) {}
  /// For every n tuned on this device, and for one n.
  void prepare() const { kernel_.prepare(); }
  void prepare(std::int64_t n) const { kernel_.prepare({n}); }
  /// A fixed choice for n elements, to be launched with arguments() and a workspace of the caller's, also under capture.
  /// docs/reduction.md says who owns scratch, and what may run at the same time.
  [[nodiscard]] Plan plan(std::int64_t n) const { return kernel_.plan({n}); }
  [[nodiscard]] Decision explain(std::int64_t n) const { return kernel_.explain({n}); }
  [[nodiscard]] Decision explain_on(const std::string& device, std::int64_t n) const { return kernel_.explain_on(device, {n}); }
  [[nodiscard]] const Kernel& kernel() const { return kernel_; }

 protected:
  template <class Arguments>
  void launch(std::int64_t n, const Arguments& arguments, Stream stream) const {
    kernel_.launch(&n, 1, arguments.data(), arguments.size(), stream);
  }

 private:
  Kernel kernel_;
};

}  // namespace attune::detail
