#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/buffer_layout.hpp"
#include "tuner/measure/cases.hpp"
#include "tuner/measure/support.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::measure {

/// Integers: small non-zero integers, which sum exactly in any order. Random: full-range values.
enum class DataSet { Integers, Random };

/// What a problem's outputs must be for one data set.
struct Expectation {
  Totals totals;                    ///< of a built-in reduction's input
  std::vector<gpu::Buffer> wanted;  ///< of a kernel reference: by buffer index, allocated for outputs only
  std::vector<double> scales;       ///< mean |wanted| of each
};

/// Buffers of one case and where they are.
struct Located {
  const spec::Problem* problem;
  const std::vector<spec::ResolvedBuffer>* buffers;
  Addresses addresses;  ///< data buffers only; scratch is the user's
};

/// The right answers: built-in double-precision reductions, or a plain kernel of the template.
class Reference {
 public:
  /// `cubin`: of a kernel reference. Throws: SpecError (unknown built-in, or not the buffers it needs), CudaError.
  Reference(const spec::KernelTemplate& kernel, Support& support, const std::string& cubin);

  [[nodiscard]] bool present() const noexcept { return kernel_->reference.kind != spec::ReferenceSpec::Kind::None; }
  /// Built-in minimum or maximum: extremes are planted for these.
  [[nodiscard]] bool selects_extreme(const spec::Problem& problem) const;
  /// The input of a built-in reduction. Requires: a built-in reference.
  [[nodiscard]] std::size_t input() const noexcept { return input_; }
  /// The answers for the data that is in the buffers now; runs the reference kernel into the outputs. Waits.
  [[nodiscard]] Expectation expect(const Located& located);
  /// What is wrong with the outputs, or nothing. Waits.
  [[nodiscard]] std::optional<std::string> judge(const Located& located, DataSet data, const Expectation& expectation);
  /// For a built-in minimum or maximum whose input holds this one extreme.
  [[nodiscard]] std::optional<std::string> judge_planted(const Located& located, std::uint64_t planted_bits);

 private:
  void find_reduce_buffers();
  [[nodiscard]] std::optional<std::string> judge_reduce(const Located& located, DataSet data, const Totals& totals);
  [[nodiscard]] std::optional<std::string> judge_sum(const Located& located, DataSet data, const Totals& totals,
                                                     std::uint64_t got);
  [[nodiscard]] std::optional<std::string> judge_extreme(const Located& located, std::uint64_t wanted_bits,
                                                         std::uint64_t got);
  void run_kernels(const Located& located);

  const spec::KernelTemplate* kernel_;
  Support* support_;
  std::optional<gpu::Module> module_;
  std::size_t input_ = 0;
  std::size_t output_ = 0;
};

}  // namespace attune::measure
