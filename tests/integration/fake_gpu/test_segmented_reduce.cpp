// Tuning what is checked by the built-in reference "segmented_reduce".
#include <doctest/doctest.h>

#include "tests/integration/fake_gpu/fake_gpu.hpp"

namespace test_segmented_reduce {

using namespace attune;
using test::FakeGpu;

namespace {

const std::string kScan = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/row_scan";

}  // namespace

TEST_CASE_FIXTURE(FakeGpu, "every way of reducing rows wrongly is noticed for every operation, and the right one is verified") {
  for (const char* const op : {"sum", "product", "min", "max"}) {
    for (const auto& [rows, columns] : {std::pair{"5", "1000"}, std::pair{"33", "7"}}) {
      CAPTURE(op);
      CAPTURE(rows);
      database = (folder / (std::string(op) + rows + ".db")).string();
      const auto result =
          attune({"tune", kScan, "--rows", rows, "--columns", columns, "--T", "f32", "--op", op, "--db", database, "--json"});
      CAPTURE(result.err);
      REQUIRE(result.exit_code == 0);
      const auto stored = records();
      REQUIRE(stored.size() == 9);
      for (const auto& record : stored) {
        const std::string defect = test::configuration_of(record)["defect"];
        CAPTURE(defect);
        CAPTURE(test::detail_of(record));
        CHECK(record.outcome == (defect == "none" ? "ok" : "wrong_result"));
        if (defect == "none") CHECK(record.verified);
      }
    }
  }
}

TEST_CASE_FIXTURE(FakeGpu, "configurations whose right answers differ are judged by their own, visited again and in a run-off too") {
  const std::string scan = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/row_scan_by_parameter";
  const auto result =
      attune({"tune", scan, "--rows", "33", "--columns", "1000", "--T", "f32", "--epochs", "5", "--db", database, "--json"});
  CAPTURE(result.out);
  REQUIRE(result.exit_code == 0);
  const auto stored = records();
  REQUIRE(stored.size() == 6);
  for (const auto& record : stored) {
    const bool right = test::configuration_of(record)["defect"] == "none";
    CAPTURE(record.configuration);
    CAPTURE(test::detail_of(record));
    CHECK(record.outcome == (right ? "ok" : "wrong_result"));
    CHECK(record.verified == right);
  }
  for (const auto& event : test::json_lines(result.out))
    if (event["event"] == "problem") CHECK(event["best"]["tie"] == true);  // the driver's times are equal: all of them ran off
}

TEST_CASE_FIXTURE(FakeGpu, "a wrong row is told with its number") {
  const auto result = attune({"tune", kScan, "--rows", "5", "--columns", "1000", "--T", "f32", "--op", "max", "--db", database, "--json"});
  REQUIRE(result.exit_code == 0);
  for (const auto& record : records()) {
    if (test::configuration_of(record)["defect"] != "leaves_last_row") continue;
    CAPTURE(test::detail_of(record));
    CHECK(test::detail_of(record).find("1 of 5 elements of output \"out\" are wrong; the first is row 4: nan instead of") !=
          std::string::npos);
  }
}

TEST_CASE_FIXTURE(FakeGpu, "the segmented_reduce template tunes one long row and many short ones, every stage verified") {
  for (const auto& [rows, columns] : {std::pair{"2", "30000"}, std::pair{"500", "64"}, std::pair{"30", "1023"}}) {
    CAPTURE(rows);
    database = (folder / (std::string(rows) + ".db")).string();
    const auto result = attune({"tune", "segmented_reduce", "--rows", rows, "--columns", columns, "--T", "f32", "--op", "sum", "--db",
                                database, "--strategy", "random", "--budget", "8", "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const auto stored = records();
    CHECK(stored.size() >= 8);
    for (const auto& record : stored) {
      CAPTURE(record.configuration);
      CAPTURE(test::detail_of(record));
      CHECK(record.outcome == "ok");
      CHECK(record.verified);
    }
  }
}

}  // namespace test_segmented_reduce
