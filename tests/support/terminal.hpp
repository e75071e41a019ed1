#pragma once
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace attune::test {

/// A program on a terminal of its own, as a person runs it: both outputs are that terminal, and what is typed reaches it; "\x03" is
/// Ctrl-C. The program is killed when this object goes.
class Terminal {
 public:
  Terminal(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Reads until `part` has been shown; false when the program ends, or `most` passes, before it.
  [[nodiscard]] bool shows(const std::string& part, std::chrono::seconds most);
  void type(const std::string& keys) const;
  /// Reads to the end. 128 + signal when it was killed.
  [[nodiscard]] int wait();
  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  /// False at the end.
  [[nodiscard]] bool read_some(std::chrono::milliseconds most);

  int pid_ = 0;
  int terminal_ = -1;
  std::string text_;
};

}  // namespace attune::test
