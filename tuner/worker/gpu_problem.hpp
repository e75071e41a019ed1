#pragma once
#include <optional>
#include <string>

#include "tuner/verify/problem_data.hpp"
#include "tuner/worker/windows.hpp"

namespace attune::worker {

/// A problem on the device: the data of every case it is verified in, and the pool of windows that timing rotates over. A window is one
/// complete set of data buffers; window 0 is also the data of the asked case.
class GpuProblem {
 public:
  /// Throws: EnvironmentError (too little device memory: names what is needed and free), SpecError, CudaError.
  GpuProblem(spec::KernelTemplate kernel, spec::Problem problem, measure::CachePolicy cache, const std::string& reference_cubin,
             const std::string& setup_cubin, verify::Support& support);
  GpuProblem(const GpuProblem&) = delete;
  GpuProblem& operator=(const GpuProblem&) = delete;

  [[nodiscard]] const spec::KernelTemplate& kernel() const noexcept { return kernel_; }
  [[nodiscard]] const spec::Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] verify::ProblemData& data() noexcept { return data_; }
  [[nodiscard]] const WindowGroups& windows() const noexcept { return windows_; }
  /// Says that a configuration may have written anywhere.
  void spoil() noexcept { sound_ = false; }
  /// Fills every window and computes every answer anew where that was said. Throws: as ProblemData::expect_all.
  void make_sound();
  /// Before a configuration is timed: the data of every window and the answer of window 0 are its own, where they depend on parameters.
  /// `own_setup`: of the asked case, where each configuration has its own: it runs in every window that was not prepared by it last.
  /// Throws: as ProblemData::adapt_timed.
  void adapt(const spec::Configuration& configuration, const verify::UntimedCall* own_setup);

 private:
  void allocate(measure::CachePolicy cache);
  void fill_further_windows();

  spec::KernelTemplate kernel_;
  spec::Problem problem_;
  verify::Support* support_;
  verify::ProblemData data_;
  WindowGroups windows_;
  bool sound_ = false;
  std::optional<std::string> windows_of_;  ///< ProblemData::adapt_timed's text of the windows behind the first; nothing: not of one
  std::optional<spec::Configuration> prepared_by_;  ///< whose own setup ran in the windows behind the first
};

}  // namespace attune::worker
