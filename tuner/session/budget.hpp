#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attune::session {

/// How much a tuning run may spend. Text forms: "60s", "5m" (wall time of the whole command, shared by its problems),
/// "500" (configurations for each problem), "25%" (of each problem's space).
struct Budget {
  std::optional<double> seconds;
  std::optional<std::uint64_t> configurations;
  double fraction = 1;  ///< of the space, when neither of the others is given

  /// Throws: UsageError naming the text and the accepted forms.
  [[nodiscard]] static Budget parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  /// Configurations that may be tried in a space of this size (time is checked elsewhere).
  [[nodiscard]] std::uint64_t limit(std::uint64_t space_size) const;
};

}  // namespace attune::session
