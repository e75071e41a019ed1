#pragma once
#include <cstddef>
#include <initializer_list>
#include <span>

#include "attune/argument.hpp"
#include "attune/decision.hpp"

namespace attune {

namespace detail {
struct PlanState;
}  // namespace detail

/// A fixed choice for fixed sizes: configuration, loaded code, geometry. Cheap to copy; valid while its Runtime lives,
/// in the context it was made in.
class Plan {
 public:
  [[nodiscard]] std::size_t workspace_bytes() const;
  [[nodiscard]] const Decision& decision() const;
  /// `arguments`: the template's non-workspace buffers in declaration order, but for those that only its setup or check names, then its
  /// scalars.
  /// `workspace`: `workspace_bytes()` of device memory, 256-byte aligned, for this stream alone, zero before its first
  /// use (every launch leaves `zero_once` scratch zero); may be null when none is needed.
  /// Safe under stream capture. Throws: UsageError (count, size or alignment of arguments, null addresses, missing or
  /// misaligned workspace, another context is current), CudaError. Nothing is launched after a UsageError.
  void launch(const Argument* arguments, std::size_t count, void* workspace, Stream stream) const;
  void launch(std::initializer_list<Argument> arguments, void* workspace, Stream stream) const {
    launch(arguments.begin(), arguments.size(), workspace, stream);
  }
  /// For what a typed front end's arguments() gives.
  void launch(std::span<const Argument> arguments, void* workspace, Stream stream) const {
    launch(arguments.data(), arguments.size(), workspace, stream);
  }

 private:
  friend class Kernel;
  explicit Plan(const detail::PlanState* state) : state_(state) {}
  const detail::PlanState* state_;
};

}  // namespace attune
