#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "templates/include/attune/reference_types.cuh"
#include "tuner/gpu/handles.hpp"
#include "tuner/spec/element.hpp"
#include "tuner/spec/reference_definition.hpp"
#include "tuner/verify/support_types.cuh"

namespace attune::verify {

/// Which extreme a guard zone starts with; the two alternate. Reading one element too far shows up under at least one
/// of the two, whatever the operation.
enum class Guard { HighFirst, LowFirst };

/// What values of a reference are computed over: two passes tell one that was not written from one that is as its memory was.
enum class Pass { First, Again };

/// Raw bits of the two elements that a guard zone alternates between, the one that Guard::HighFirst starts with first.
using GuardValues = std::array<std::uint64_t, 2>;

/// A zone of Support::kGuardBytes bytes beside a buffer, filled with the extremes of the buffer's type or with `values`.
struct GuardZone {
  CUdeviceptr start = 0;
  spec::ElementType type{};
  std::optional<GuardValues> values;
  std::string what;  ///< what a write into it is called, e.g. "wrote past the end of buffer \"out\""
};

/// A failed check.
struct Finding {
  std::size_t check = 0;  ///< which one since begin_checks
  std::string what;       ///< the label it was asked under
  reference::Slot slot{};

  [[nodiscard]] std::uint64_t count() const { return slot.count; }           ///< elements that failed
  [[nodiscard]] std::uint64_t first() const { return ~slot.first_inverse; }  ///< index of the first
};

/// Elements in device memory.
struct Elements {
  CUdeviceptr start = 0;
  std::int64_t count = 0;
  spec::ElementType type{};
};

/// attune's own device kernels (support.cu) on one stream. Everything is enqueued except where said.
class Support {
 public:
  static constexpr std::size_t kGuardBytes = 4096;
  static constexpr std::size_t kMostOutputs = std::size(decltype(reference::Outputs::wanted){});

  Support(const std::string& cubin, const spec::DeviceInfo& device, const gpu::Stream& stream);

  void fill(const Elements& target, spec::DataValues values, std::uint64_t seed);
  void guard(const std::vector<GuardZone>& zones, Guard variant);
  void set_bytes(CUdeviceptr target, std::size_t bytes, int byte);
  void copy(CUdeviceptr target, CUdeviceptr source, std::size_t bytes);
  /// Reads at least four times the L2.
  void evict();
  void read(CUdeviceptr source, std::size_t bytes, unsigned blocks, unsigned threads);

  /// Checks collect verdicts on the device; `findings` waits for them and forgets them.
  void begin_checks();
  void check_fill(const std::string& what, const Elements& source, spec::DataValues values, std::uint64_t seed);
  void check_guards(const std::vector<GuardZone>& zones, Guard variant);
  void check_zero(const std::string& what, CUdeviceptr source, std::size_t bytes);
  /// Whether every one of `count` expectations was written since its memory was filled with kUnsaid.
  void check_said(CUdeviceptr expected, std::int64_t count);
  /// Makes values what no kernel has said, before they are computed in a pass.
  void make_unsaid(const Elements& values, Pass pass);
  /// Which values the pass left as make_unsaid made them. A finding of the first may be right values; what the second finds was written in
  /// neither. `marks`: marks_bytes, which the first pass writes and the second reads.
  void check_values_said(const Elements& values, CUdeviceptr marks, Pass pass);
  [[nodiscard]] static std::size_t marks_bytes(std::int64_t count);
  /// Returns the number of the check.
  std::size_t compare(const Elements& got, const reference::Wanted& wanted, std::uint64_t may_be_off = 0, const std::string& what = "");
  /// How many have begun. A pass over one data set is to begin fewer than are left behind kManyChecks.
  [[nodiscard]] std::size_t checks() const noexcept { return checks_.size(); }
  static constexpr std::size_t kManyChecks = 512;
  /// The first that failed.
  [[nodiscard]] std::optional<Finding> findings();
  /// A verdict of the caller's own kernel.
  [[nodiscard]] CUdeviceptr next_slot(const std::string& what, std::uint64_t may_be_off = 0);

  /// Waits.
  [[nodiscard]] double mean_magnitude(const Elements& source);

  /// Reads what stands at the plants' positions of the input.
  void read_plants(CUdeviceptr plants, std::size_t count, const Elements& input);
  /// Takes back the reference::Plant at `back` and plants that at `plant`; 0: none. What is expected changes and is put back with it, the
  /// elements are but where they stay.
  void plant(CUdeviceptr back, CUdeviceptr plant, const Elements& input, const reference::Outputs& outputs, bool elements_stay);
  void unplant(CUdeviceptr plants, std::size_t count, const Elements& input);
  /// Exchanges altered elements.
  void alter(CUdeviceptr alteration, const Elements& input, bool backwards);

  /// Waits.
  void upload(CUdeviceptr target, const void* source, std::size_t bytes);
  void download(void* target, CUdeviceptr source, std::size_t bytes);

  /// `work`: elements; the kernel strides over them.
  void launch(const gpu::Function& kernel, std::uint64_t work, void** parameters);

  [[nodiscard]] const gpu::Stream& stream() const noexcept { return *stream_; }
  [[nodiscard]] const spec::DeviceInfo& device() const noexcept { return *device_; }

 private:
  static constexpr unsigned kThreads = 256;

  void enqueue(const gpu::Function& kernel, unsigned blocks, unsigned threads, void** parameters, unsigned rows = 1);

  const spec::DeviceInfo* device_;
  const gpu::Stream* stream_;
  gpu::Module module_;
  gpu::Function fill_, guard_, check_guard_, check_zero_, compare_, note_, magnitude_, read_plants_, check_said_, check_values_said_,
      plant_, unplant_, alter_, read_;
  gpu::Buffer evict_buffer_;
  gpu::Buffer results_;  ///< slots of checks, a sum, the sink of reads
  struct Check {
    std::string what;
    std::uint64_t may_be_off;  ///< so many places are no finding
  };
  std::vector<Check> checks_;
};

}  // namespace attune::verify
