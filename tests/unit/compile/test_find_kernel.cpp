// The compiled kernel that a launch names, with what it takes.
#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tuner/compile/find_kernel.hpp"

namespace test_find_kernel {

using namespace attune;

namespace {

compile::CompileResult compiled() {
  compile::CompileResult result;
  result.kernels = {{"plain", 10, 0, 0, 0, 0},
                    {"_ZN2ns5scaleILi64EEEvPf", 20, 0, 0, 0, 0},
                    {"_ZN2ns5scaleILi128EEEvPf", 30, 0, 0, 0, 0},
                    {"_Z5twicePf", 40, 0, 0, 0, 0},
                    {"_Z5twicePd", 50, 0, 0, 0, 0}};
  return result;
}

}  // namespace

TEST_CASE("a compiled kernel is found by what a launch calls it, with its own figures") {
  const auto result = compiled();
  REQUIRE(compile::find_kernel(result, "ns::scale<128>") != nullptr);
  CHECK(compile::find_kernel(result, "ns::scale<128>")->registers == 30);
  CHECK(compile::find_kernel(result, "plain") == &result.kernels.front());
}

TEST_CASE("a kernel that is not compiled is none, and one of several overloads is told") {
  const auto result = compiled();
  CHECK(compile::find_kernel(result, "ns::scale<32>") == nullptr);
  CHECK(compile::find_kernel(compile::CompileResult{}, "plain") == nullptr);
  CHECK_THROWS_WITH_AS(static_cast<void>(compile::find_kernel(result, "twice")), doctest::Contains("several functions of that name"),
                       Error);
}

}  // namespace test_find_kernel
