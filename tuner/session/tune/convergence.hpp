#pragma once
#include <cstddef>
#include <vector>

namespace attune::session {

/// Whether a search has come to where little is to be gained: less than kLittleGain of the best time has been expected, in the mean, of as
/// many proposals as it took to come near the best. In the mean: a fresh look at the space finds single ones of which more is hoped, which
/// the next results correct.
class Convergence {
 public:
  static constexpr double kLittleGain = 0.005;
  static constexpr std::size_t kFewest = 20;  ///< proposals, however soon the best was found

  /// `gain`: what the strategy expects of its latest proposal, of the best time.
  void note(double gain) { gains_.push_back(gain); }

  /// `found_at`: evaluations that it took to come within kLittleGain of the best.
  [[nodiscard]] bool is_reached(std::size_t found_at) const;
  /// The latest proposals that is_reached looks at.
  [[nodiscard]] static std::size_t looked_at(std::size_t found_at);

 private:
  std::vector<double> gains_;  ///< by proposal
};

}  // namespace attune::session
