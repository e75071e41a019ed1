#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/handles.hpp"
#include "tuner/measure/element.hpp"
#include "tuner/measure/filling.hpp"
#include "tuner/measure/reduction.hpp"

namespace attune::measure {

enum class Extreme { Least, Greatest };

/// The first of the elements that equal the extreme of a buffer.
struct ExtremeElement {
  std::int64_t index = 0;
  std::uint64_t bits = 0;  ///< raw
};

/// Which extreme a guard zone starts with; the two alternate. Reading one element too far shows up under at least one
/// of the two, whatever the operation.
enum class Guard { HighFirst, LowFirst };

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
  std::string what;         ///< the label it was asked under
  std::uint64_t count = 0;  ///< elements that failed
  std::uint64_t first = 0;  ///< index of the first
};

/// Numbered as in support_rows.cu.
enum class RowOperation : int { Sum, Product, Minimum, Maximum };

/// What a single element takes while it is copied, whatever its type.
inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

/// An element in device memory.
struct ElementAt {
  CUdeviceptr address = 0;
  spec::ElementType type{};
};

/// Row-major, in device memory.
struct Matrix {
  CUdeviceptr start = 0;
  spec::ElementType type{};
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// What an answer takes in device memory, whatever it is of.
inline constexpr std::size_t kAnswerBytes = 8;

/// kAnswerBytes each for every row: a double, or a 64-bit integer that stands for its low bits; a double.
struct RowAnswers {
  gpu::Buffer wanted;
  gpu::Buffer allowed;
};

/// A histogram and where its buffers are; 0: it has none of them.
struct HistogramCall {
  HistogramCase of;
  CUdeviceptr samples = 0;
  CUdeviceptr edges = 0;
  CUdeviceptr weights = 0;
  CUdeviceptr counts = 0;
};

/// kAnswerBytes each for every counter: a 64-bit count; of weighted samples the sum of their weights and of abs(weight), doubles.
struct HistogramAnswers {
  gpu::Buffer counts;
  gpu::Buffer sums;
  gpu::Buffer magnitudes;
};

/// attune's own device kernels (support.cu and the files it is compiled with) on one stream. Everything is enqueued except where said.
class Support {
 public:
  static constexpr std::size_t kGuardBytes = 4096;

  Support(const std::string& cubin, const spec::DeviceInfo& device, const gpu::Stream& stream);

  void fill(CUdeviceptr target, std::int64_t count, spec::ElementType type, const Filling& filling, std::uint64_t seed);
  void guard(const std::vector<GuardZone>& zones, Guard variant);
  void set_bytes(CUdeviceptr target, std::size_t bytes, int byte);
  void copy(CUdeviceptr target, CUdeviceptr source, std::size_t bytes);
  /// Reads at least four times the L2.
  void evict();
  void read(CUdeviceptr source, std::size_t bytes, unsigned blocks, unsigned threads);

  /// Checks collect verdicts on the device; `findings` waits for them and forgets them.
  void begin_checks();
  void check_fill(const std::string& what, CUdeviceptr source, std::int64_t count, spec::ElementType type,
                  const Filling& filling, std::uint64_t seed);
  void check_guards(const std::vector<GuardZone>& zones, Guard variant);
  void check_zero(const std::string& what, CUdeviceptr source, std::size_t bytes);
  void compare(const std::string& what, CUdeviceptr got, CUdeviceptr want, std::int64_t count, spec::ElementType type,
               double relative, double scale);
  /// Against what reduce_rows found; every row is an element.
  void compare_rows(const std::string& what, CUdeviceptr got, spec::ElementType type, std::int64_t rows,
                    const RowAnswers& answers);
  /// Against what count_histogram found; every counter is an element. `unit`: how far off sums of weights may be, in units
  /// of the error that adding them in f32 makes (support_histogram.cu); 0: they are exact.
  void compare_counts(const std::string& what, const HistogramCall& call, const HistogramAnswers& answers, double unit);
  [[nodiscard]] std::optional<Finding> findings();

  /// Of the elements that `of` counts, transformed; `other`: the second input, read by Transform::Times only. Waits.
  [[nodiscard]] Totals reduce(CUdeviceptr source, CUdeviceptr other, const Reduction& of);
  /// Of elements as they are. Waits.
  [[nodiscard]] Totals reduce(CUdeviceptr source, std::int64_t count, spec::ElementType type);
  /// The right answer for each row of a matrix, and the error that is allowed: `relative` times the sum of |x|, of a
  /// product times its magnitude, none for extremes and integers.
  [[nodiscard]] RowAnswers reduce_rows(const Matrix& matrix, RowOperation operation, double relative);
  /// The right counts.
  [[nodiscard]] HistogramAnswers count_histogram(const HistogramCall& call);
  /// Nothing when there is no element but NaN; -0 equals +0. Waits.
  [[nodiscard]] std::optional<ExtremeElement> find_extreme(CUdeviceptr source, std::int64_t count,
                                                           spec::ElementType type, Extreme which);
  /// Raw bits. Waits.
  [[nodiscard]] std::uint64_t load_element(CUdeviceptr source, spec::ElementType type);
  /// Raw bits of each, wherever they lie. Waits, once for all of them.
  [[nodiscard]] std::vector<std::uint64_t> load_elements(const std::vector<ElementAt>& elements);
  /// Waits.
  void store_element(CUdeviceptr target, spec::ElementType type, std::uint64_t bits);
  /// One after the other from `target` on. Waits.
  void store_words(CUdeviceptr target, const std::vector<std::uint64_t>& words);

  [[nodiscard]] const gpu::Stream& stream() const noexcept { return *stream_; }
  [[nodiscard]] const spec::DeviceInfo& device() const noexcept { return *device_; }

 private:
  static constexpr unsigned kThreads = 256;  ///< kReduceThreads of support_reduce.cu

  void fill_histogram(CUdeviceptr target, std::int64_t count, const HistogramFilling& filling, std::uint64_t seed);
  void check_histogram(const std::string& what, CUdeviceptr source, std::int64_t count, const HistogramFilling& filling,
                       std::uint64_t seed);
  void launch(const gpu::Function& kernel, unsigned blocks, unsigned threads, void** parameters, unsigned rows = 1);
  [[nodiscard]] unsigned blocks_for(std::uint64_t count) const;
  [[nodiscard]] CUdeviceptr next_slot(const std::string& what);

  const spec::DeviceInfo* device_;
  const gpu::Stream* stream_;
  gpu::Module module_;
  gpu::Function fill_, check_fill_, guard_, check_guard_, check_zero_, compare_, reduce_, extreme_, find_extreme_,
      read_, reduce_rows_, join_rows_, compare_rows_, fill_histogram_, count_, compare_counts_;
  gpu::Buffer evict_buffer_;
  gpu::Buffer gathered_;  ///< elements on their way to the host, a word each
  gpu::Buffer results_;  ///< slots of checks, partials of reductions, extremes, the sink of reads
  std::vector<std::string> labels_;
};

}  // namespace attune::measure
