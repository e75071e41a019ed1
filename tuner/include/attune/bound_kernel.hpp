#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include "attune/argument.hpp"
#include "attune/decision.hpp"
#include "attune/plan.hpp"

namespace attune {

namespace detail {
struct BoundState;
}  // namespace detail

/// A kernel on one stream, with scratch of its own there: launches of it ask the driver for less, and look up less, than those of
/// Kernel. Made by Kernel::on. For one thread at a time, and to be destroyed before its Runtime; its stream is destroyed after it.
///
/// Example:  attune::BoundKernel sum = runtime.kernel("reduce", {{"T", "f32"}, {"op", "sum"}}).on(stream);
///           for (const auto& batch : batches) sum.launch({batch.n}, {batch.in, nullptr, ...});
class BoundKernel {
 public:
  BoundKernel(BoundKernel&&) noexcept;
  BoundKernel& operator=(BoundKernel&&) noexcept;
  ~BoundKernel();

  /// As Kernel::launch on the stream that it was made for. The plan of the last sizes is kept at hand: launches of the same sizes
  /// again look nothing up.
  /// Requires: the context is current in which it was made.
  /// Throws:   as Kernel::launch; UsageError when another context is current.
  void launch(const std::int64_t* sizes, std::size_t size_count, const Argument* arguments, std::size_t count);
  void launch(std::initializer_list<std::int64_t> sizes, std::initializer_list<Argument> arguments) {
    launch(sizes.begin(), sizes.size(), arguments.begin(), arguments.size());
  }

 private:
  friend class Kernel;
  explicit BoundKernel(std::unique_ptr<detail::BoundState> state);
  std::unique_ptr<detail::BoundState> state_;
};

}  // namespace attune
