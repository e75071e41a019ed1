// The executor's queue: two visits handed over at once, against a worker that speaks the protocol without a GPU.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/measure/executor_fixture.hpp"

namespace test_gpu_queue {

using namespace attune;
using namespace attune::test;
using measure::Outcome;
using std::chrono::hours;
using std::chrono::milliseconds;
using Names = std::vector<std::string>;

namespace {

struct Prepared {
  Prepared() { executor.prepare(any_template(), problem(1), ""); }
  GpuExecutor executor{options()};
};

/// A cubin larger than what may be sent behind another visit, or than a socket takes at once.
measure::VisitRequest large(const std::string& name) {
  auto result = request(name);
  result.cubin_key = "large";
  result.cubin.assign(std::size_t{1} << 20, 'x');
  return result;
}

void check_reply(GpuExecutor& executor, const std::string& name, Outcome outcome) {
  CAPTURE(name);
  const auto reply = next_reply(executor);
  CHECK(reply.configuration == name);
  CHECK(reply.outcome == outcome);
}

}  // namespace

TEST_CASE_FIXTURE(Prepared, "two visits are in hand at once and answered in their order, each with its configuration") {
  executor.submit(request("first"));
  executor.submit(request("second"));
  CHECK(executor.in_hand() == Names{"first", "second"});
  check_reply(executor, "first", Outcome::Ok);
  CHECK(executor.in_hand() == Names{"second"});
  executor.submit(request("third"));
  check_reply(executor, "second", Outcome::Ok);
  check_reply(executor, "third", Outcome::Ok);
  CHECK_FALSE(executor.busy());
  CHECK(executor.replacements() == 0);
}

TEST_CASE_FIXTURE(Prepared, "a worker that dies on the first of two does not cost the second") {
  executor.submit(request("dies"));
  executor.submit(request("innocent"));
  check_reply(executor, "dies", Outcome::Crashed);
  check_reply(executor, "innocent", Outcome::Ok);
  CHECK(executor.replacements() == 2);  // "dies" was tried twice, nobody else had to be
}

TEST_CASE_FIXTURE(Prepared, "a first visit that dies once is tried again with what is queued behind it, and both are answered") {
  const TempFolder folder;
  const std::string once = fmt::format("dies-once:{}", (folder / "marker").string());
  executor.submit(request(once));
  executor.submit(request("innocent"));
  check_reply(executor, once, Outcome::Ok);
  check_reply(executor, "innocent", Outcome::Ok);
  CHECK(executor.replacements() == 1);
}

TEST_CASE_FIXTURE(Prepared, "a second visit that kills the worker is blamed for it, and the first keeps its answer") {
  executor.submit(request("innocent"));
  executor.submit(request("dies"));
  check_reply(executor, "innocent", Outcome::Ok);
  executor.submit(request("behind"));
  check_reply(executor, "dies", Outcome::Crashed);
  check_reply(executor, "behind", Outcome::Ok);
  CHECK(executor.replacements() == 2);
}

TEST_CASE_FIXTURE(Prepared, "two culprits in a row are both tried twice and both blamed") {
  executor.submit(request("dies"));
  executor.submit(request("dies too"));
  check_reply(executor, "dies", Outcome::Crashed);
  check_reply(executor, "dies too", Outcome::Crashed);
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
  CHECK(executor.replacements() == 4);
}

TEST_CASE_FIXTURE(Prepared, "a first visit that ruins the context does not cost the second") {
  executor.submit(request("ruins"));
  executor.submit(request("innocent"));
  check_reply(executor, "ruins", Outcome::Crashed);
  check_reply(executor, "innocent", Outcome::Ok);
}

TEST_CASE_FIXTURE(Prepared, "a wrong result of the first of two costs neither the worker nor the second") {
  executor.submit(request("wrong"));
  executor.submit(request("innocent"));
  check_reply(executor, "wrong", Outcome::WrongResult);
  check_reply(executor, "innocent", Outcome::Ok);
  CHECK(executor.replacements() == 0);
}

TEST_CASE_FIXTURE(Prepared, "a first visit that hangs is killed at its deadline and does not cost the second") {
  CHECK(visit(executor, request("quick")).outcome == Outcome::Ok);  // shortens the deadline
  executor.submit(request("hangs"));
  executor.submit(request("innocent"));
  check_reply(executor, "hangs", Outcome::TimedOut);
  check_reply(executor, "innocent", Outcome::Ok);
  CHECK(executor.replacements() == 2);
}

TEST_CASE_FIXTURE(Prepared, "the wait behind a slow visit does not count to a visit's deadline") {
  CHECK(visit(executor, request("quick")).outcome == Outcome::Ok);  // a deadline of 2 s: once a slow one, not twice
  executor.submit(request("slow"));
  executor.submit(request("slow"));
  check_reply(executor, "slow", Outcome::Ok);
  check_reply(executor, "slow", Outcome::Ok);
  CHECK(executor.replacements() == 0);
}

TEST_CASE_FIXTURE(Prepared, "a queued visit whose cubin was dropped meanwhile is sent again with it and answered") {
  CHECK(visit(executor, request("first")).outcome == Outcome::Ok);
  executor.submit(request("drops"));
  executor.submit(request("behind"));  // goes without the cubin: the worker still holds it
  check_reply(executor, "drops", Outcome::Ok);
  executor.submit(request("another"));
  // The worker is at "another", which has the cubin along, by the time that "behind" comes again.
  Names answered;
  while (executor.busy()) {
    const auto reply = next_reply(executor);
    CHECK(reply.outcome == Outcome::Ok);
    answered.push_back(reply.configuration);
  }
  CHECK(answered == Names{"another", "behind"});
  CHECK(executor.replacements() == 0);
}

TEST_CASE_FIXTURE(Prepared, "a dropped cubin goes along again even when nothing is queued behind") {
  CHECK(visit(executor, request("first")).outcome == Outcome::Ok);
  executor.submit(request("drops"));
  executor.submit(request("behind"));
  check_reply(executor, "drops", Outcome::Ok);
  const auto reply = next_reply(executor);
  CHECK(reply.configuration == "behind");
  CHECK(reply.detail == "cubin of 5");
}

TEST_CASE_FIXTURE(Prepared, "there is room for a second visit, for a large unknown cubin only when nothing is in hand") {
  CHECK(executor.has_room(large("a")));
  executor.submit(request("first"));
  CHECK(executor.has_room(request("second")));
  CHECK_FALSE(executor.has_room(large("second")));
  CHECK_THROWS_AS(executor.submit(large("second")), UsageError);
  executor.submit(request("second"));
  CHECK_FALSE(executor.has_room(request("third")));
  CHECK_THROWS_AS(executor.submit(request("third")), UsageError);
  check_reply(executor, "first", Outcome::Ok);
  check_reply(executor, "second", Outcome::Ok);
  CHECK(visit(executor, large("alone")).outcome == Outcome::Ok);
  executor.submit(request("first"));
  CHECK(executor.has_room(large("second")));  // the worker holds it now
}

TEST_CASE_FIXTURE(Prepared, "a large cubin behind a visit that hangs in a fresh worker holds up no deadline") {
  CHECK(visit(executor, large("quick")).outcome == Outcome::Ok);
  executor.submit(request("hangs"));
  executor.submit(large("behind"));
  check_reply(executor, "hangs", Outcome::TimedOut);
  check_reply(executor, "behind", Outcome::Ok);
}

TEST_CASE_FIXTURE(Prepared, "a large cubin that was dropped waits for the hanging visit before it to be over") {
  CHECK(visit(executor, large("quick")).outcome == Outcome::Ok);
  executor.submit(large("drops"));
  executor.submit(large("behind"));
  check_reply(executor, "drops", Outcome::Ok);
  executor.submit(request("hangs"));
  check_reply(executor, "hangs", Outcome::TimedOut);
  check_reply(executor, "behind", Outcome::Ok);
}

TEST_CASE_FIXTURE(Prepared, "a worker killed from outside costs neither of two visits") {
  executor.submit(request("busy"));
  executor.submit(request("innocent"));
  REQUIRE(worker_pid() > 0);
  ::kill(worker_pid(), SIGKILL);
  check_reply(executor, "busy", Outcome::Ok);
  check_reply(executor, "innocent", Outcome::Ok);
  CHECK(executor.replacements() == 1);
}

TEST_CASE_FIXTURE(Prepared, "abandoning nothing keeps the worker, and waits for nothing") {
  const int worker = worker_pid();
  executor.abandon(hours(1));
  CHECK(worker_pid() == worker);
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
}

TEST_CASE_FIXTURE(Prepared, "abandoning visits that are answered in time keeps the worker, and no later visit gets their replies") {
  const int worker = worker_pid();
  executor.submit(request("busy"));
  executor.submit(request("drops"));
  executor.abandon(hours(1));
  CHECK_FALSE(executor.busy());
  CHECK(executor.in_hand().empty());
  CHECK(worker_pid() == worker);
  const auto reply = visit(executor, request("next"));
  CHECK(reply.configuration == "next");
  CHECK(reply.detail == "cubin of 5");  // "drops" was heard
}

TEST_CASE_FIXTURE(Prepared, "abandoning a visit that hangs kills the worker after the grace, and the next visit works") {
  executor.submit(request("hangs"));
  executor.submit(request("behind"));
  executor.abandon(milliseconds(50));
  CHECK_FALSE(executor.busy());
  CHECK(worker_pid() == 0);
  CHECK(executor.descriptor() == -1);
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
  CHECK(executor.replacements() == 1);
}

TEST_CASE_FIXTURE(Prepared, "abandoning a visit that kills the worker starts no other one") {
  executor.submit(request("dies"));
  executor.submit(request("behind"));
  executor.abandon(hours(1));
  CHECK_FALSE(executor.busy());
  CHECK(worker_pid() == 0);
  CHECK(executor.replacements() == 0);
  CHECK(visit(executor, request("next")).outcome == Outcome::Ok);
}

}  // namespace test_gpu_queue
