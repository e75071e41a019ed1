#include "bench/support/standing.hpp"

#include <string>

namespace attune::bench {

Json standing(const simulate::SearchScore& scale, const std::vector<simulate::Trace>& traces, std::uint64_t budget) {
  const auto score = scale.score(traces);
  std::size_t evaluations_made = 0;
  for (const auto& trace : traces) evaluations_made += trace.size();
  Json row{{"runs", traces.size()},
           {"evaluations", static_cast<double>(evaluations_made) / static_cast<double>(traces.size())},
           {"score", score ? Json(*score) : Json()}};
  for (const std::uint64_t evaluations : {25, 50, 100, 200})
    if (evaluations <= budget) row["at_" + std::to_string(evaluations)] = scale.fraction_of_optimum(traces, evaluations);
  return row;
}

}  // namespace attune::bench
