#pragma once
#include <cstdint>
#include <vector>

#include "tuner/search/strategy.hpp"
#include "tuner/simulate/recorded_space.hpp"
#include "tuner/simulate/score.hpp"

namespace attune::simulate {

/// Lets a strategy search a recorded space, each proposal answered at once by what the file says, until it has had so many or proposes
/// nothing more. The same options give the same proposals. Throws: Error when the strategy proposes a configuration twice or one
/// outside the space; what make_strategy throws.
[[nodiscard]] std::vector<space::Ordinal> run_search(const RecordedSpace& recorded, const search::StrategyOptions& options,
                                                     std::uint64_t evaluations);

/// The same with a strategy that is there already, and has made no proposal yet.
[[nodiscard]] std::vector<space::Ordinal> run_search(const RecordedSpace& recorded, search::Strategy& strategy, std::uint64_t evaluations);

/// The runs of one strategy: number r of `runs` has the seed of the options and r more. In that order, on as many threads as this process
/// has processors. Throws: what `run_search` throws.
[[nodiscard]] std::vector<std::vector<space::Ordinal>> run_searches(const RecordedSpace& recorded, const search::StrategyOptions& options,
                                                                    std::uint64_t evaluations, std::size_t runs);

/// What a run found.
[[nodiscard]] Trace trace_of(const RecordedSpace& recorded, const std::vector<space::Ordinal>& proposals);

}  // namespace attune::simulate
