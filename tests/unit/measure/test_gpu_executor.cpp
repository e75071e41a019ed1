// The executor against a worker that speaks the protocol without a GPU.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>

#include "tests/unit/measure/executor_fixture.hpp"

namespace test_gpu_executor {

using namespace attune;
using measure::GpuExecutor;
using measure::Outcome;
using std::chrono::milliseconds;
using namespace attune::test;

TEST_CASE("the executor reads the device from its worker and keeps a descriptor to poll") {
  GpuExecutor executor(options());
  CHECK(executor.device().architecture == "sm_90");
  CHECK(executor.descriptor() >= 0);
  CHECK(worker_pid() > 0);
  CHECK(executor.replacements() == 0);
  CHECK(executor.read_ceiling_bytes_per_s() == 4.5e12);
}

TEST_CASE("a worker that refuses, dies at once or does not exist is an error that says so") {
  CHECK_THROWS_WITH_AS(GpuExecutor(options(7)), "failed selecting device 7", UsageError);
  CHECK_THROWS_WITH_AS(GpuExecutor(options(8)), doctest::Contains("exited with code 5"), EnvironmentError);
  auto missing = options();
  missing.worker = "/nonexistent/attune";
  CHECK_THROWS_AS(GpuExecutor{missing}, EnvironmentError);
}

TEST_CASE("a device that the driver does not show alone is found among all") {
  GpuExecutor executor(options(9));
  CHECK(executor.device().architecture == "sm_90");
  CHECK(executor.replacements() == 0);
}

TEST_CASE("a cubin goes along once, and again after the worker dropped it") {
  GpuExecutor executor(options());
  executor.prepare(any_template(), problem(1), "");
  CHECK(visit(executor, request("first")).detail == "cubin of 5");
  CHECK(visit(executor, request("second")).detail == "no cubin came along");
  CHECK(visit(executor, request("drops")).outcome == Outcome::Ok);
  CHECK(visit(executor, request("third")).detail == "cubin of 5");
}

TEST_CASE("what was verified once stays verified for the problem, and only for it") {
  GpuExecutor executor(options());
  executor.prepare(any_template(), problem(1), "");
  auto wanted = request("some");
  CHECK(visit(executor, wanted).verified);
  wanted.verify = false;
  CHECK(visit(executor, wanted).verified);
  executor.prepare(any_template(), problem(2), "");
  CHECK_FALSE(visit(executor, wanted).verified);
}

TEST_CASE("a configuration that kills its worker is tried twice, answered as crashed, and the next one works") {
  GpuExecutor executor(options());
  executor.prepare(any_template(), problem(1), "");
  const auto reply = visit(executor, request("dies"));
  CHECK(reply.outcome == Outcome::Crashed);
  CHECK(reply.detail == "the GPU worker exited with code 9, twice");
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
  CHECK(executor.replacements() == 2);
}

TEST_CASE("a worker that dies once costs no configuration") {
  const auto marker = std::filesystem::temp_directory_path() / ("attune-dies-once-" + std::to_string(::getpid()));
  std::filesystem::remove(marker);
  GpuExecutor executor(options());
  executor.prepare(any_template(), problem(1), "");
  CHECK(visit(executor, request("dies-once:" + marker.string())).outcome == Outcome::Ok);
  CHECK(executor.replacements() == 1);
  std::filesystem::remove(marker);
}

TEST_CASE("an error that ruins the context is a crash with the driver's words") {
  GpuExecutor executor(options());
  executor.prepare(any_template(), problem(1), "");
  const auto reply = visit(executor, request("ruins"));
  CHECK(reply.outcome == Outcome::Crashed);
  CHECK(reply.detail.find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos);
}

TEST_CASE("a reference that ruins the context is thrown, blames no configuration, and leaves an executor that works") {
  GpuExecutor executor(options());
  executor.prepare(any_template(), problem(1), "");
  executor.submit(request("is ruined by the reference"));
  executor.submit(request("behind"));
  CHECK_THROWS_WITH_AS((void)executor.collect(std::chrono::seconds(5)), "template.json: failed running the code of the reference",
                       SpecError);
  CHECK_FALSE(executor.busy());
  executor.prepare(any_template(), problem(1), "");
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
}

TEST_CASE("a worker that hangs is killed at its deadline, and the next configuration works") {
  GpuExecutor executor(options());
  executor.prepare(any_template(), problem(1), "");
  CHECK(visit(executor, request("quick")).outcome == Outcome::Ok);  // shortens the deadline
  CHECK(visit(executor, request("is let go")).screened_out);        // its long call is no measure of what others may take
  const auto reply = visit(executor, request("hangs"));
  CHECK(reply.outcome == Outcome::TimedOut);
  CHECK(reply.detail.find("no answer within 2") != std::string::npos);
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
  CHECK(executor.replacements() == 2);
}

TEST_CASE("a wrong result is an outcome and costs no worker") {
  GpuExecutor executor(options());
  executor.prepare(any_template(), problem(1), "");
  CHECK(visit(executor, request("wrong")).outcome == Outcome::WrongResult);
  CHECK(executor.replacements() == 0);
}

TEST_CASE("a problem that cannot be prepared is an error, and the executor takes the next one") {
  GpuExecutor executor(options());
  CHECK_THROWS_WITH_AS(executor.prepare(any_template(), problem(13), ""), "needs 99 bytes, 7 are free", EnvironmentError);
  CHECK_THROWS_WITH_AS(executor.prepare(any_template(), problem(14), ""), doctest::Contains("exited with code 9"), EnvironmentError);
  CHECK_THROWS_WITH_AS(executor.prepare(any_template(), problem(15), ""), doctest::Contains("illegal address"), SpecError);
  executor.prepare(any_template(), problem(1), "");
  CHECK(visit(executor, request("any")).outcome == Outcome::Ok);
}

TEST_CASE("a run-off collects its rounds; one that kills the worker twice is an outcome") {
  GpuExecutor executor(options());
  executor.prepare(any_template(), problem(1), "");
  measure::RunOffRequest run_off;
  run_off.configurations = {request("a"), request("b")};
  run_off.rounds = 4;
  const auto reply = executor.run_off(run_off);
  CHECK(reply.outcome == Outcome::Ok);
  CHECK(reply.rounds_us == std::vector<std::vector<double>>(4, {2.0, 2.0}));
  run_off.configurations.push_back(request("dies"));
  const auto crashed = executor.run_off(run_off);
  CHECK(crashed.outcome == Outcome::Crashed);
  CHECK(executor.replacements() == 1);
  CHECK(executor.recovering_s() > 0);
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
}

TEST_CASE("whoever is tired of waiting for a problem or a run-off ends the worker, and the next request starts another") {
  struct Tired {};
  GpuExecutor executor(options());
  int looks = 0;
  const auto three_looks = [&] {
    if (++looks == 3) throw Tired{};
  };
  CHECK_THROWS_AS(executor.prepare(any_template(), problem(16), "", {}, three_looks), Tired);
  CHECK(looks == 3);
  executor.prepare(any_template(), problem(1), "");
  measure::RunOffRequest run_off;
  run_off.configurations = {request("a"), request("hangs")};
  looks = 0;
  CHECK_THROWS_AS(static_cast<void>(executor.run_off(run_off, three_looks)), Tired);
  CHECK(looks == 3);
  run_off.configurations.pop_back();
  CHECK(executor.run_off(run_off, [] { FAIL("it answers at once"); }).outcome == Outcome::Ok);
  CHECK(executor.replacements() == 2);
}

TEST_CASE("whoever is tired of waiting for a fresh worker is not kept by it, and keeps what was answered") {
  struct Tired {};
  GpuExecutor executor(options());
  bool tired = false;
  executor.prepare(any_template(), problem(1), "", {}, [&] {
    if (tired) throw Tired{};
  });
  tired = true;
  executor.submit(request("dies"));
  CHECK_THROWS_AS(static_cast<void>(next_reply(executor)), Tired);
  CHECK_FALSE(executor.busy());
  CHECK_FALSE(executor.running());
  CHECK_THROWS_AS(executor.ensure_running(), Tired);
  CHECK_THROWS_AS(executor.submit(request("next")), Tired);
  CHECK_FALSE(executor.busy());
  CHECK(executor.replacements() == 0);
  tired = false;
  executor.submit(request("dies"));
  executor.submit(request("behind"));
  CHECK(next_reply(executor).outcome == Outcome::Crashed);
  tired = true;
  CHECK_THROWS_AS(static_cast<void>(next_reply(executor)), Tired);
  CHECK_FALSE(executor.busy());
  tired = false;
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
}

TEST_CASE("the read ceiling needs no problem: a worker that was lost is replaced without it, whoever is tired of preparing") {
  struct Tired {};
  GpuExecutor executor(options());
  bool tired = false;
  executor.prepare(any_template(), problem(1), "", {}, [&] {
    if (tired) throw Tired{};
  });
  CHECK(visit(executor, request("dies")).outcome == Outcome::Crashed);
  tired = true;
  CHECK(executor.read_ceiling_bytes_per_s() == 4.5e12);
  CHECK_THROWS_AS(executor.submit(request("of a problem that is not there")), UsageError);
  executor.prepare(any_template(), problem(1), "");
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
}

TEST_CASE("calls out of order are usage errors") {
  GpuExecutor executor(options());
  CHECK_THROWS_AS(executor.submit(request("early")), UsageError);
  CHECK_THROWS_AS(static_cast<void>(executor.collect(milliseconds(0))), UsageError);
  CHECK_THROWS_AS(static_cast<void>(executor.run_off({})), UsageError);
  executor.prepare(any_template(), problem(1), "");
  executor.submit(request("hangs"));
  executor.submit(request("second"));
  CHECK_THROWS_AS(executor.submit(request("third")), UsageError);
  CHECK_THROWS_AS(executor.prepare(any_template(), problem(2), ""), UsageError);
  CHECK_THROWS_AS(static_cast<void>(executor.read_ceiling_bytes_per_s()), UsageError);
  CHECK_FALSE(executor.collect(milliseconds(10)));
}

}  // namespace test_gpu_executor
