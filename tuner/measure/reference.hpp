#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/buffer_layout.hpp"
#include "tuner/measure/cases.hpp"
#include "tuner/measure/histogram_reference.hpp"
#include "tuner/measure/reduce_reference.hpp"
#include "tuner/measure/row_reference.hpp"
#include "tuner/measure/support.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::measure {

/// What a problem's outputs must be for one data set.
struct Expectation {
  ReduceAnswers reduced;                  ///< of a built-in "reduce"
  std::optional<ExtremeElement> extreme;  ///< of the input of a built-in "arg_reduce"
  RowAnswers rows;                        ///< of a built-in "segmented_reduce"
  HistogramExpectation histogram;         ///< of a built-in "histogram"
  std::vector<gpu::Buffer> wanted;  ///< of a kernel reference: by buffer index, allocated for outputs only
  std::vector<double> scales;       ///< mean |wanted| of each
};

/// Buffers of one case and where they are.
struct Located {
  const spec::Problem* problem;
  const std::vector<spec::ResolvedBuffer>* buffers;
  Addresses addresses;  ///< data buffers only; scratch is the user's
};

/// The right answers: built-in reductions and histograms, in double precision or exact, or a plain kernel of the template.
class Reference {
 public:
  /// `cubin`: of a plain kernel of the template, for problems that ask for it. Throws: SpecError (unknown built-in, or not
  /// the buffers it needs), CudaError.
  Reference(const spec::KernelTemplate& kernel, Support& support, const std::string& cubin);

  [[nodiscard]] bool present() const noexcept { return kernel_->reference.kind != spec::ReferenceSpec::Kind::None; }
  /// A built-in reduction other than a sum: elements that decide the result are planted for these.
  [[nodiscard]] bool plants(const spec::Problem& problem) const;
  /// Built-in arg_reduce: candidates are planted for it.
  [[nodiscard]] bool finds_index() const noexcept { return builtin_ == Builtin::ArgReduce; }
  /// How a buffer is filled where the reference asks for other data than any: products, which neither vanish nor overflow,
  /// bits, samples of a histogram, and what the built-in leaves to a kernel, whose results are exact in any order only for
  /// small integers. `group`: of windows.
  [[nodiscard]] std::optional<Filling> own_filling(const Located& located, std::size_t buffer, DataSet data, int group) const;
  /// What stands around a buffer, where the extremes of its type would not show when they are read: samples that count.
  [[nodiscard]] std::optional<GuardValues> guard_values(const Located& located, std::size_t buffer) const;
  /// What the asked case is verified with; every other one with the first and the last of them.
  [[nodiscard]] std::vector<DataSet> data_sets(const Located& located) const;
  /// How many groups of windows timing needs, whose data differ in kind: docs/measurement.md.
  [[nodiscard]] int groups(const Located& located) const;
  /// Of the matrix that a built-in reduces row by row; 0 for every other reference.
  [[nodiscard]] std::int64_t columns(const spec::Problem& problem) const;
  /// Device memory that the answers to one case take, all data sets together.
  [[nodiscard]] std::size_t answer_bytes(const std::vector<spec::ResolvedBuffer>& buffers) const;
  /// The input of a built-in reduction. Requires: a built-in reference.
  [[nodiscard]] std::size_t input() const noexcept { return input_; }
  /// The answers for the data that is in the buffers now; runs the reference kernel into the outputs. Waits.
  [[nodiscard]] Expectation expect(const Located& located, DataSet data);
  /// Adds the special cases of a built-in "reduce", whose Random data are in the buffers. Waits.
  void expect_specials(const Located& located, Expectation& expectation);
  /// What is wrong with the outputs, or nothing. Waits.
  [[nodiscard]] std::optional<std::string> judge(const Located& located, const Expectation& expectation);
  /// What is put in place of the element `before` of the Integers data; nothing where none would decide the result.
  [[nodiscard]] std::optional<std::uint64_t> planted_bits(const Located& located, std::int64_t position, std::uint64_t before,
                                                          const Expectation& expectation);
  /// The only element that a built-in "reduce" writes; nothing for every other reference.
  [[nodiscard]] std::optional<ElementAt> only_result(const Located& located) const;
  /// For a built-in that has an only_result, which was `got` when its input held `planted` instead of `before` at `position`. Waits where there is a second input.
  [[nodiscard]] std::optional<std::string> judge_planted(const Located& located, std::int64_t position, std::uint64_t before,
                                                         std::uint64_t planted, const Expectation& expectation, std::uint64_t got);
  /// For a built-in by rows whose input holds `planted` at `position`. Waits.
  [[nodiscard]] std::optional<std::string> judge_planted_row(const Located& located, std::int64_t position, std::uint64_t planted,
                                                             const Expectation& expectation);
  /// For a built-in "reduce" whose input is that of a special case. Waits.
  [[nodiscard]] std::optional<std::string> judge_special(const Located& located, const SpecialCase& special);

 private:
  enum class Builtin { None, Reduce, ArgReduce, Rows, Histogram };

  void find_buffers();
  [[nodiscard]] bool by_rows() const noexcept { return builtin_ == Builtin::Rows; }
  /// Whether the plain kernel of the template computes the answer.
  [[nodiscard]] bool by_kernel(const spec::Problem& problem) const;
  [[nodiscard]] RowCase row_case(const Located& located) const;
  [[nodiscard]] HistogramCall histogram_call(const Located& located) const;
  [[nodiscard]] ReduceCase reduce_case(const Located& located) const;
  [[nodiscard]] std::optional<std::string> judge_arg(const Located& located,
                                                     const std::optional<ExtremeElement>& wanted);
  [[nodiscard]] std::optional<std::string> judge_kernel(const Located& located, const Expectation& expectation);
  void run_kernels(const Located& located);

  const spec::KernelTemplate* kernel_;
  Support* support_;
  std::optional<gpu::Module> module_;
  RowReference row_reference_;
  ReduceReference reduce_reference_;
  HistogramReference histogram_reference_;
  std::size_t input_ = 0;
  std::size_t other_ = 0;  ///< the second input of Reduce, where there is one; else the first
  Builtin builtin_ = Builtin::None;
  std::size_t output_ = 0;  ///< the value
  std::size_t index_ = 0;   ///< of ArgReduce
};

}  // namespace attune::measure
