#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/base/cpus.hpp"
#include "tuner/session/fleet/device_process.hpp"

namespace attune::tools {

/// What --device says.
struct DeviceList {
  std::vector<int> ordinals;  ///< ascending; empty when `all`
  bool all = false;

  [[nodiscard]] bool several() const { return all || ordinals.size() > 1; }  ///< "all" may turn out to be one
  /// "0", "0,2", "all"; empty text: device 0. Throws: UsageError (no number, negative, twice the same).
  [[nodiscard]] static DeviceList parse(const std::string& text);
};

/// Each device with its share of the host's processors: every GPU worker keeps one to itself, which commands that start later leave alone
/// as long as the settings live, and the compile workers get those that no earlier command times on (`compile_workers`: so many of all
/// devices together instead), at least one each.
[[nodiscard]] std::vector<session::DeviceSettings> device_settings(const std::vector<int>& ordinals, std::optional<int> compile_workers,
                                                                   const std::vector<int>& available = base::available_cpus());

}  // namespace attune::tools
