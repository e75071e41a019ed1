#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>

#include "tests/support/skip.hpp"

namespace {
constexpr int kSkipped = 77;
bool g_skipped = false;
}  // namespace

void attune::test::skip(const std::string& reason) {
  g_skipped = true;
  const char* const name = doctest::getContextOptions()->currentTest == nullptr ? "" : doctest::getContextOptions()->currentTest->m_name;
  std::cout << "SKIPPED: " << name << "\n  " << reason << "\n";
}

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int result = context.run();
  return result == 0 && g_skipped ? kSkipped : result;
}
