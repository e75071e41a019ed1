#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "tuner/measure/measurement.hpp"
#include "tuner/session/tune/finalists.hpp"
#include "tuner/space/launch_classes.hpp"
#include "tuner/space/search_space.hpp"

namespace attune::session {

/// What the search remembers of a configuration; the rest is in the database. Small: spaces have millions.
struct Known {
  float low_cost = 0;
  float high_cost = 0;
  double cost = 0;    ///< what the search makes small: the median time, in us, unless the template has an objective of its own
  float time_us = 0;  ///< the median
  measure::Outcome outcome = measure::Outcome::Ok;
  measure::Stage stage = measure::Stage::None;
  bool may_win = false;  ///< it was verified, or there is nothing to verify with
  bool decided = false;

  /// Measured to the end, not only screened.
  [[nodiscard]] bool measured() const {
    return decided && outcome == measure::Outcome::Ok && stage != measure::Stage::Screened && cost > 0;
  }
};

/// What the search makes small of a measurement: of the median time, and of the ends of its interval. 0: it failed, or has none.
struct Cost {
  double middle = 0, low = 0, high = 0;
};

/// The median time, as exactly as it is known: where tuning is for the time it is the cost.
[[nodiscard]] inline double time_of(const spec::KernelTemplate& kernel, const Known& known) {
  return kernel.objective ? static_cast<double>(known.time_us) : known.cost;
}

/// Everything decided for one problem, in this run or an earlier one, by ordinal of its space.
class SearchMemory {
 public:
  /// `verifiable`: whether the template has a reference; else whoever works may win.
  void begin(std::uint64_t space_size, bool verifiable) {
    known_.assign(space_size, {});
    decided_.clear();
    verifiable_ = verifiable;
  }
  void remember(space::Ordinal ordinal, const measure::Measurement& measurement, const Cost& cost);
  [[nodiscard]] const Known& operator[](space::Ordinal ordinal) const { return known_[ordinal]; }
  /// In the order of their decisions.
  [[nodiscard]] const std::vector<space::Ordinal>& decided() const noexcept { return decided_; }
  /// All that may win and are measured to the end, the best first.
  [[nodiscard]] std::vector<space::Ordinal> best() const;
  /// Whether the interval of the best lies apart from every other's, among those that `counts` admits. False when nothing was
  /// measured.
  [[nodiscard]] bool best_is_apart(const std::function<bool(space::Ordinal)>& counts) const;
  [[nodiscard]] std::uint64_t working() const;

 private:
  std::vector<Known> known_;
  std::vector<space::Ordinal> decided_;
  bool verifiable_ = true;
};

/// Everything that may be a finalist: the `most` best and those `joining` them, none with the launches of another. Texts are made only
/// for them.
[[nodiscard]] std::vector<Candidate> candidates_of(const SearchMemory& memory, const spec::KernelTemplate& kernel,
                                                   const space::SearchSpace& space, space::LaunchClasses& launches,
                                                   const std::vector<std::string>& joining, std::size_t most);

}  // namespace attune::session
