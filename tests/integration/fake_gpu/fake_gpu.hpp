#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "tests/support/command.hpp"
#include "tests/support/temp_folder.hpp"

namespace attune::test {

/// The real `attune` on machines of our making: folders and database of its own, the fake driver in LD_LIBRARY_PATH. The
/// cache of cubins is shared by all tests of one run of ctest, which begins with none: what compiles is not the question here.
struct FakeGpu {
  FakeGpu();

  /// Runs `attune words...` with the settings as they are now.
  [[nodiscard]] CommandResult attune(std::vector<std::string> words) const;
  /// Starts it and leaves it running; standard output goes to the file `output()`. Returns the process id.
  [[nodiscard]] int start(std::vector<std::string> words) const;
  [[nodiscard]] std::string output() const;
  /// The same for another program of these tests.
  [[nodiscard]] CommandResult run_program(const std::vector<std::string>& words) const;
  [[nodiscard]] int start_program(const std::vector<std::string>& words, const std::string& output_file) const;
  /// `tune` on the template tests/support/fake_templates/synthetic; `faults`: none, matrix, quick, many.
  [[nodiscard]] std::vector<std::string> tune_words(const std::string& faults, const std::vector<std::string>& more = {}) const;

  /// Every stored record; empty while there is no database.
  [[nodiscard]] std::vector<db::RecordRow> records() const;
  /// Whether a configuration has been handed to a GPU worker and not been answered.
  [[nodiscard]] bool on_device() const;
  /// Processes of this world that run, `word` in their command line.
  [[nodiscard]] std::vector<int> processes(const std::string& word) const;

  [[nodiscard]] std::map<std::string, std::string> full_environment() const;

  TempFolder folder;
  std::string database;     ///< path, not created yet
  nlohmann::json settings;  ///< of the driver: ATTUNE_FAKE_CUDA
  std::map<std::string, std::string> environment;
};

/// The JSON objects of an output's lines; a line that a kill tore off is left out.
[[nodiscard]] std::vector<nlohmann::json> json_lines(const std::string& text);

/// A record's configuration, parsed.
[[nodiscard]] nlohmann::json configuration_of(const db::RecordRow& record);
/// Why it failed, in the stored sentence.
[[nodiscard]] std::string detail_of(const db::RecordRow& record);

}  // namespace attune::test
