#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/handles.hpp"
#include "tuner/measure/element.hpp"

namespace attune::measure {

/// Sums and extremes of a buffer, in double precision or exact integers. Empty buffers: zero sums, no extremes.
struct Totals {
  double sum = 0;
  double magnitude = 0;            ///< sum of |x|
  std::uint64_t integer_sum = 0;   ///< modulo 2^64; integer types only
  std::uint64_t minimum_bits = 0;  ///< of a double for floating types, else extended to 64 bits
  std::uint64_t maximum_bits = 0;
};

/// Which extreme a guard zone starts with; the two alternate. Reading one element too far shows up under at least one
/// of the two, whatever the operation.
enum class Guard { HighFirst, LowFirst };

/// A zone of Support::kGuardBytes bytes beside a buffer, filled with the extremes of the buffer's type.
struct GuardZone {
  CUdeviceptr start = 0;
  spec::ElementType type{};
  std::string what;  ///< what a write into it is called, e.g. "wrote past the end of buffer \"out\""
};

/// A failed check.
struct Finding {
  std::string what;         ///< the label it was asked under
  std::uint64_t count = 0;  ///< elements that failed
  std::uint64_t first = 0;  ///< index of the first
};

/// attune's own device kernels (support.cu) on one stream. Everything is enqueued except where said.
class Support {
 public:
  static constexpr std::size_t kGuardBytes = 4096;

  Support(const std::string& cubin, const spec::DeviceInfo& device, const gpu::Stream& stream);

  void fill(CUdeviceptr target, std::int64_t count, spec::ElementType type, FillKind kind, std::uint64_t seed);
  void guard(const std::vector<GuardZone>& zones, Guard variant);
  void set_bytes(CUdeviceptr target, std::size_t bytes, int byte);
  void copy(CUdeviceptr target, CUdeviceptr source, std::size_t bytes);
  /// Reads at least four times the L2.
  void evict();
  void read(CUdeviceptr source, std::size_t bytes, unsigned blocks, unsigned threads);

  /// Checks collect verdicts on the device; `findings` waits for them and forgets them.
  void begin_checks();
  void check_fill(const std::string& what, CUdeviceptr source, std::int64_t count, spec::ElementType type,
                  FillKind kind, std::uint64_t seed);
  void check_guards(const std::vector<GuardZone>& zones, Guard variant);
  void check_zero(const std::string& what, CUdeviceptr source, std::size_t bytes);
  void compare(const std::string& what, CUdeviceptr got, CUdeviceptr want, std::int64_t count, spec::ElementType type,
               double relative, double scale);
  [[nodiscard]] std::optional<Finding> findings();

  /// Waits.
  [[nodiscard]] Totals reduce(CUdeviceptr source, std::int64_t count, spec::ElementType type);
  [[nodiscard]] std::uint64_t load_element(CUdeviceptr source, spec::ElementType type);
  void store_element(CUdeviceptr target, spec::ElementType type, std::uint64_t bits);

  [[nodiscard]] const gpu::Stream& stream() const noexcept { return *stream_; }
  [[nodiscard]] const spec::DeviceInfo& device() const noexcept { return *device_; }

 private:
  void launch(const gpu::Function& kernel, unsigned blocks, unsigned threads, void** parameters, unsigned rows = 1);
  [[nodiscard]] unsigned blocks_for(std::uint64_t count) const;
  [[nodiscard]] CUdeviceptr next_slot(const std::string& what);

  const spec::DeviceInfo* device_;
  const gpu::Stream* stream_;
  gpu::Module module_;
  gpu::Function fill_, check_fill_, guard_, check_guard_, check_zero_, compare_, reduce_, read_;
  gpu::Buffer evict_buffer_;
  gpu::Buffer results_;  ///< slots of checks, partials of reductions, the sink of reads
  std::vector<std::string> labels_;
};

}  // namespace attune::measure
