#include <doctest/doctest.h>

#include "tuner/session/source/compile_patience.hpp"

namespace test_compile_patience {

using attune::session::CompilePatience;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

CompilePatience after(seconds search, const std::vector<double>& taken_s) {
  CompilePatience patience(search);
  for (const double taken : taken_s) patience.add(taken);
  return patience;
}

}  // namespace

TEST_CASE("a compilation may take four times what others took in the middle") {
  CHECK(after(seconds(10), {1, 9, 1, 1, 1, 1, 1, 1}).limit() == seconds(4));
  CHECK(after(seconds(10), {1, 1, 1, 1, 3, 3, 3, 3}).limit() == seconds(8));
}

TEST_CASE("what takes less than a fiftieth of the search may go on") {
  CHECK(after(seconds(10), {0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01}).limit() == milliseconds(200));
}

TEST_CASE("it may take what it takes while fewer than eight are known, and where the search has all the time") {
  CHECK(after(seconds(10), {1, 1, 1, 1, 1, 1, 1}).limit() == milliseconds(0));
  CHECK(after(seconds(0), {1, 1, 1, 1, 1, 1, 1, 1}).limit() == milliseconds(0));
}

}  // namespace test_compile_patience
