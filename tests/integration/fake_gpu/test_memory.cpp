// What a large search space takes of memory.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/sanitized.hpp"

namespace test_memory {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

/// The largest resident size so far of a process alone, without its workers; 0 once it has ended.
double peak_mb(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  const std::string field = "VmHWM:";
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field, 0) == 0) return std::stod(line.substr(field.size())) * 1024 / 1e6;
  }
  return 0;
}

/// Follows it to its end: the peak of a dead process is not kept.
double peak_until_end_mb(int pid) {
  double peak = 0;
  for (double now = peak_mb(pid); now > 0; now = peak_mb(pid)) {
    peak = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return peak;
}

}  // namespace

TEST_CASE_FIXTURE(FakeGpu,
                  "a space of a million configurations takes under 200 MB, when it is first searched and when it is gone on with") {
  for (const std::string budget : {"150", "300"}) {  // the second run knows half of what it proposes
    const int pid = start({"tune", ATTUNE_SOURCE_DIR "/bench/templates/million", "--size", "10000", "--strategy", "random", "--budget",
                           budget, "--compile-workers", "2", "--json"});
    const double peak = peak_until_end_mb(pid);
    CHECK(test::wait_for(pid) == 0);
    MESSAGE("budget of ", budget, ": at most ", peak, " MB");
    CHECK(peak > 0);
    if (!test::kSanitized) CHECK(peak < 200);  // a sanitizer has more shadow memory
  }
  std::ifstream file(output());
  std::vector<json> problems;
  for (const auto& event : test::json_lines({std::istreambuf_iterator<char>(file), {}})) {
    if (event["event"] == "problem") problems.push_back(event);
  }
  REQUIRE(problems.size() == 2);
  for (const auto& problem : problems) {
    CHECK(problem["space_size"] == 1000000);
    CHECK(problem["measured"] == 150);
    CHECK(problem["failed"].empty());
  }
  CHECK(problems[1]["reused"] == 150);
}

}  // namespace test_memory
