#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/verify/case_reference.hpp"
#include "tuner/verify/cases.hpp"
#include "tuner/verify/stated_data.hpp"
#include "tuner/verify/untimed.hpp"

namespace attune::verify {

/// Every problem's data sets begin with these.
constexpr std::size_t kIntegers = 0;  ///< of exact results, where there are any
constexpr std::size_t kRandom = 1;    ///< timing uses it

/// One situation in which configurations are verified, with its data and their right answers.
struct Case {
  CasePlan plan;
  std::vector<spec::ResolvedBuffer> buffers;
  BufferLayout layout;
  std::optional<StatedData> stated;  ///< always there
  gpu::Buffer memory;                ///< of as many windows as were asked for
  std::optional<UntimedCall> setup;  ///< that all configurations share
  gpu::Buffer setup_scratch;
  bool setup_is_known = false;                                    ///< that it does only what it may
  std::unique_ptr<CaseReference> reference;                       ///< of a Defined reference that does not leave the problem
  std::vector<std::optional<Expectation>> expectations;           ///< by data set; nothing: it is not verified with it, or against nothing
  std::map<std::pair<std::size_t, std::int64_t>, Plants> plants;  ///< by data set and tile
  /// Whether the reference has answers for this case and the configuration that was asked for last; without them nothing is verified in it.
  /// The asked case has them once the problem is adapted.
  bool answered = false;
};

/// The data of every case that a problem is verified in. The asked case may have several windows, complete sets of data buffers; window 0
/// is what configurations are verified on.
class ProblemData {
 public:
  /// `cubin`: the reference's own code, or that of a plain kernel of the template; empty without. `setup_cubin`: of setup_program.
  /// Throws: SpecError, CudaError, Error (the reference's kernels).
  ProblemData(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& cubin, Support& support,
              const std::string& setup_cubin = {});
  ProblemData(const ProblemData&) = delete;
  ProblemData& operator=(const ProblemData&) = delete;

  [[nodiscard]] const spec::KernelTemplate& kernel() const noexcept { return *kernel_; }
  [[nodiscard]] std::vector<Case>& cases() noexcept { return cases_; }
  [[nodiscard]] Case& asked() noexcept { return cases_.front(); }
  [[nodiscard]] const Case& asked() const noexcept { return cases_.front(); }
  /// Whether the results of the asked case are compared with anything, of the data that is timed.
  [[nodiscard]] bool has_answers() const;
  /// Kinds of data that the problem is timed on, one for each group of windows.
  [[nodiscard]] int groups() const;
  /// Device memory of everything but the asked case's data: the other cases, what is expected of all of them, and what computing that
  /// takes besides.
  [[nodiscard]] std::size_t fixed_bytes() const;
  /// Throws: EnvironmentError.
  void allocate(int windows);
  /// Computes every answer anew, for a configuration where the answer depends on it; none stands when it throws. Leaves window 0 with the
  /// random data. Waits. Throws: ReferenceRefusal (of the asked case), ReferenceError, EnvironmentError (memory), CudaError.
  void expect_all(const spec::Configuration& configuration);
  /// Calls expect_all where not all answers stand, or where they are those of another configuration.
  void adapt(const spec::Configuration& configuration);
  /// Adapts only what is timed: the asked case's random data and its answer. Equal results, equal data; the result is empty unless the
  /// reference depends on parameters.
  std::string adapt_timed(const spec::Configuration& configuration);

  [[nodiscard]] const std::vector<spec::DataSetSpec>& data_sets() const noexcept { return *data_sets_; }
  /// Whether the case is verified with a data set.
  [[nodiscard]] bool uses(const Case& which, std::size_t data) const;
  /// Whether a call changes its own input, so that windows must be restored.
  [[nodiscard]] bool has_in_out() const;
  /// Whether the thread that plants can do what `restore` does: then `outputs` tells it how.
  [[nodiscard]] bool restores_by_planting(const Case& which, reference::Outputs& outputs) const;

  /// Addresses of a case's data buffers in a window (0 unless it is the asked case); scratch is 0.
  [[nodiscard]] Addresses addresses(const Case& which, int window = 0) const;
  [[nodiscard]] static Elements elements(const Case& which, std::size_t buffer, const Addresses& addresses);
  /// Has the prepared buffers of a window written from the inputs that are in it, by the setup that all configurations share; `own`: by
  /// that of a configuration, where each has its own. Nothing where there is neither. To be called behind fill and restore, and wherever an
  /// input was changed.
  void set_up(Case& which, const UntimedCall* own, int window = 0);
  /// Remembers what window 0 holds of them, for check_untouched.
  void keep_prepared(Case& which);
  /// Inputs get their data, pure outputs a poison (NaN for floating types), guards their extremes.
  void fill(Case& which, std::size_t data, Guard variant, int window = 0, int group = 0);
  /// Only the buffers that a call changes.
  void restore(Case& which, std::size_t data, int window = 0, int group = 0);
  /// Labels of what was written that must not be: guards, pure inputs and prepared buffers. Between begin_checks and findings.
  void check_untouched(Case& which, std::size_t data, Guard variant);

 private:
  void bind_reference(Case& which, const spec::Configuration& configuration);
  /// What the answers depend on: the problem alone, unless the reference depends on parameters.
  [[nodiscard]] std::string answers_text(const spec::Configuration& configuration) const;
  /// The shared setup, the first time: whether it writes prepared buffers and nothing else. Waits. Throws: ReferenceError.
  void try_setup(Case& which);
  [[nodiscard]] std::size_t most_copy_bytes() const;
  [[nodiscard]] bool is_compared(std::size_t buffer) const;
  void expect_case(Case& which, const spec::Configuration& configuration);
  void expect(Case& which, std::size_t data);
  [[nodiscard]] AnswerMemory answer_memory(const Case& which) const;
  [[nodiscard]] spec::LaunchPlan plan_by_kernel(const Case& which) const;
  [[nodiscard]] Expectation expect_by_kernel(Case& which);
  [[nodiscard]] Expectation expect_by_files(const Case& which) const;
  /// Fills an input or, with `what`, checks it.
  void fill_input(Case& which, std::size_t buffer, const Elements& target, std::size_t data, int window, int group,
                  const std::string* what);
  [[nodiscard]] spec::DataValues values(const spec::ResolvedBuffer& buffer, std::size_t data) const;

  const spec::KernelTemplate* kernel_;
  Support* support_;
  PreparedBuffers prepared_;
  std::optional<gpu::Module> module_;
  bool by_kernel_ = false;  ///< the plain kernel of the template computes the answer
  const std::vector<spec::DataSetSpec>* data_sets_;
  std::vector<Case> cases_;
  std::optional<std::string> answers_of_;  ///< the answers_text of all answers; nothing: not all stand
  std::optional<std::string> timed_of_;    ///< the same of the asked case's random data
};

}  // namespace attune::verify
