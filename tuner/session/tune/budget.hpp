#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attune::session {

/// How much a tuning run may spend. Text form: one limit or a comma list, of which the first that is reached ends the
/// search: "60s", "5m" (wall time of the whole command, shared by its problems), "500" (configurations for each
/// problem), "25%" (of each problem's space), "separated" (the best's interval lies apart from every other's).
struct Budget {
  std::optional<double> seconds;
  std::optional<std::uint64_t> configurations;
  double fraction = 1;           ///< of the space
  bool until_separated = false;  ///< the search may stop as soon as the best is told apart from all others
  bool until_converged = false;  ///< the search may stop as soon as little is expected of what is left

  /// Throws: UsageError naming the text and the accepted forms; also when a kind of limit is given twice.
  [[nodiscard]] static Budget parse(std::string_view text);
  /// What `parse` reads back as the same budget.
  [[nodiscard]] std::string text() const;
  /// Configurations that may be tried in a space of this size (time and separation are checked elsewhere).
  [[nodiscard]] std::uint64_t limit(std::uint64_t space_size) const;
};

/// What the run-off of a problem may take after a search of `search_s`: a fifth of that, or its part of 3 s for all `problems` of a command
/// where that is more.
[[nodiscard]] double run_off_seconds(double search_s, std::size_t problems);

}  // namespace attune::session
