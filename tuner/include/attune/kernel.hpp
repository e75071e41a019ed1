#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "attune/argument.hpp"
#include "attune/bound_kernel.hpp"
#include "attune/decision.hpp"
#include "attune/plan.hpp"

namespace attune {

namespace detail {
struct KernelState;
}  // namespace detail

/// A template with its types and choices fixed; a thread-safe handle, cheap to copy; valid while its Runtime lives.
class Kernel {
 public:
  /// Looks up (or builds) the plan for these sizes on the current context's device and launches it; after the first
  /// call for a size there is no lock, allocation, SQL or system call of attune's. Scratch is kept per stream.
  /// Shapes:   `sizes` in the template's declaration order of size axes; `arguments` as Plan::launch.
  /// Requires: a current context, to which `stream` belongs; the context outlives the Runtime.
  /// Throws:   UsageError, EnvironmentError (no driver), CompileError, CudaError; under capture UsageError also when
  /// the
  ///           plan is not prepared or needs scratch (use Plan::launch with a workspace of your own).
  void launch(const std::int64_t* sizes, std::size_t size_count, const Argument* arguments, std::size_t count, Stream stream) const;
  void launch(std::initializer_list<std::int64_t> sizes, std::initializer_list<Argument> arguments, Stream stream) const {
    launch(sizes.begin(), sizes.size(), arguments.begin(), arguments.size(), stream);
  }
  /// For many launches from one thread on one stream of the current context: the cheapest with the Runtime's own scratch.
  /// Throws: UsageError when no context is current, EnvironmentError (no driver).
  [[nodiscard]] BoundKernel on(Stream stream) const;
  /// Builds and loads the plans of every size that was tuned on this device now. Sizes in between are prepared by name.
  /// Throws: UsageError with Options::agree, as ranks need not have the same sizes.
  void prepare() const;
  void prepare(std::initializer_list<std::int64_t> sizes) const;
  [[nodiscard]] Plan plan(std::initializer_list<std::int64_t> sizes) const;
  /// What `launch` would use, without loading anything on the device.
  [[nodiscard]] Decision explain(std::initializer_list<std::int64_t> sizes) const;
  /// The same for a device that need not be here: the name of a device some layer holds records of ("NVIDIA H200"), or
  /// an architecture ("sm_90"). Needs no driver. Throws: UsageError listing what is known.
  [[nodiscard]] Decision explain_on(const std::string& device, std::initializer_list<std::int64_t> sizes) const;

 private:
  friend class Runtime;
  explicit Kernel(detail::KernelState* state) : state_(state) {}
  detail::KernelState* state_;
};

}  // namespace attune
