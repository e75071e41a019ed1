#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "bench/support/element.hpp"
#include "tuner/gpu/handles.hpp"

namespace attune::bench {

/// Random input data that calls take their windows from: cold calls read a window that nothing has read since the last
/// eviction.
class WindowPool {
 public:
  /// Takes up to 8 GiB, and at most 60 % of what is free. Throws: EnvironmentError.
  explicit WindowPool(const gpu::Stream& stream);

  /// How many windows of this size there are; 0 when not even one fits.
  [[nodiscard]] std::int64_t windows(std::size_t window_bytes) const;
  /// Start of a window. Requires: index < windows(window_bytes).
  [[nodiscard]] const void* window(std::int64_t index, std::size_t window_bytes) const;
  /// Random elements of this type from now on (f32 at first). Waits for the device.
  void fill(Element element, const gpu::Stream& stream);
  /// Has `write` enqueue what fills windows 0 to count - 1; the other data stays. Waits for the device.
  void fill_windows(std::size_t window_bytes, std::int64_t count, const std::function<void(void* window, std::int64_t index)>& write,
                    const gpu::Stream& stream);
  /// Sum of the first `count` elements of window 0, which are floating-point. Waits for the device.
  [[nodiscard]] double sum_of_first_window(std::int64_t count, const gpu::Stream& stream) const;
  [[nodiscard]] std::size_t bytes() const noexcept { return data_.bytes(); }

 private:
  gpu::Buffer data_;
  Element element_ = Element::F32;
};

}  // namespace attune::bench
