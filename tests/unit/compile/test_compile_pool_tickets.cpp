// What the pool answers, counts and waits for, with a worker that needs no NVRTC.
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

#include "tests/unit/compile/faulty_pool.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/compile/compile_pool.hpp"

namespace test_compile_pool_tickets {

using namespace attune::compile;
using attune::testing::collect_all;
using attune::testing::faulty;
using attune::testing::kForEver;
using attune::testing::kNow;
using attune::testing::request;
using attune::testing::worker_pids;

TEST_CASE("every ticket is answered once, with more jobs than workers") {
  CompilePool pool(faulty(2));
  std::map<std::uint64_t, std::string> asked;
  for (int i = 0; i < 20; ++i) {
    const std::string source = "ok " + std::to_string(i);
    asked[pool.submit(request(source))] = source;
  }
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
    pids = worker_pids();
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

TEST_CASE("equal requests and answers from memory are no compilations, failures are") {
  CompilePool pool(faulty(2));
  for (const char* source : {"ok 1", "ok 1", "ok 1", "bad", "exit"}) (void)pool.submit(request(source));
  (void)collect_all(pool);
  CHECK(pool.compilations() == 3);
  std::size_t from_memory = 0;
  for (const char* source : {"ok 1", "bad", "exit"}) (void)pool.submit(request(source));
  for (const auto& [ticket, result] : collect_all(pool)) from_memory += result.from_cache ? 1 : 0;
  CHECK(from_memory == 2);
  CHECK(pool.compilations() == 4);  // "exit" twice: that a worker died is not remembered
}

TEST_CASE("the pool tells how many jobs no worker has, equal ones once") {
  CompilePool pool(faulty(2));
  CHECK(pool.workers() == 2);
  CHECK(pool.queued() == 0);
  // Both hang: neither becomes free, whenever it started.
  for (const char* source : {"hang", "hang b", "hang c", "hang c", "hang d"}) (void)pool.submit(request(source));
  while (pool.queued() > 2) CHECK(pool.collect(std::chrono::milliseconds(5)).empty());
  CHECK(pool.collect(std::chrono::milliseconds(50)).empty());
  CHECK(pool.queued() == 2);
}

TEST_CASE("what is abandoned is ended and never answered, and the next job is well") {
  CompilePool pool(faulty(2));
  for (const char* source : {"hang", "hang b", "hang c"}) (void)pool.submit(request(source));
  while (pool.queued() > 1) CHECK(pool.collect(std::chrono::milliseconds(5)).empty());
  const auto before = worker_pids();
  pool.abandon();
  CHECK(pool.queued() == 0);
  CHECK(pool.collect(kForEver).empty());  // waits for nothing
  const double busy_s = pool.busy_seconds();
  CHECK(pool.busy_seconds() == busy_s);
  for (const int pid : before) CHECK(::kill(pid, 0) != 0);
  CHECK(pool.compile_now(request("ok")).status == CompileStatus::Ok);
}

TEST_CASE("a job that takes long makes way for those that wait, and is compiled after them") {
  CompilePool pool(faulty(1));
  pool.make_way_after(std::chrono::milliseconds(50));
  const auto slow = pool.submit(request("late 400"));
  std::vector<std::uint64_t> order, others;
  for (const std::string source : {"ok 1", "ok 2", "late 20"}) others.push_back(pool.submit(request(source)));
  while (order.size() < 4) {
    for (const auto& completed : pool.collect(kForEver)) {
      CHECK(completed.result.status == CompileStatus::Ok);
      if (completed.ticket == others.front()) CHECK(pool.aside() == 1);
      order.push_back(completed.ticket);
    }
  }
  others.push_back(slow);
  CHECK(order == others);
  CHECK(pool.compilations() == 4);  // what was stopped counts for none
}

TEST_CASE("jobs that made way have all workers but one, so that what comes later is not kept waiting") {
  CompilePool pool(faulty(2));
  pool.make_way_after(std::chrono::milliseconds(50));
  std::vector<std::uint64_t> slow;
  // Longer than workers take to start and answer, also on a busy machine.
  for (const std::string source : {"late 6000", "late 6001"}) slow.push_back(pool.submit(request(source)));
  for (const std::string source : {"ok 1", "ok 2"}) (void)pool.submit(request(source));
  std::size_t answered = 0;
  while (answered < 2) answered += pool.collect(kForEver).size();  // both that were quick
  CHECK(pool.aside() >= 1);
  const auto later = pool.submit(request("ok 3"));
  const auto next = pool.collect(kForEver);
  REQUIRE(next.size() == 1);
  CHECK(next.front().ticket == later);
  CHECK(collect_all(pool).size() == 2);
}

TEST_CASE("of several jobs that take long the longest makes way, and no other beside it") {
  CompilePool pool(faulty(2));
  const auto first = pool.submit(request("late 300")), longest = pool.submit(request("late 900"));
  std::vector<std::uint64_t> order;
  const auto collect = [&](std::chrono::milliseconds timeout) {
    for (const auto& completed : pool.collect(timeout)) order.push_back(completed.ticket);
  };
  while (pool.queued() > 0) collect(std::chrono::milliseconds(1));
  REQUIRE(order.empty());
  while (order.empty()) collect(kForEver);
  const auto later = pool.submit(request("late 901"));  // on the first worker, where one that looks through them comes first
  while (pool.queued() > 0) collect(std::chrono::milliseconds(1));
  const auto pids = worker_pids();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  pool.make_way_after(std::chrono::milliseconds(50));
  const auto waiting = pool.submit(request("ok"));
  while (order.size() < 4) collect(kForEver);
  CHECK(order == std::vector<std::uint64_t>{first, waiting, later, longest});
  const auto after = worker_pids();
  REQUIRE(after.size() == 2);
  CHECK(after[0] == pids[0]);
  CHECK(after[1] != pids[1]);
}

TEST_CASE("a job that takes long goes on where no other waits") {
  CompilePool pool(faulty(2));
  const auto pids = worker_pids();
  pool.make_way_after(std::chrono::milliseconds(20));
  (void)pool.submit(request("ok"));
  (void)pool.submit(request("late 200"));
  CHECK(collect_all(pool).size() == 2);
  CHECK(worker_pids() == pids);
}

TEST_CASE("busy time grows while a worker has a job, is kept when it ends, and stands still when none has one") {
  CompilePool::Options options = faulty(2);
  options.deadline = std::chrono::milliseconds(40);
  CompilePool pool(options);
  CHECK(pool.busy_seconds() == 0);
  (void)pool.submit(request("hang"));
  for (double before = 0; pool.collect(std::chrono::milliseconds(5)).empty();) {
    CHECK(pool.busy_seconds() >= before);
    before = pool.busy_seconds();
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
  for (const int pid : worker_pids()) {
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
}

TEST_CASE("collect comes back at its timeout while a job goes on") {
  CompilePool pool(faulty());
  (void)pool.submit(request("hang"));
  CHECK(pool.collect(kNow).empty());
  CHECK(pool.collect(std::chrono::milliseconds(5)).empty());
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
  const auto done = pool.collect(kForEver);
  REQUIRE(done.size() == 1);
  CHECK(done.front().ticket == other);
}

}  // namespace test_compile_pool_tickets
