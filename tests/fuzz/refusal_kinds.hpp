#pragma once
// Refusals that read differently are told from those that only quote other inputs.
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace attune::test {

/// Tells a refusal that reads differently from all before: by what it says without what it quotes.
class RefusalKinds {
 public:
  /// The words of this text are what inputs are made of: they do not tell refusals apart.
  void add_quotable(std::string_view text);
  /// Whether the refusal of this input is of a kind that was not met before. It has been met now.
  [[nodiscard]] bool meet(std::string_view message, const std::string& input);
  [[nodiscard]] std::size_t count() const { return kinds_.size(); }

 private:
  std::set<std::string> quotable_;
  std::set<std::string> kinds_;
};

}  // namespace attune::test
