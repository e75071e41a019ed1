#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/value.hpp"

namespace attune::spec {

/// What tuning needs to know of a device, with or without one present. Plain data: no CUDA.
struct DeviceInfo {
  // Hard identity: two devices that agree in all of these share tuned configurations.
  std::string backend = "cuda";
  std::string architecture;  ///< "sm_90"
  int sm_count = 0;
  std::int64_t shared_optin_bytes = 0;  ///< shared memory a block may ask for
  std::int64_t registers_per_sm = 0;
  std::int64_t l2_bytes = 0;
  int memory_bus_bits = 0;
  int warp_size = 32;
  // Follows from the architecture; in expressions and occupancy, not in the key.
  int compute_capability = 0;  ///< 90
  int max_threads_per_block = 1024;
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  std::int64_t shared_per_sm_bytes = 0;
  std::int64_t shared_per_block_bytes = 49152;
  std::int64_t registers_per_block = 65536;
  bool cooperative_launch = true;
  // Soft: recorded and shown, never compared.
  std::string name;  ///< "NVIDIA H200"
  std::string uuid;
  std::string driver;  ///< "580.159.04"
  int sm_clock_khz = 0;
  int memory_clock_khz = 0;
  std::int64_t memory_bytes = 0;
  double power_limit_w = 0;
  bool ecc = false;

  [[nodiscard]] std::string hard_json() const;  ///< canonical: sorted keys, no spaces
  [[nodiscard]] std::string hard_key() const;   ///< content key of hard_json()
  /// Where the hard identity is not the other's: "sm_count 114 instead of 132, l2_bytes ..."; empty when they are equal.
  [[nodiscard]] std::string hard_difference(const DeviceInfo& other) const;
  /// "memory_clock_khz 1215000 instead of 1593000" where the other one's memory is slower or faster by more than 1 %; empty when it is
  /// not, or one does not tell. Such devices (A100 of 40 and 80 GB, A40 and RTX A6000) agree in the hard identity, which is the
  /// key of what is stored and so cannot change; their results are not each other's all the same.
  [[nodiscard]] std::string memory_difference(const DeviceInfo& other) const;
  [[nodiscard]] nlohmann::json to_json() const;  ///< everything, for messages and recordings
  /// Throws: Error (exit code Spec) naming the field that is missing, mistyped or outside of what a device can have.
  [[nodiscard]] static DeviceInfo from_json(const nlohmann::json& json);
  /// A stand-in with the figures of one well-known part, for compiling and counting without a GPU ("sm_90" -> H100's
  /// figures). Throws: UsageError listing the known architectures.
  [[nodiscard]] static DeviceInfo of_architecture(const std::string& architecture);
  /// `device.<attribute>` of expressions; nothing when there is no such attribute.
  [[nodiscard]] std::optional<Value> attribute(std::string_view attribute) const;
  [[nodiscard]] static std::vector<std::string> attribute_names();
  /// What its single-precision units can do in a second (base/roofline.hpp); 0: not known.
  [[nodiscard]] double peak_operations_per_s() const;
  /// A short folder name for results: "nvidia_h200".
  [[nodiscard]] std::string slug() const;
};

/// The member of a stored row's detail that tells at which memory clock it was measured, in kHz.
inline constexpr const char* kMemoryClockField = "memory_clock_khz";
/// Its value, without reading the whole detail, which is long; 0 when it does not tell, as rows of older versions do not.
[[nodiscard]] int memory_clock_of(std::string_view detail_json);
/// Whether both are known and more than 1 % apart.
[[nodiscard]] bool other_memory_clock(int a_khz, int b_khz);

}  // namespace attune::spec
