// Ages and sizes as people write them.
#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tools/amounts.hpp"

namespace test_amounts {

using namespace attune;
using namespace attune::tools;

TEST_CASE("ages are hours, days, weeks and years") {
  CHECK(parse_age("36h", "--age").count() == 36);
  CHECK(parse_age("90d", "--age").count() == 90 * 24);
  CHECK(parse_age("1.5w", "--age").count() == 252);
  CHECK(parse_age("2y", "--age").count() == 2 * 365 * 24);
  CHECK(parse_age("100y", "--age").count() == 876000);
}

TEST_CASE("sizes are bytes in multiples of 1024, however the unit is spelled") {
  CHECK(parse_bytes("0", "--size") == 0);
  CHECK(parse_bytes("65536", "--size") == 65536);
  CHECK(parse_bytes("64K", "--size") == 65536);
  CHECK(parse_bytes("64KiB", "--size") == 65536);
  CHECK(parse_bytes("1.5G", "--size") == 1610612736);
  CHECK(parse_bytes("2MB", "--size") == 2097152);
  CHECK(parse_bytes("12B", "--size") == 12);
}

TEST_CASE("what is neither is named with the option and what it should be") {
  for (const char* none : {"", "d", "-1d", "90", "90m", "0h", "0.5h", "101y", "1e2d", "inf d", "1dd", "nan"}) {
    CAPTURE(none);
    CHECK_THROWS_WITH_AS((void)parse_age(none, "--age"), doctest::Contains("failed reading --age '"), UsageError);
  }
  for (const char* none : {"", "M", "-1", "1X", "1MM", "1e3", "300T", "0x10", "1 M"}) {
    CAPTURE(none);
    CHECK_THROWS_WITH_AS((void)parse_bytes(none, "--size"), doctest::Contains("failed reading --size '"), UsageError);
  }
}

}  // namespace test_amounts
