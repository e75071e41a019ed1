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
  float low_us = 0;
  float high_us = 0;
  double median_us = 0;
  measure::Outcome outcome = measure::Outcome::Ok;
  measure::Stage stage = measure::Stage::None;
  bool may_win = false;  ///< it was verified, or there is nothing to verify with
  bool decided = false;

  /// Measured to the end, not only screened.
  [[nodiscard]] bool measured() const {
    return decided && outcome == measure::Outcome::Ok && stage != measure::Stage::Screened && median_us > 0;
  }
};

/// Everything decided for one problem, in this run or an earlier one, by ordinal of its space.
class SearchMemory {
 public:
  /// `verifiable`: whether the template has a reference; else whoever works may win.
  void begin(std::uint64_t space_size, bool verifiable) {
    known_.assign(space_size, {});
    decided_.clear();
    verifiable_ = verifiable;
  }
  void remember(space::Ordinal ordinal, const measure::Measurement& measurement);
  [[nodiscard]] const Known& operator[](space::Ordinal ordinal) const { return known_[ordinal]; }
  /// In the order of their decisions.
  [[nodiscard]] const std::vector<space::Ordinal>& decided() const noexcept { return decided_; }
  /// All that may win and are measured to the end, the fastest first.
  [[nodiscard]] std::vector<space::Ordinal> fastest() const;
  /// Whether the interval of the fastest lies apart from every other's, among those that `counts` admits. False when nothing was
  /// measured.
  [[nodiscard]] bool best_is_apart(const std::function<bool(space::Ordinal)>& counts) const;
  [[nodiscard]] std::uint64_t working() const;

 private:
  std::vector<Known> known_;
  std::vector<space::Ordinal> decided_;
  bool verifiable_ = true;
};

/// Everything that may be a finalist: the `most` fastest and those `joining` them, none with the launches of another. Texts are made only
/// for them.
[[nodiscard]] std::vector<Candidate> candidates_of(const SearchMemory& memory, const spec::KernelTemplate& kernel,
                                                   const space::SearchSpace& space, space::LaunchClasses& launches,
                                                   const std::vector<std::string>& joining, std::size_t most);

}  // namespace attune::session
