#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "tuner/spec/launch_plan.hpp"
#include "tuner/verify/support.hpp"

namespace attune::verify {

/// Which buffers of a plan a layout places: the problem's own, or a configuration's scratch.
enum class Part { Data, Scratch };

/// Offsets of buffers in one allocation, each between two guard zones of Support::kGuardBytes.
class BufferLayout {
 public:
  BufferLayout() = default;
  /// `misalign_elements`: data buffers that promise no alignment start that many elements past a 256-byte boundary.
  BufferLayout(const std::vector<spec::ResolvedBuffer>& buffers, Part part, int misalign_elements = 0);

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool holds(std::size_t buffer) const { return offsets_[buffer] != kAbsent; }
  /// Requires: holds(buffer).
  [[nodiscard]] std::size_t offset(std::size_t buffer) const { return offsets_[buffer]; }

  /// What stands around a buffer instead of its type's extremes, which do not show everywhere where they are read.
  void guard_with(std::size_t buffer, const GuardValues& values) { guards_[buffer] = values; }
  void guard(Support& support, CUdeviceptr base, Guard variant) const;
  /// Whether anything was written around the buffers.
  void check_guards(Support& support, CUdeviceptr base, Guard variant) const;

 private:
  [[nodiscard]] std::vector<GuardZone> zones(CUdeviceptr base) const;

  static constexpr std::size_t kAbsent = ~std::size_t{0};
  std::vector<spec::ResolvedBuffer> buffers_;
  std::vector<std::size_t> offsets_;
  std::vector<std::optional<GuardValues>> guards_;
  std::size_t bytes_ = 0;
};

/// The byte that fills what a call must write: NaN in every floating format.
[[nodiscard]] int poison_of(spec::ElementType type);

/// Where a buffer lives for one call, by its index in the plan.
using Addresses = std::vector<CUdeviceptr>;

/// Puts the addresses of the buffers that `layout` holds, for an allocation at `base`, into `addresses`.
void place(const BufferLayout& layout, CUdeviceptr base, Addresses& addresses);

}  // namespace attune::verify
