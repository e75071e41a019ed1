// attune ladder on the fake driver: measured, run off, interrupted and taken up again.
#include <doctest/doctest.h>
#include <signal.h>

#include <fstream>
#include <iterator>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/integration/fake_gpu/processes.hpp"
#include "tuner/base/json.hpp"

namespace test_ladder {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

constexpr std::size_t kGood = 4 * 3 * 4;  // block_size, items, waves

std::vector<std::string> ladder_words(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {
      "ladder", ATTUNE_SOURCE_DIR "/tests/support/fake_templates/synthetic", "--size", "1000", "--compile-workers", "2"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json ladder_event(const test::CommandResult& result) {
  for (const auto& event : test::json_lines(result.out)) {
    if (event["event"] == "ladder") return event;
  }
  return nullptr;
}

}  // namespace

TEST_CASE_FIXTURE(FakeGpu, "a measured ladder runs the rungs' fastest off against each other, and keeps what that gave") {
  const auto result = attune(ladder_words({"--json"}));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json ladder = ladder_event(result);
  CHECK(ladder["ran_off"] == true);
  CHECK(ladder["complete"] == true);
  CHECK(ladder["measured"] == kGood);
  CHECK(ladder["read_ceiling_bytes_per_s"].is_null());  // this driver measures none
  const json& rungs = ladder["rungs"];
  REQUIRE(rungs.size() == 4);
  // 1.30, 1.15 and 1 times (20000 + 1000 / 100) ns, as the template's time model says.
  CHECK(rungs[0]["median_us"].get<double>() == doctest::Approx(1.30 * 20.01).epsilon(2e-3));
  CHECK(rungs[1]["configuration"].is_null());
  CHECK(rungs[2]["ratio"].get<double>() == doctest::Approx(1.15).epsilon(2e-3));
  CHECK(rungs[2]["step"].get<double>() == doctest::Approx(1.30 / 1.15).epsilon(2e-3));
  CHECK(rungs[3]["configuration"] == json({{"block_size", 256}, {"fault", "none"}, {"items", 2}, {"waves", 2}}));
  CHECK(rungs[3]["ratio"] == 1.0);

  const json again = ladder_event(attune(ladder_words({"--json"})));
  CHECK(again["measured"] == 0);
  CHECK(again["ran_off"] == true);
  for (const std::size_t i : {0u, 2u, 3u}) CHECK(again["rungs"][i]["median_us"] == rungs[i]["median_us"]);
  CHECK(again["read_ceiling_bytes_per_s"] == ladder["read_ceiling_bytes_per_s"]);
}

TEST_CASE_FIXTURE(FakeGpu, "what a ladder measured is what tune would have: the best is stored, and nothing is left to do") {
  REQUIRE(attune(ladder_words()).exit_code == 0);
  CHECK(records().size() == kGood);
  const json best = base::parse_json(attune({"show", "--json"}).out);
  REQUIRE(best.size() == 1);
  CHECK(best[0]["configuration"]["block_size"] == 256);
  const auto tuned = attune(tune_words("none"));
  CHECK(tuned.out.find("Nothing is left to do") != std::string::npos);
}

TEST_CASE_FIXTURE(FakeGpu, "a budget holds for every rung") {
  const json ladder = ladder_event(attune(ladder_words({"--json", "--budget", "3", "--strategy", "random"})));
  REQUIRE(ladder.is_object());
  CHECK(ladder["rungs"][0]["decided"].get<int>() >= 3);
  CHECK(records().size() >= 3);
  CHECK(records().size() <= 9);  // three rungs that hold something
}

TEST_CASE_FIXTURE(FakeGpu, "several GPUs are refused, since rungs of different devices compare nothing") {
  const auto result = attune(ladder_words({"--device", "0,1"}));
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("one GPU") != std::string::npos);
}

TEST_CASE_FIXTURE(FakeGpu, "Ctrl-C prints the rungs that are done and loses nothing; the same command goes on") {
  settings["real_time"] = 10;
  const int pid = start(ladder_words());
  REQUIRE(test::wait_until([&] { return records().size() >= 14; }));  // the first rung has 12
  ::kill(pid, SIGINT);
  CHECK(test::wait_for(pid) == 130);
  std::ifstream file(output());
  const std::string printed{std::istreambuf_iterator<char>(file), {}};
  CHECK(printed.find("\nsmall blocks ") != std::string::npos);
  CHECK(printed.find("interrupted here") != std::string::npos);
  const auto kept = records().size();
  CHECK(kept < kGood);
  settings = json::object();
  const json ladder = ladder_event(attune(ladder_words({"--json"})));
  CHECK(ladder["measured"] == kGood - kept);
  CHECK(ladder["complete"] == true);
}

}  // namespace test_ladder
