#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/simulate/spaces.hpp"

namespace test_own_recordings {

using namespace attune;

namespace {

/// Every seventh configuration gives a wrong answer; times say which problem they are of.
session::Recording recording_of(const std::vector<spec::Problem>& problems) {
  double problem = 0;
  return test::synthetic_recording(test::small_template(), problems, [problem](const std::string&, std::uint64_t i) mutable {
    if (i == 0) ++problem;
    return i % 7 == 3 ? 0.0 : problem * 100 + static_cast<double>(i);
  });
}

}  // namespace

TEST_CASE("a recording of attune is a space for each of its problems") {
  const test::TempFolder folder;
  const auto recording = recording_of({test::small_problem(1000), test::small_problem(100000)});
  for (const char* const name : {"own.json", "own.json.zst"}) {
    recording.save(folder / name);
    const auto spaces = simulate::read_recorded_spaces(folder / name);
    REQUIRE(spaces.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& measurements = recording.problems[i].measurements;
      CHECK(spaces[i].label == spec::to_text(recording.problems[i].problem));
      CHECK(spaces[i].space.size() == measurements.size());
      const auto told = test::told(spaces[i]);
      for (const auto& measurement : measurements) {
        const bool ok = measurement.outcome == measure::Outcome::Ok;
        CHECK(told.at(measurement.configuration) == (ok ? base::dump_json(nlohmann::json(measurement.timing.median_us)) : "wrong_result"));
      }
    }
    CHECK(test::values_of(spaces[0], "items").size() == 3);
  }
}

TEST_CASE("a damaged recording of attune says what the reader of recordings says") {
  const test::TempFolder folder;
  recording_of({test::small_problem(1000)}).save(folder / "own.json");
  CHECK_THROWS_WITH_AS((void)simulate::parse_recorded_spaces(R"({"attune_recording": 1})", "own.json"),
                       doctest::Contains("own.json: failed reading the recording"), SpecError);
}

}  // namespace test_own_recordings
