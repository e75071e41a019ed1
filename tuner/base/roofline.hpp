#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace attune::base {

/// The two arms of a device's roofline: how fast it reads, and how fast it computes. 0: not known.
struct Roofline {
  double bytes_per_s = 0;       ///< the best pure read that was measured
  double operations_per_s = 0;  ///< peak_operations_per_s
};

/// What the single-precision units of a device can do: each lane of each SM begins a fused multiply-add at every clock, which counts as
/// two operations. No kernel holds it, since clocks sink under load; work of other types is compared with it all the same.
/// Units:  9.0 as 90; the SM's maximum clock in kHz; operations a second. 0 where a figure is missing or the lanes are not known.
/// Source: CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions", 32-bit floating-point multiply-add
[[nodiscard]] double peak_operations_per_s(std::int64_t compute_capability, std::int64_t sm_count, std::int64_t sm_clock_khz);
/// The same of a device as a database keeps it ("compute_capability", "sm_count", "sm_clock_khz").
[[nodiscard]] double peak_operations_per_s(const nlohmann::json& device);

/// Whether tables tell what was computed beside what was moved: at more than one operation a byte. Reductions and copies, of 0.25 to 1,
/// are bound by memory on every device, which can do ten and more for each byte that it reads.
[[nodiscard]] bool arithmetic_matters(double bytes, double operations);

}  // namespace attune::base
