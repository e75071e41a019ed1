#include <doctest/doctest.h>

#include "tests/unit/templates/reduce_fixture.hpp"
#include "tuner/space/search_space.hpp"

using namespace attune;
using namespace attune::templates::test;

namespace {

std::uint64_t space_size(const std::string& type, std::int64_t n) {
  return space::SearchSpace::build(reduce_template(), problem(type, "sum", n), device()).size();
}

}  // namespace

TEST_CASE(
    "the default of the reduce template is valid for every type, operator and size, so that dispatch always has one") {
  const auto& kernel = reduce_template();
  const auto chosen = spec::default_configuration(kernel);
  for (const auto& type : kTypes) {
    for (const auto& op : kOperators) {
      for (const std::int64_t n :
           {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, std::int64_t{131073}, std::int64_t{1} << 40}) {
        CAPTURE(type);
        CAPTURE(op);
        CAPTURE(n);
        CHECK(spec::satisfies(kernel, problem(type, op, n), chosen, device()));
      }
    }
  }
}

TEST_CASE("the space of the reduce template has the size that its parameters and constraints give") {
  // Block size and blocks per SM: all 5 for 64, 128 and 256 threads, 4 for 512, 3 for 1024 make 22 pairs, with four
  // grid stages; single_block has one pair per block size. Times four items and two block stages.
  const std::uint64_t many_blocks = 22 * 4 * 4 * 2;
  const std::uint64_t single_block = 5 * 4 * 2;
  struct Case {
    const char* type;
    std::uint64_t widths;
  };
  for (const auto& [type, widths] : {Case{"f64", 2}, Case{"f32", 3}, Case{"i32", 3}, Case{"i8", 5}}) {
    CAPTURE(type);
    CHECK(space_size(type, 131072) == widths * (many_blocks + single_block));
    CHECK(space_size(type, 131073) == widths * many_blocks);
  }
}

TEST_CASE("a configuration of many blocks stays valid at every size, so that dispatch may use it between tuned sizes") {
  const auto space =
      space::SearchSpace::build(reduce_template(), problem("f32", "sum", std::int64_t{1} << 30), device());
  for (std::uint64_t i = 0; i < space.size(); i += 7) {
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1000}, std::int64_t{3000017}}) {
      CHECK(spec::satisfies(reduce_template(), problem("f32", "sum", n), space.at(i), device()));
    }
  }
}
