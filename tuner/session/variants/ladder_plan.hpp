#pragma once
#include <cstdint>
#include <vector>

#include "tuner/session/tune/budget.hpp"
#include "tuner/space/build_watch.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/variant_ladder.hpp"

namespace attune::session {

/// Who says how many configurations of a rung are tried.
enum class LadderEffort {
  AsTheLadderSays,  ///< the rung's `sample`; without one all of up to kWholeRung, of more kRungSample
  AsTheRequestSays  ///< budget and strategy of the request, for every rung
};

inline constexpr std::uint64_t kWholeRung = 4096;
inline constexpr std::uint64_t kRungSample = 1000;

/// A rung of at most `whole_up_to` configurations is tried whole, of a larger one `sample` at random; both 0: as the request says.
struct RungEffort {
  std::uint64_t whole_up_to = 0;
  std::uint64_t sample = 0;
};

[[nodiscard]] RungEffort effort_of(const spec::Rung& rung, LadderEffort effort);

/// What a ladder does on one problem, with nothing known before.
struct LadderPlan {
  std::vector<std::uint64_t> rung_sizes;  ///< configurations of each rung
  /// At most so many are tried: what several rungs try whole is counted once, while what a sample draws may have been tried by others.
  std::uint64_t configurations = 0;
};

/// `budget` counts when the request says. Throws: SpecError, as the space does.
[[nodiscard]] LadderPlan plan_ladder(const spec::KernelTemplate& kernel, const spec::VariantLadder& ladder, LadderEffort effort,
                                     const Budget& budget, const spec::Problem& problem, const spec::DeviceInfo& device,
                                     const space::BuildWatch& watch = {});

}  // namespace attune::session
