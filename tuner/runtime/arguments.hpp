#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attune/runtime.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::runtime {

/// Most buffers, scalars and arguments of one kernel that a dispatched template may have: the hot path keeps them on
/// the stack. Parameter space ends at 4 KB, 512 pointers, on older devices; no template comes near.
inline constexpr std::size_t kMaxEntries = 64;

/// Bytes between the parts of a workspace: what cuMemAlloc promises for a whole allocation.
inline constexpr std::size_t kWorkspaceAlignment = 256;

/// Where a plan's scratch buffers lie in one allocation. `zero_once` scratch comes first: [0, zero_bytes) must be zero
/// before the first use and is zero again after every launch; [zero_bytes, total_bytes) may hold anything.
struct WorkspaceLayout {
  static constexpr std::size_t kNone = SIZE_MAX;  ///< offset of a buffer that is the caller's
  std::size_t zero_bytes = 0;
  std::size_t total_bytes = 0;
  std::vector<std::size_t> offsets;  ///< for each buffer of the plan
};
[[nodiscard]] WorkspaceLayout layout_workspace(const spec::LaunchPlan& plan);

/// The run-time signature of a plan: its public buffers in declaration order, but for those of setup and check alone, then its scalars.
class Signature {
 public:
  Signature() = default;
  /// `owner`: "kernel 'reduce'", for messages. Throws: SpecError naming `path` when the plan has more than kMaxEntries
  /// buffers, scalars or arguments.
  Signature(const spec::LaunchPlan& plan, std::string owner, const std::string& path);
  /// Throws: UsageError for a wrong count or size, a null address of a buffer that is not empty, a misaligned address.
  void check(const Argument* arguments, std::size_t count) const {
    if (count != checks_.size()) [[unlikely]]
      refuse_count(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Check& check = checks_[i];
      const Argument& argument = arguments[i];
      const bool wrong =
          argument.size_bytes != check.size_bytes || (argument.bits & check.low_bits) != 0 || (argument.bits == 0 && !check.may_be_null);
      if (wrong) [[unlikely]]
        refuse(i, argument);
    }
  }
  [[nodiscard]] std::size_t buffer_count() const noexcept { return buffer_count_; }

 private:
  /// What every launch compares; the names, which only messages need, are kept apart.
  struct Check {
    std::uint32_t size_bytes = 8;
    std::uint32_t low_bits = 0;  ///< of a buffer: those that its alignment wants to be zero
    bool may_be_null = true;
  };
  [[noreturn]] void refuse_count(std::size_t count) const;
  [[noreturn]] void refuse(std::size_t index, const Argument& argument) const;

  std::vector<Check> checks_;  // first: every launch reads it, and nothing else here
  std::string owner_;
  std::vector<std::string> names_;
  std::size_t buffer_count_ = 0;
};

}  // namespace attune::runtime
