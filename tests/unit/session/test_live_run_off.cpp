// The run-off on a GPU where a worker is lost and there is no time for another: what was seen until then stands. The worker is
// tests/unit/measure/fake_worker_main.cpp.
#include <doctest/doctest.h>
#include <signal.h>

#include <memory>

#include "tests/unit/measure/executor_fixture.hpp"
#include "tuner/session/source/live_run_off.hpp"

namespace test_live_run_off {

using namespace attune;

namespace {

struct RunOff {
  RunOff() {
    gpu.prepare(test::any_template(), test::problem(1), "", {}, [this] {
      if (late) throw session::PreparingStopped("preparing anew");
    });
  }

  [[nodiscard]] std::optional<session::RunOffSamples> run(const std::vector<std::string>& finalists) {
    const auto compile = [](std::size_t) {
      compile::CompileResult result;
      result.status = compile::CompileStatus::Ok;
      result.key = "key";
      result.cubin = "12345";
      return std::make_shared<const compile::CompileResult>(std::move(result));
    };
    const auto hand_over = [this](const std::vector<std::string>& names) {
      if (handing_over) handing_over(names);
    };
    return session::LiveRunOff(gpu, compile, hand_over, {}).run(finalists, race, 1);
  }

  measure::GpuExecutor gpu{test::options()};
  session::Race::Options race;
  bool late = false;
  std::function<void(const std::vector<std::string>&)> handing_over;
};

}  // namespace

TEST_CASE_FIXTURE(RunOff, "a finalist that failed is told though there is no time to verify those behind it") {
  handing_over = [this](const std::vector<std::string>& names) { late = names.front() == "behind"; };
  const auto samples = run({"first", "dies", "behind"});
  REQUIRE(samples.has_value());
  REQUIRE(samples->failed.size() == 1);
  CHECK(samples->failed.front().configuration == "dies");
  CHECK(samples->failed.front().outcome == measure::Outcome::Crashed);
}

TEST_CASE_FIXTURE(RunOff, "epochs stand though the worker is lost in the next one and there is no time for another") {
  int epochs = 0;
  handing_over = [&](const std::vector<std::string>& names) {
    if (names.size() < 2 || ++epochs < 3) return;
    late = true;
    REQUIRE(::kill(test::worker_pid(), SIGKILL) == 0);
  };
  bool stopped = false;
  SUBCASE("the time is over") {}
  SUBCASE("it was interrupted") {
    stopped = true;
    race.goes_on = [this] { return !late; };
  }
  const auto samples = run({"first", "second"});
  REQUIRE(samples.has_value());
  CHECK(samples->failed.empty());
  CHECK_FALSE(samples->lacked_time);
  CHECK(samples->stopped == stopped);
  CHECK(samples->rounds_us == std::vector<std::vector<double>>(static_cast<std::size_t>(2 * race.rounds), {2.0, 2.0}));
}

TEST_CASE_FIXTURE(RunOff, "a worker that is lost before the first epoch, without the time for another, leaves nothing to decide by") {
  handing_over = [this](const std::vector<std::string>& names) { late = late || names.front() == "dies"; };
  const auto samples = run({"first", "dies"});
  REQUIRE(samples.has_value());
  CHECK(samples->lacked_time);
  CHECK_FALSE(samples->stopped);
}

}  // namespace test_live_run_off
