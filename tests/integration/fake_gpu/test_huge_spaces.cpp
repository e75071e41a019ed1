// A space of 10^12 points: whatever walks through it shows how far it is and ends when it is asked to.
#include <doctest/doctest.h>
#include <signal.h>

#include <thread>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/huge_template.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/terminal.hpp"

namespace test_huge_spaces {

using namespace attune;
using namespace std::chrono_literals;
using test::FakeGpu;

namespace {

struct HugeSpace : FakeGpu {
  HugeSpace() { test::write_huge_template(folder / "huge"); }

  /// Runs a command until it builds a space, then interrupts it.
  void check(std::vector<std::string> words, bool typed) const {
    words.insert(words.begin(), ATTUNE_EXECUTABLE);
    words.insert(words.end(), {"--db", database});
    test::Terminal terminal(words, full_environment());
    CHECK(terminal.shows("building the search space", 60s));
    if (typed)
      terminal.type("\x03");
    else
      ::kill(terminal.pid(), SIGTERM);
    CHECK(terminal.wait() == 130);
    CAPTURE(terminal.text());
    CHECK(terminal.text().find("Interrupted; everything measured is stored") != std::string::npos);
    CHECK(records().empty());
    CHECK(attune({"db", "check", "--db", database}).exit_code == 0);
  }
};

}  // namespace

TEST_CASE_FIXTURE(HugeSpace, "tune ends on Ctrl-C while it builds a space") {
  check({"tune", (folder / "huge").string(), "--n", "1000"}, true);
}
TEST_CASE_FIXTURE(HugeSpace, "tune ends on SIGTERM while it builds the first of several spaces") {
  check({"tune", (folder / "huge").string(), "--n", "1000,2000"}, false);
}
TEST_CASE_FIXTURE(HugeSpace, "ladder ends on Ctrl-C while it builds a space") {
  check({"ladder", (folder / "huge").string(), "--n", "1000"}, true);
}

TEST_CASE_FIXTURE(HugeSpace, "tuning on two devices ends on SIGTERM while both build a space") {
  settings["devices"] = nlohmann::json::array({nlohmann::json::object(), nlohmann::json::object()});
  const int pid = start({"tune", (folder / "huge").string(), "--n", "1000,2000", "--device", "all", "--db", database});
  std::this_thread::sleep_for(test::kSanitized ? 15s : 3s);  // what a process builds shows nowhere: wherever it is, it must end
  ::kill(pid, SIGTERM);
  const auto ended = test::wait_for(pid, 60s);
  CHECK(ended.value_or(-1) == 130);
}

}  // namespace test_huge_spaces
