// nvml_reader UUID READINGS REFRESH_MS: a JSON array of so many readings in a row; "null" when there is no NVML for the
// device.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tuner/gpu/nvml.hpp"

int main(int count, char** words) {
  if (count != 4) return 2;
  auto nvml = attune::gpu::Nvml::open(words[1], std::chrono::milliseconds(std::stoi(words[3])));
  if (!nvml) {
    fmt::print("null\n");
    return 0;
  }
  nlohmann::json readings = nlohmann::json::array();
  for (int i = 0; i < std::stoi(words[2]); ++i) {
    const auto& reading = nvml->read();
    readings.push_back({{"sm_clock_mhz", reading.sm_clock_mhz},
                        {"throttle", reading.throttle},
                        {"power_limit_w", reading.power_limit_w},
                        {"temperature_c", reading.temperature_c},
                        {"energy_mj", nvml->energy_mj().value_or(0)}});
  }
  fmt::print("{}\n", readings.dump());
  return 0;
}
