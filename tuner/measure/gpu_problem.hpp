#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/cases.hpp"
#include "tuner/measure/reference.hpp"
#include "tuner/measure/windows.hpp"

namespace attune::measure {

/// A problem on the device: the data of every case it is verified in, their right answers, and the pool of windows that
/// timing rotates over. A window is one complete set of data buffers; window 0 is also the data of the asked case.
class GpuProblem {
 public:
  struct Case {
    CasePlan plan;
    std::vector<spec::ResolvedBuffer> buffers;
    BufferLayout layout;
    gpu::Buffer memory;                                              ///< the whole pool for the asked case
    std::array<std::optional<Expectation>, kDataSets> expectations;  ///< by DataSet; none: the template has no reference
  };

  /// Throws: EnvironmentError (too little device memory: names what is needed and free), SpecError, CudaError.
  GpuProblem(spec::KernelTemplate kernel, spec::Problem problem, CachePolicy cache, const std::string& reference_cubin,
             Support& support);
  GpuProblem(const GpuProblem&) = delete;
  GpuProblem& operator=(const GpuProblem&) = delete;

  [[nodiscard]] const spec::KernelTemplate& kernel() const noexcept { return kernel_; }
  [[nodiscard]] const spec::Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] std::vector<Case>& cases() noexcept { return cases_; }
  [[nodiscard]] Case& asked() noexcept { return cases_.front(); }
  [[nodiscard]] Reference& reference() noexcept { return reference_; }
  [[nodiscard]] const WindowGroups& windows() const noexcept { return windows_; }
  /// What a case is verified with.
  [[nodiscard]] std::vector<DataSet> data_sets(const Case& which) const;
  /// Whether a call changes its own input, so that windows must be restored.
  [[nodiscard]] bool has_in_out() const;

  /// Addresses of a case's data buffers in a window (0 unless it is the asked case); scratch is 0.
  [[nodiscard]] Addresses addresses(const Case& which, int window = 0) const;
  [[nodiscard]] Located locate(const Case& which) const;

  /// Inputs get their data, pure outputs a poison that no right answer contains (NaN for floating types), guards their
  /// extremes.
  void fill(const Case& which, DataSet data, Guard variant, int window = 0);
  /// Only the buffers that a call changes.
  void restore(const Case& which, DataSet data, int window = 0);
  /// Labels of what was written that must not be: guards and pure inputs. Between begin_checks and findings.
  void check_untouched(const Case& which, DataSet data, Guard variant);
  /// Fills every window and computes every answer anew: after a configuration that may have written anywhere.
  void refresh();

 private:
  [[nodiscard]] Filling filling(const Case& which, std::size_t index, DataSet data, int window) const;
  [[nodiscard]] std::uint64_t seed(std::size_t buffer, DataSet data, int window) const;
  void allocate(CachePolicy cache);
  void expect_all();

  spec::KernelTemplate kernel_;
  spec::Problem problem_;
  Support* support_;
  Reference reference_;
  std::vector<Case> cases_;
  WindowGroups windows_;
};

}  // namespace attune::measure
