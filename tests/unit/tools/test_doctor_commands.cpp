// Programs that doctor asks: what they print, and that nobody waits for one that hangs.
#include <doctest/doctest.h>

#include <chrono>

#include "tools/doctor/command_output.hpp"

namespace test_doctor_commands {

using namespace attune;
using namespace std::chrono_literals;
using tools::doctor::output_of;

namespace {

struct Timed {
  std::string text;
  std::chrono::duration<double> took;
};

Timed timed(const std::string& script, std::chrono::milliseconds patience) {
  const auto start = std::chrono::steady_clock::now();
  std::string text = output_of({"sh", "-c", script}, patience);
  return {std::move(text), std::chrono::steady_clock::now() - start};
}

}  // namespace

TEST_CASE("what a program prints is told without its errors, and a program that is not there tells nothing") {
  CHECK(output_of({"sh", "-c", "echo one; echo two >&2; cat"}, 20s) == "one\n");
  CHECK(output_of({"/no/such/program"}, 20s).empty());
}

TEST_CASE("a program that does not end, whatever signal it ignores and whoever holds its output, is waited for no longer than was said") {
  for (const char* script : {"echo begun; trap '' TERM INT; sleep 60", "echo begun; sleep 60 & exit 0", "echo begun; exec >&-; sleep 60"}) {
    CAPTURE(script);
    const auto found = timed(script, 300ms);
    CHECK(found.text == "begun\n");
    CHECK(found.took < 10s);
  }
}

TEST_CASE("a program that prints without end is cut") {
  const auto found = timed("exec cat /dev/zero", 20s);
  CHECK(found.text.size() >= (std::size_t{1} << 20));
  CHECK(found.took < 15s);
}

}  // namespace test_doctor_commands
