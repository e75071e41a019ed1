#pragma once
#include <stdexcept>
#include <string>

namespace attune::test {

/// `text` with the first `from` replaced. Throws: when there is none, so that no test changes nothing.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("the test's text lacks " + from);
  return text.replace(at, from.size(), to);
}

}  // namespace attune::test
