#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/command.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"

namespace attune::test {

/// The real `attune` executable in a world of its own: HOME, XDG folders and database in a temporary folder, no
/// template path, and a small template with a made-up recording (there is no GPU here).
struct Cli {
  Cli();

  /// Runs `attune words...`.
  [[nodiscard]] CommandResult attune(std::vector<std::string> words) const;
  [[nodiscard]] CommandResult attune(std::vector<std::string> words, std::map<std::string, std::string> more) const;
  /// The words of the tuning run that most tests use.
  [[nodiscard]] std::vector<std::string> tune_words(const std::vector<std::string>& more = {}) const;
  void write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;

  TempFolder folder;
  std::string database;   ///< path, not created yet
  std::string kernel;     ///< folder of the small template
  std::string recording;  ///< of it, at n = 1000 and 100000, on an imaginary sm_90 device
  std::map<std::string, std::string> environment;
  std::uint64_t space_size = 0;  ///< of each of the two problems
};

/// What `--json` prints: an object a line.
[[nodiscard]] std::vector<nlohmann::json> json_lines(const std::string& text);

}  // namespace attune::test
