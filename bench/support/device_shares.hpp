#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tuner/spec/device_info.hpp"

namespace attune::bench {

/// Equal devices that share the runs of a benchmark, and the processors.
class DeviceShares {
 public:
  /// `text`: ordinals, "0,1". Throws: UsageError when it is no such list, or the devices are not equal; what reading a device throws.
  explicit DeviceShares(const std::string& text);

  [[nodiscard]] const std::vector<int>& ordinals() const noexcept { return ordinals_; }
  [[nodiscard]] const spec::DeviceInfo& device() const noexcept { return device_; }
  /// Processors that each run has.
  [[nodiscard]] std::size_t processors() const;
  /// Calls `work(run, ordinal)` for every run from 0 to `runs` - 1: run r on device r modulo their number, those of one device one after
  /// the other, on a share of the processors of its own. Throws: what `work` throws; runs under way end first, others are not begun.
  void for_each(std::size_t runs, const std::function<void(std::size_t run, int ordinal)>& work) const;

 private:
  std::vector<int> ordinals_;
  spec::DeviceInfo device_;
};

}  // namespace attune::bench
