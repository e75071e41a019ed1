#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attune/options.hpp"
#include "tuner/runtime/rank_texts.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::runtime {

/// What all ranks of a job dispatch a problem with.
struct AgreedPlan {
  std::string configuration;        ///< canonical JSON
  std::optional<std::size_t> rank;  ///< whose proposal it is; nothing: the template's default, which no rank proposed
  bool unanimous = false;           ///< every rank proposed it
  std::string why_default = {};     ///< where it is no rank's: why no proposal was taken
};

/// What ranks agree on, by what all of them have told: each computes it alone, and all the same. Where all propose one configuration, that.
/// Else, on one architecture, the best proposal that every device of the job can take (it is in the template's space, and constraints and
/// geometry hold there); on several, or where none can, the default of the first device whose default every device can take. A better
/// proposal is of an earlier tier, then of a donor nearer in size, then faster, then of a lower rank. A rank that has no proposal asks for
/// nothing, and its device counts. Nothing where no rank has one: each has a failure of its own to tell.
/// Requires: `ranks` in the order of the ranks. Throws: AgreementError (templates differ; nothing that every device can take),
/// NotTunedError (a default that no rank proposed, and `on_miss` is Error).
[[nodiscard]] std::optional<AgreedPlan> agree_on(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                                 const std::vector<RankPlan>& ranks, OnMiss on_miss);

}  // namespace attune::runtime
