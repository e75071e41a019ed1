#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/expression.hpp"

namespace test_value_list {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

std::vector<std::int64_t> integers(const std::string& text) {
  std::vector<std::int64_t> result;
  for (const Value& value : parse_value_list(text, {"t1.json", 4, 10})) result.push_back(std::get<std::int64_t>(value));
  return result;
}

std::string failure(const std::string& text) {
  return error_of([&] { (void)parse_value_list(text, {"t1.json", 4, 10}); });
}

using Integers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("lists, tuples and ranges are read as Python reads them") {
  CHECK(integers("[16, 32, 2*32]") == Integers{16, 32, 64});
  CHECK(integers("(1, 2,)") == Integers{1, 2});
  CHECK(integers("[]").empty());
  CHECK(integers("list(range(1, 5))") == Integers{1, 2, 3, 4});
  CHECK(integers("range(3)") == Integers{0, 1, 2});
  CHECK(integers("list(range(32, 96+1, 32))") == Integers{32, 64, 96});
  CHECK(integers("tuple(range(4, 0, -2))") == Integers{4, 2});
  CHECK(integers("range(5, 5)").empty());
  CHECK(integers("list(list([7]))") == Integers{7});
}

TEST_CASE("powers go from the first to the last that is not passed, each the base times the one before") {
  CHECK(integers("powers(2, 32, 1024)") == Integers{32, 64, 128, 256, 512, 1024});
  CHECK(integers("powers(3, 1, 80)") == Integers{1, 3, 9, 27});
  CHECK(integers("powers(2, 6, 24) + [32]") == Integers{6, 12, 24, 32});
  CHECK(integers("powers(2, 5, 4)").empty());
  CHECK(integers("powers(2, 2**61, 2**62)") == Integers{std::int64_t{1} << 61, std::int64_t{1} << 62});  // the next is beyond 64 bits
  CHECK(contains(failure("powers(2, 32)"),
                 "t1.json:4:10: failed parsing the expression \"powers(2, 32)\": powers takes 3 arguments, e.g. powers(2, 32, 1024)"));
  CHECK(contains(failure("powers(1, 32, 64)"), "the base of powers must be 2 or more, not 1"));
  CHECK(contains(failure("powers(2, 0, 64)"), "the first of powers must be 1 or more, not 0"));
}

TEST_CASE("comprehensions over one name and sums of lists are read") {
  CHECK(integers("[2**i for i in range(4)]") == Integers{1, 2, 4, 8});
  CHECK(integers("[1] + [2*i for i in range(1, 4)]") == Integers{1, 2, 4, 6});
  CHECK(integers("[i for i in range(10) if i % 3 == 0]") == Integers{0, 3, 6, 9});
}

TEST_CASE("values other than integers keep their kind") {
  const std::vector<Value> values = parse_value_list("['a', True, 0.5]", {"t1.json", 1, 1});
  CHECK(values == std::vector<Value>{Value(std::string("a")), Value(true), Value(0.5)});
}

TEST_CASE("what is no list is refused at its place") {
  CHECK(contains(failure("16"), "t1.json:4:10: "));
  CHECK(contains(failure("16"), "a list such as [16, 32]"));
  CHECK(contains(failure("[1, 2"), "']' expected, but the list ends here"));
  CHECK(contains(failure("[1] [2]"), "'+' or the end expected, found '['"));
  CHECK(contains(failure("range()"), "range takes 1 to 3 arguments"));
  CHECK(contains(failure("range(1, 2, 0)"), "must not be 0"));
  CHECK(contains(failure("range(1.5)"), "an integer is needed"));
  CHECK(contains(failure("[x]"), "unknown variable 'x'"));
  CHECK(contains(failure("[i for 1 in [2]]"), "a name after 'for'"));
  CHECK(contains(failure("__import__('os')"), "a list such as"));
  CHECK(contains(failure("[open('f')]"), "unknown function 'open'"));
}

TEST_CASE("a list that no configuration could index is refused before it fills the memory") {
  CHECK(integers("range(65535)").size() == 65535);
  CHECK(contains(failure("range(65536)"), "more than 65535 values"));
  CHECK(contains(failure("list(range(0, 10**18))"), "more than 65535 values"));
  std::string nested;
  for (int i = 0; i < 1000; ++i) nested += "list(";
  CHECK(contains(failure(nested), "nested too deeply"));
}

}  // namespace test_value_list
