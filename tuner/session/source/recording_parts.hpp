#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/session/source/recording.hpp"

/// What the reader and the writer of recordings share.
namespace attune::session::recording {

inline constexpr int kFormatVersion = 1;

/// One column of the measurement table: where the value stands in measure::to_json, and the step it is rounded to
/// (0: exact). Rounding is what makes a space of 20,000 configurations compress; the steps are far below the noise.
struct Column {
  const char* name;
  nlohmann::json::json_pointer place;
  double step;
};

[[nodiscard]] const std::vector<Column>& columns();
/// Those of the power, which a problem has where it was measured of some configuration; 0: not of this one.
[[nodiscard]] const std::vector<Column>& power_columns();

[[nodiscard]] inline bool is_compressed(const std::filesystem::path& path) { return path.extension() == ".zst"; }

/// For messages: a text of others may be long.
[[nodiscard]] std::string shortened(const std::string& text);
/// The first text that is there twice; nothing when each is there once.
[[nodiscard]] std::optional<std::string> first_double(const std::vector<std::string>& texts);
/// What makes a problem's parts contradict each other; empty when they agree.
[[nodiscard]] std::string contradiction(const RecordedProblem& problem);

}  // namespace attune::session::recording
