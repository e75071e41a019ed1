// What the pool does when workers fail, with a worker that fails on request and needs no NVRTC.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tests/unit/base/scoped_variable.hpp"
#include "tests/unit/compile/faulty_pool.hpp"
#include "tuner/compile/compile_pool.hpp"

namespace test_compile_pool_faults {

using namespace attune::compile;
using attune::test::TempFolder;
using attune::testing::collect_all;
using attune::testing::faulty;
using attune::testing::kForEver;
using attune::testing::kNow;
using attune::testing::request;
using attune::testing::ScopedVariable;
using attune::testing::worker_pids;

TEST_CASE("a job whose worker died is tried once more in a fresh worker") {
  const TempFolder folder;
  CompilePool pool(faulty());
  const int before = worker_pids().front();
  const CompileResult result = pool.compile_now(request("exit once " + (folder.path() / "flag").string()));
  CHECK(result.status == CompileStatus::Ok);
  CHECK(worker_pids().front() != before);
  CHECK(result.log == "from process " + std::to_string(worker_pids().front()));
}

TEST_CASE("a job that kills two workers is Crashed, and the next job is well") {
  CompilePool pool(faulty());
  const CompileResult result = pool.compile_now(request("exit"));
  CHECK(result.status == CompileStatus::Crashed);
  CHECK(result.log == "failed compiling some.cu for sm_90: lost the compile worker 2 times, last: exited with code 7\n");
  CHECK(result.key == cubin_key(request("exit"), "1.0 test"));
  CHECK(pool.compile_now(request("ok")).status == CompileStatus::Ok);
}

TEST_CASE("what a worker printed before it died is in the log, and not on our standard error") {
  CompilePool pool(faulty());
  CHECK(pool.compile_now(request("last words")).log ==
        "failed compiling some.cu for sm_90: lost the compile worker 2 times, last: exited with code 8, having printed "
        "\"cannot go on\"\n");
}

TEST_CASE("a dying worker takes no other job with it") {
  CompilePool pool(faulty(2));
  std::set<std::uint64_t> well;
  const auto sick = pool.submit(request("exit"));
  for (int i = 0; i < 10; ++i) well.insert(pool.submit(request("ok " + std::to_string(i))));
  for (const auto& [ticket, result] : collect_all(pool)) {
    CHECK(result.status == (ticket == sick ? CompileStatus::Crashed : CompileStatus::Ok));
  }
}

TEST_CASE("a worker that dies idle is replaced") {
  CompilePool pool(faulty());
  const int before = worker_pids().front();
  ::kill(before, SIGKILL);
  CHECK(pool.compile_now(request("ok")).status == CompileStatus::Ok);
  CHECK(worker_pids().front() != before);
}

TEST_CASE("a job past the deadline is TimedOut, and the next job is well") {
  CompilePool::Options options = faulty();
  options.deadline = std::chrono::milliseconds(50);
  CompilePool pool(options);
  const int before = worker_pids().front();
  const CompileResult result = pool.compile_now(request("hang"));
  CHECK(result.status == CompileStatus::TimedOut);
  CHECK(result.log == "failed compiling some.cu for sm_90: not finished after 0.05 s; the compile worker was killed\n");
  CHECK(::kill(before, 0) != 0);
  CHECK(pool.compile_now(request("ok")).status == CompileStatus::Ok);
}

TEST_CASE("a job that gets too little of a processor is no failure; one that uses its time up is") {
  CompilePool::Options options = faulty();
  options.deadline = std::chrono::milliseconds(250);
  CompilePool pool(options);
  const auto began = std::chrono::steady_clock::now();
  CHECK(pool.compile_now(request("crowded")).status == CompileStatus::Ok);
  CHECK(std::chrono::steady_clock::now() - began > options.deadline);
  CHECK(pool.compile_now(request("endless")).status == CompileStatus::TimedOut);
}

TEST_CASE("time in which nobody ran is not the job's: a pool that was stopped with its workers goes on") {
  CompilePool::Options options = faulty();
  options.deadline = std::chrono::milliseconds(400);
  CompilePool pool(options);
  const int worker = worker_pids().front();
  (void)pool.submit(request("late 200"));
  (void)pool.collect(std::chrono::milliseconds(20));
  ::kill(worker, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ::kill(worker, SIGCONT);
  const auto done = collect_all(pool);
  REQUIRE(done.size() == 1);
  CHECK(done.begin()->second.status == CompileStatus::Ok);
}

TEST_CASE("time before a job began is no pause of the job's") {
  CompilePool::Options options = faulty();
  options.deadline = std::chrono::milliseconds(50);
  CompilePool pool(options);
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  CHECK(pool.compile_now(request("late 900")).status == CompileStatus::TimedOut);
}

TEST_CASE("a second pool answers from the cache, failures included, breakdowns not") {
  const TempFolder folder;
  CompilePool::Options options = faulty();
  options.cache = folder.path() / "cache";
  std::string log;
  {
    CompilePool pool(options);
    const CompileResult result = pool.compile_now(request("ok"));
    CHECK_FALSE(result.from_cache);
    CHECK(result.compile_ms == 1);
    log = result.log;
    CHECK(pool.compile_now(request("bad")).status == CompileStatus::Failed);
    CHECK(pool.compile_now(request("broken")).status == CompileStatus::Crashed);
  }
  CompilePool pool(options);
  const CompileResult ok = pool.compile_now(request("ok"));
  CHECK(ok.from_cache);
  CHECK(ok.compile_ms == 0);
  CHECK(ok.log == log);
  const CompileResult bad = pool.compile_now(request("bad"));
  CHECK(bad.from_cache);
  CHECK(bad.status == CompileStatus::Failed);
  CHECK_FALSE(pool.compile_now(request("broken")).from_cache);
}

TEST_CASE("an answer from the cache is collectable at once") {
  const TempFolder folder;
  CompilePool::Options options = faulty();
  options.cache = folder.path();
  CompilePool pool(options);
  (void)pool.compile_now(request("ok"));
  const auto ticket = pool.submit(request("ok"));
  const auto done = pool.collect(kNow);
  REQUIRE(done.size() == 1);
  CHECK(done.front().ticket == ticket);
  CHECK(done.front().result.from_cache);
}

TEST_CASE("a cache that cannot be written is told once, and is no failure") {
  const TempFolder folder;
  attune::test::write_bytes(folder.path() / "file", "");
  CompilePool::Options options = faulty();
  options.cache = folder.path() / "file/cache";
  CompilePool pool(options);
  CHECK(pool.take_warnings().empty());  // nothing would have been stored
  CHECK(pool.compile_now(request("ok")).status == CompileStatus::Ok);
  const auto warnings = pool.take_warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("is not written to, so that later runs compile again") != std::string::npos);
  CHECK(warnings[0].find("ENOTDIR") != std::string::npos);
  CHECK(pool.take_warnings().empty());
}

TEST_CASE("a pool that cannot start says why") {
  SUBCASE("no worker executable") {
    CompilePool::Options options = faulty();
    options.worker = "/nonexistent/attune";
    CHECK_THROWS_WITH_AS((void)CompilePool(options), doctest::Contains("/nonexistent/attune"), attune::EnvironmentError);
  }
  SUBCASE("a worker that leaves at once") {
    const ScopedVariable start("ATTUNE_FAULTY_START", "exit");
    CHECK_THROWS_WITH_AS((void)CompilePool(faulty()), doctest::Contains("lost 3 times before it was ready, last: exited with code 9"),
                         attune::EnvironmentError);
  }
  SUBCASE("no workers asked for") { CHECK_THROWS_AS((void)CompilePool(faulty(0)), attune::UsageError); }
}

TEST_CASE("a compiler that changes during a run ends it: its cubins would share keys with the old one's") {
  const TempFolder folder;
  const std::string file = (folder.path() / "build").string();
  attune::test::write_bytes(file, "1.0 old");
  const ScopedVariable build("ATTUNE_FAULTY_BUILD", file.c_str());
  CompilePool pool(faulty());
  CHECK(pool.nvrtc_build() == "1.0 old");
  attune::test::write_bytes(file, "1.0 new");
  (void)pool.submit(request("exit"));
  CHECK_THROWS_WITH_AS((void)pool.collect(kForEver), doctest::Contains("NVRTC changed from 1.0 old to 1.0 new"), attune::EnvironmentError);
}

}  // namespace test_compile_pool_faults
