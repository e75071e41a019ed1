#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/prepared.hpp"

namespace attune::measure {

/// Runs a configuration in every case of its problem and compares with the right answers
/// (docs/decisions/0004-measuring.md).
class Verifier {
 public:
  explicit Verifier(Support& support) : support_(&support) {}

  /// What is wrong, in a sentence that names the case; nothing when everything is right. Cases in which the template's
  /// constraints do not hold, and of a configuration that is specialised on its sizes those of other sizes, are left out. Leaves window 0 with the Random data. Throws: CudaError, SpecError, Error.
  [[nodiscard]] std::optional<std::string> verify(Prepared& prepared, GpuProblem& problem);
  /// After timing: the outputs of window 0 and the configuration's own scratch.
  [[nodiscard]] std::optional<std::string> check_timed(Prepared& prepared, GpuProblem& problem);

 private:
  struct Run;  ///< one case's plan, call and addresses
  struct Plant;
  [[nodiscard]] std::optional<std::string> verify_case(Prepared& prepared, GpuProblem& problem,
                                                       GpuProblem::Case& which);
  [[nodiscard]] std::optional<std::string> pass(Run& run, GpuProblem& problem, DataSet data);
  [[nodiscard]] std::optional<std::string> plant_extremes(Run& run, GpuProblem& problem,
                                                          const spec::Configuration& configuration);
  [[nodiscard]] std::optional<std::string> plant_rows(Run& run, GpuProblem& problem, const std::vector<Plant>& plants);
  [[nodiscard]] std::optional<std::string> plant_at_once(Run& run, GpuProblem& problem, const std::vector<Plant>& plants, const ElementAt& result);
  [[nodiscard]] static std::string when_planted(const std::string& wrong, const Plant& plant);
  /// For a built-in reduce, in the asked case: NaN, infinities and what cancels. May leave an input of NaN.
  [[nodiscard]] std::optional<std::string> plant_specials(Run& run, GpuProblem& problem);
  /// For a built-in arg_reduce: ties, NaN, infinities, and inputs of one value. Leaves an input of NaN or all ones.
  [[nodiscard]] std::optional<std::string> plant_candidates(Run& run, GpuProblem& problem,
                                                            const spec::Configuration& configuration);

  Support* support_;
  gpu::Buffer scratch_;  ///< shared by all cases, grown on demand
  gpu::Buffer planted_;  ///< what is planted, what was there, and the results: a word each, grown on demand
};

}  // namespace attune::measure
