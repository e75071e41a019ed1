#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/fake_gpu/fake_gpu.hpp"

namespace attune::test {

/// What online_program said, by the order of its events.
struct Said {
  int exit_code = 0;
  std::string errors;
  std::vector<nlohmann::json> events;

  /// The last event of a kind; null when there was none.
  [[nodiscard]] nlohmann::json last(const std::string& event) const;
  [[nodiscard]] std::vector<nlohmann::json> all(const std::string& event) const;
  /// Notices of the last "counters" event with `words` in them.
  [[nodiscard]] std::vector<std::string> notices_with(const std::string& words) const;
};

/// A program that dispatches the template tests/support/fake_templates/brief on the fake driver, and tunes on a miss.
struct OnMissProgram : FakeGpu {
  /// `options` and steps of online_program.cpp; databases are the default ones.
  [[nodiscard]] std::vector<std::string> words(const std::string& on_miss, const std::vector<std::string>& steps,
                                               const std::vector<std::string>& options = {}) const;
  [[nodiscard]] Said program(const std::string& on_miss, const std::vector<std::string>& steps,
                             const std::vector<std::string>& options = {}) const;
  /// Tunes one size beforehand with the command.
  void tune(const std::string& sizes) const;
};

inline constexpr const char* kInMemory = "kept in memory until this program ends";
/// Wants two tunings whose results nothing took but memory; `place` names the figures.
void check_kept_in_memory(const Said& said, const std::string& place);

/// The configuration that is the best at every size, and the default.
[[nodiscard]] nlohmann::json best_configuration();
[[nodiscard]] nlohmann::json default_configuration();

}  // namespace attune::test
