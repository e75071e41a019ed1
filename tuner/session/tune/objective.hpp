#pragma once
#include <string>
#include <vector>

#include "tuner/session/tune/finalists.hpp"
#include "tuner/session/tune/problem_context.hpp"

namespace attune::session {

/// `decide` by what the template's objective makes of the samples' times and the configurations' power. Times of what is placed stay
/// times; ratios are of the costs. `measurements`: of each of the samples' configurations. Throws: SpecError (spec::cost_of).
[[nodiscard]] Decided decide_by_objective(const ProblemContext& context, const RunOffSamples& samples,
                                          const std::vector<measure::Measurement>& measurements, const std::string& default_configuration);

/// Adds to the best row's detail what the template's metrics are of it, and its objective with the value of the default beside it, where
/// that ran off; nothing where the template has neither. Throws: SpecError.
void add_metrics(const ProblemContext& context, const Decided& decided, const std::vector<measure::Measurement>& measurements,
                 const std::string& default_configuration, db::BestRow& best);

/// What a stored row is better by: its cost where its detail tells one, else its time.
[[nodiscard]] double cost_of_row(const db::BestRow& row);

}  // namespace attune::session
