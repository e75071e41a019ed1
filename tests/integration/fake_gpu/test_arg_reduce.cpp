// Tuning what is checked by the built-in reference "arg_reduce".
#include <doctest/doctest.h>

#include "tests/integration/fake_gpu/fake_gpu.hpp"

namespace test_arg_reduce {

using namespace attune;
using test::FakeGpu;

namespace {

const std::string kScan = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/arg_scan";

}  // namespace

TEST_CASE_FIXTURE(FakeGpu, "every way of finding a wrong element or index is noticed, and the right answer is verified") {
  for (const char* const size : {"1000", "1"}) {
    CAPTURE(size);
    database = (folder / (std::string(size) + ".db")).string();
    const auto result = attune({"tune", kScan, "--size", size, "--T", "f32", "--op", "max", "--db", database, "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const auto stored = records();
    REQUIRE(stored.size() == 10);
    for (const auto& record : stored) {
      const std::string defect = test::configuration_of(record)["defect"];
      CAPTURE(defect);
      CAPTURE(test::detail_of(record));
      CHECK(record.outcome == (defect == "none" ? "ok" : "wrong_result"));
      if (defect == "none") CHECK(record.verified);
    }
  }
}

TEST_CASE_FIXTURE(FakeGpu, "a wrong index is told with the right one and the planted situation") {
  const auto result = attune({"tune", kScan, "--size", "1000", "--T", "f32", "--op", "max", "--db", database, "--json"});
  REQUIRE(result.exit_code == 0);
  for (const auto& record : records()) {
    if (test::configuration_of(record)["defect"] != "takes_nan") continue;
    const std::string detail = test::detail_of(record);
    CHECK(detail.find("output \"index\" is 0 instead of -1 when all bits of all elements are set") != std::string::npos);
  }
}

}  // namespace test_arg_reduce
