#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::bench {

/// What a search's winner is held against.
enum class MarkKind {
  Recorded,    ///< what won where a whole space was measured
  Found,       ///< the fastest that anybody found: a faster one takes its place
  Dispatched,  ///< what the shipped database has the problem dispatched with
};

struct Mark {
  MarkKind kind = MarkKind::Found;
  std::string configuration;  ///< canonical JSON; empty where it is Dispatched
  std::string from;           ///< where it comes from, in words
};

/// A problem that is searched within a budget, and how near to its mark the winner is to be.
struct SearchCase {
  std::string name;
  std::string template_name;  ///< a built-in name or a folder
  spec::Problem problem;
  std::vector<std::string> options;  ///< further words of the tune command
  double budget_s = 0;
  double goal_behind = 0;                ///< time over the mark's, less 1
  std::optional<double> goal_command_s;  ///< nothing: the command may take what it takes
  Mark mark;
  std::map<std::string, Mark> marks_on = {};  ///< of devices that have one of their own, by name
};

/// The tune command's words that say what is tuned, without "tune" itself.
[[nodiscard]] std::vector<std::string> words_of(const SearchCase& one);

/// Whether a winner is good enough, by its paired time over the mark's less 1 and the interval's lower end. As good as the mark (a goal of
/// 0) is also what cannot be told from it.
[[nodiscard]] bool reaches(const SearchCase& one, double behind, double behind_low, double command_s);

/// The cases of the benchmark: {"cases": [{"case", "template", "problem", "options"?, "budget_s", "goal_behind", "goal_command_s"?, "mark":
/// {"is": "recorded" | "found" | "dispatched", "configuration", "from", "on"?: {device's name: {"configuration", "from"}}}}]}. A template
/// with a '/' is a folder relative to the file's.
class CaseFile {
 public:
  /// Throws: UsageError naming the file and what is wrong with it.
  explicit CaseFile(std::filesystem::path path);

  [[nodiscard]] const std::vector<SearchCase>& cases() const noexcept { return cases_; }
  /// Those of these names, in their order; all where none is named. Throws: UsageError naming one that is unknown.
  [[nodiscard]] std::vector<SearchCase> named(const std::vector<std::string>& names) const;
  /// Writes the file with another mark of this case; the rest of it stays. Requires: the case's mark is Found. Throws: EnvironmentError.
  void replace_mark(const std::string& name, const std::string& configuration, const std::string& from);

 private:
  std::filesystem::path path_;
  std::vector<SearchCase> cases_;
};

}  // namespace attune::bench
