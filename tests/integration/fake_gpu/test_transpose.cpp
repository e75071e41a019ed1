// Tuning what is checked by the built-in reference "transpose", which expects values bit for bit.
#include <doctest/doctest.h>

#include "tests/integration/fake_gpu/fake_gpu.hpp"

namespace test_transpose {

using namespace attune;
using test::FakeGpu;

namespace {

const std::string kScan = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/transpose_scan";

/// Transposes of the fake driver, of one shape.
struct Transposed : FakeGpu {
  /// Records by their defect.
  [[nodiscard]] std::map<std::string, db::RecordRow> tune(const std::string& type, const std::string& rows, const std::string& columns) {
    database = (folder / (type + "_" + rows + "_" + columns + ".db")).string();
    const auto result = attune({"tune", kScan, "--rows", rows, "--columns", columns, "--T", type, "--db", database, "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    std::map<std::string, db::RecordRow> found;
    for (const auto& record : records()) found.emplace(test::configuration_of(record)["defect"], record);
    return found;
  }
};

bool says(const db::RecordRow& record, const std::string& text) { return test::detail_of(record).find(text) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(Transposed, "every wrong transpose is noticed in every size of element, and the right one is verified") {
  for (const char* const type : {"u8", "f16", "f32", "f64"}) {
    for (const auto& [rows, columns] : {std::pair{"33", "17"}, std::pair{"6", "100"}}) {
      CAPTURE(type);
      CAPTURE(rows);
      const auto found = tune(type, rows, columns);
      CHECK(found.size() == (type == std::string("u8") ? 5 : 9));
      for (const auto& [defect, record] : found) {
        CAPTURE(defect);
        CAPTURE(test::detail_of(record));
        CHECK(record.outcome == (defect == "none" ? "ok" : "wrong_result"));
        CHECK(record.verified == (defect == "none"));
      }
    }
  }
}

TEST_CASE_FIXTURE(Transposed,
                  "a wrong transpose is told with its first element, with what it wrote outside, or with the size that shows it") {
  const auto odd = tune("f32", "33", "17");
  CHECK(says(odd.at("swaps_two"), "2 of 561 elements of output \"out\" are wrong; the first is column 22 of row 5: "));  // 187, 280
  CHECK(says(odd.at("flips_a_bit"), "1 of 561 elements of output \"out\" are wrong; the first is column 16 of row 8: "));
  CHECK(says(odd.at("leaves_last_of_odd"), "17 of 561 elements of output \"out\" are wrong; the first is column 32 of row 0: nan"));
  CHECK(says(odd.at("leaves_last_of_odd"), "the asked size"));
  CHECK(says(odd.at("writes_padding"), "wrote past the end of buffer \"out\""));
  const auto even = tune("f32", "6", "100");
  CHECK(says(even.at("leaves_last_of_odd"), "a ragged size"));
}

TEST_CASE_FIXTURE(Transposed, "the transpose template tunes wide and tall matrices, every variant verified") {
  for (const auto& [rows, columns] : {std::pair{"300", "517"}, std::pair{"3", "4099"}, std::pair{"4099", "3"}}) {
    CAPTURE(rows);
    database = (folder / (std::string(rows) + ".db")).string();
    const auto result = attune({"tune", "transpose", "--rows", rows, "--columns", columns, "--T", "f32", "--db", database, "--strategy",
                                "random", "--budget", "8", "--json"});
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

}  // namespace test_transpose
