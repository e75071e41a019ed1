#pragma once
// Problems that were drawn at random, with their data on the device.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attune/argument.hpp"
#include "bench/support/element.hpp"
#include "bench/support/random_problems.hpp"
#include "bench/support/window_pool.hpp"

namespace attune::bench {

/// Where the inputs of tasks lie, and what is there now.
struct TaskData {
  WindowPool& pool;
  const gpu::Stream& stream;
  std::optional<Element> filled;  ///< random elements of this type; nothing: something else
};

/// One problem with its data on the device.
class Task {
 public:
  virtual ~Task() = default;
  [[nodiscard]] virtual std::int64_t windows() const = 0;
  [[nodiscard]] virtual std::size_t output_bytes() const = 0;
  [[nodiscard]] virtual std::vector<Argument> arguments(std::int64_t window, const void* out) const = 0;
  [[nodiscard]] virtual bool has_cub() const = 0;
  virtual void enqueue_cub(std::int64_t window, void* out) const = 0;
  /// Throws: Error when results differ.
  virtual void check(const std::vector<unsigned char>& ours, const std::vector<unsigned char>& theirs, const std::string& whose) const = 0;
};

/// Fills the pool with the problem's input. Requires: data and problem stay while the task is used. Throws: EnvironmentError when the
/// samples of a histogram do not fit.
[[nodiscard]] std::unique_ptr<Task> make_task(TaskData& data, const RandomProblem& problem);

}  // namespace attune::bench
