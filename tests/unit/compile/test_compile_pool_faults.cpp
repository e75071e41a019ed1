// What the pool does when workers fail, with a worker that fails on request and needs no NVRTC.
#include <doctest/doctest.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "attune/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/base/scoped_variable.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/files.hpp"
#include "tuner/compile/compile_pool.hpp"

namespace test_compile_pool_faults {

using namespace attune::compile;
using attune::test::TempFolder;
using attune::testing::ScopedVariable;

namespace {

constexpr std::chrono::milliseconds kForEver{-1};
constexpr std::chrono::milliseconds kNow{0};

CompilePool::Options faulty(int workers = 1) {
  CompilePool::Options options;
  options.worker = ATTUNE_FAULTY_WORKER;
  options.workers = workers;
  return options;
}

CompileRequest request(const std::string& source) { return {source, "some.cu", "sm_90", {}}; }

/// Collects until nothing is pending; results by ticket.
std::map<std::uint64_t, CompileResult> collect_all(CompilePool& pool) {
  std::map<std::uint64_t, CompileResult> results;
  while (pool.pending() > 0) {
    for (auto& completed : pool.collect(kForEver)) {
      CHECK(results.emplace(completed.ticket, completed.result).second);
    }
  }
  return results;
}

}  // namespace

TEST_CASE("every ticket is answered once, with more jobs than workers") {
  CompilePool pool(faulty(2));
  std::map<std::uint64_t, std::string> asked;
  for (int i = 0; i < 20; ++i) {
    const std::string source = "ok " + std::to_string(i);
    asked[pool.submit(request(source))] = source;
  }
  CHECK(pool.pending() == 20);
  const auto results = collect_all(pool);
  CHECK(results.size() == 20);
  for (const auto& [ticket, result] : results) {
    CHECK(result.cubin == asked.at(ticket));
    CHECK(result.key == cubin_key(request(asked.at(ticket)), "1.0 test"));
  }
}

TEST_CASE("a pool of 64 workers answers, and leaves none behind") {
  std::vector<int> pids;
  {
    CompilePool pool(faulty(64));
    pids = pool.worker_pids();
    CHECK(std::set<int>(pids.begin(), pids.end()).size() == 64);
    for (int i = 0; i < 128; ++i) (void)pool.submit(request("ok " + std::to_string(i)));
    CHECK(collect_all(pool).size() == 128);
  }
  for (const int pid : pids) CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("equal requests in flight are compiled once") {
  CompilePool pool(faulty(2));
  const auto first = pool.submit(request("ok same"));
  const auto second = pool.submit(request("ok same"));
  CHECK(first != second);
  const auto results = collect_all(pool);
  CHECK(results.at(first).log == results.at(second).log);  // the log names the process; one made both
  CHECK(results.at(first).cubin == "ok same");
}

TEST_CASE("what was compiled in this run is not compiled again, without any cache folder") {
  CompilePool pool(faulty(2));
  const CompileResult first = pool.compile_now(request("ok again"));
  const auto ticket = pool.submit(request("ok again"));
  CHECK(pool.queued() == 0);
  const auto done = pool.collect(kNow);
  REQUIRE(done.size() == 1);
  CHECK(done.front().ticket == ticket);
  CHECK(done.front().result.log == first.log);  // which names the process that compiled it
  CHECK(done.front().result.cubin == "ok again");
  CHECK(done.front().result.key == first.key);
  CHECK(done.front().result.from_cache);
  CHECK(done.front().result.compile_ms == 0);
}

TEST_CASE("compilations, equal requests and answers from memory are counted apart, failures included") {
  CompilePool pool(faulty(2));
  for (const char* source : {"ok 1", "ok 1", "ok 1", "bad", "exit"}) (void)pool.submit(request(source));
  (void)collect_all(pool);
  for (const char* source : {"ok 1", "bad", "exit"}) (void)pool.submit(request(source));
  (void)collect_all(pool);
  CHECK(pool.compilations() == 4);  // "exit" twice: that a worker died is not remembered
  CHECK(pool.deduplicated() == 2);
  CHECK(pool.cache_hits() == 2);
}

TEST_CASE("the pool tells how many jobs no worker has, and how many workers have one") {
  CompilePool pool(faulty(2));
  CHECK(pool.workers() == 2);
  CHECK(pool.queued() == 0);
  CHECK(pool.busy_workers() == 0);
  // Both hang: neither becomes free, whenever it started.
  for (const char* source : {"hang", "hang b", "hang c", "hang c", "hang d"}) (void)pool.submit(request(source));
  while (pool.busy_workers() < 2) CHECK(pool.collect(std::chrono::milliseconds(5)).empty());
  CHECK(pool.queued() == 2);  // the equal ones are one
  CHECK(pool.pending() == 5);
}

TEST_CASE("busy time grows while a worker has a job, is kept when it ends, and stands still when none has one") {
  CompilePool::Options options = faulty(2);
  options.deadline = std::chrono::milliseconds(40);
  CompilePool pool(options);
  CHECK(pool.busy_seconds() == 0);
  (void)pool.submit(request("hang"));
  double before = 0;
  while (pool.busy_workers() > 0) {
    CHECK(pool.busy_seconds() >= before);
    before = pool.busy_seconds();
    (void)pool.collect(std::chrono::milliseconds(5));
  }
  const double one = pool.busy_seconds();
  CHECK(one >= 0.04);  // its deadline
  CHECK(pool.busy_seconds() == one);
  (void)pool.submit(request("hang"));
  (void)pool.submit(request("hang b"));
  (void)collect_all(pool);
  CHECK(pool.busy_seconds() >= one + 0.08);
}

TEST_CASE("nothing compiles outside the processors that were given for it, replaced workers included") {
  const std::vector<int> available = attune::base::available_cpus();
  CompilePool::Options options = faulty(3);
  options.cpus = {available.front()};
  options.nice = 4;
  CompilePool pool(options);
  (void)pool.compile_now(request("exit"));  // two workers are new now
  (void)pool.compile_now(request("ok"));
  for (const int pid : pool.worker_pids()) {
    cpu_set_t set;
    REQUIRE(::sched_getaffinity(pid, sizeof(set), &set) == 0);
    CHECK(CPU_COUNT(&set) == 1);
    CHECK(CPU_ISSET(available.front(), &set));
    CHECK(::getpriority(PRIO_PROCESS, static_cast<id_t>(pid)) == std::min(::getpriority(PRIO_PROCESS, 0) + 4, 19));
  }
}

TEST_CASE("collect does not wait when nothing is pending") {
  CompilePool pool(faulty());
  CHECK(pool.collect(kForEver).empty());
  CHECK(pool.pending() == 0);
}

TEST_CASE("collect comes back at its timeout while a job goes on") {
  CompilePool pool(faulty());
  (void)pool.submit(request("hang"));
  CHECK(pool.collect(kNow).empty());
  CHECK(pool.collect(std::chrono::milliseconds(5)).empty());
  CHECK(pool.pending() == 1);
}

TEST_CASE("a signal ends the wait of collect") {
  static volatile sig_atomic_t arrived = 0;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { arrived = 1; };
  REQUIRE(::sigaction(SIGUSR1, &action, &before) == 0);
  CompilePool pool(faulty());
  (void)pool.submit(request("hang"));
  const pthread_t self = ::pthread_self();
  std::atomic<bool> over = false;
  // Again and again: the first one may come before the wait begins.
  std::thread interrupter([self, &over] {
    while (!over) {
      ::pthread_kill(self, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  CHECK(pool.collect(kForEver).empty());
  over = true;
  interrupter.join();
  CHECK(arrived == 1);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("a descriptor of the pool becomes readable when collect has work") {
  CompilePool pool(faulty());
  REQUIRE(pool.descriptors().size() == 1);
  const auto ticket = pool.submit(request("ok"));
  pollfd entry{pool.descriptors().front(), POLLIN, 0};
  REQUIRE(::poll(&entry, 1, -1) == 1);
  const auto done = pool.collect(kNow);
  REQUIRE(done.size() == 1);
  CHECK(done.front().ticket == ticket);
}

TEST_CASE("compile_now leaves what else finishes to collect") {
  CompilePool pool(faulty());
  const auto other = pool.submit(request("ok other"));
  CHECK(pool.compile_now(request("ok mine")).cubin == "ok mine");
  CHECK(pool.pending() == 1);
  const auto done = pool.collect(kForEver);
  REQUIRE(done.size() == 1);
  CHECK(done.front().ticket == other);
}

TEST_CASE("a job whose worker died is tried once more in a fresh worker") {
  const TempFolder folder;
  CompilePool pool(faulty());
  const int before = pool.worker_pids().front();
  const CompileResult result = pool.compile_now(request("exit once " + (folder.path() / "flag").string()));
  CHECK(result.status == CompileStatus::Ok);
  CHECK(pool.worker_pids().front() != before);
  CHECK(result.log == "from process " + std::to_string(pool.worker_pids().front()));
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
  const int before = pool.worker_pids().front();
  ::kill(before, SIGKILL);
  CHECK(pool.compile_now(request("ok")).status == CompileStatus::Ok);
  CHECK(pool.worker_pids().front() != before);
}

TEST_CASE("a job past the deadline is TimedOut, and the next job is well") {
  CompilePool::Options options = faulty();
  options.deadline = std::chrono::milliseconds(50);
  CompilePool pool(options);
  const int before = pool.worker_pids().front();
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
  (void)pool.submit(request("late 200"));
  (void)pool.collect(std::chrono::milliseconds(20));
  const int worker = pool.worker_pids().front();
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
  CHECK(pool.cache_warning().empty());
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

TEST_CASE("a cache that cannot be written is a warning, not a failure") {
  const TempFolder folder;
  attune::base::write_file_atomic(folder.path() / "file", "");
  CompilePool::Options options = faulty();
  options.cache = folder.path() / "file/cache";
  CompilePool pool(options);
  CHECK(pool.compile_now(request("ok")).status == CompileStatus::Ok);
  CHECK(pool.cache_warning().find("ENOTDIR") != std::string::npos);
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
  attune::base::write_file_atomic(file, "1.0 old");
  const ScopedVariable build("ATTUNE_FAULTY_BUILD", file.c_str());
  CompilePool pool(faulty());
  CHECK(pool.nvrtc_build() == "1.0 old");
  attune::base::write_file_atomic(file, "1.0 new");
  (void)pool.submit(request("exit"));
  CHECK_THROWS_WITH_AS((void)pool.collect(kForEver), doctest::Contains("NVRTC changed from 1.0 old to 1.0 new"), attune::EnvironmentError);
}

}  // namespace test_compile_pool_faults
