// Pools of several processes that share a cache: each cubin is compiled once, and nobody is waited for in vain.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tests/unit/compile/faulty_pool.hpp"
#include "tuner/base/files.hpp"
#include "tuner/compile/compile_claims.hpp"
#include "tuner/compile/job_queue.hpp"

namespace test_shared_compiling {

using namespace attune;
using namespace attune::compile;
using namespace attune::testing;
using std::chrono::milliseconds;
using test::TempFolder;

namespace {

constexpr milliseconds kPatience{60000}, kLongEnough{30000};
using List = JobQueue::List;

/// A pool on a cache that another has, too. A lock belongs to an opened file, so that two pools of one process are to each other as two
/// of different processes.
CompilePool::Options sharing(const TempFolder& cache, int workers = 2) {
  auto options = faulty(workers);
  options.cache = cache.path();
  return options;
}

/// The key of what is taken next; empty: nothing.
std::string take(JobQueue& queue, List list) {
  const auto job = queue.take(list);
  return job ? job->key : "";
}

/// Waits for what another process gives back.
std::vector<JobQueue::Taken> freed_of(JobQueue& queue) {
  std::vector<JobQueue::Taken> freed;
  const auto until = JobQueue::Clock::now() + kLongEnough;
  while (freed.empty() && JobQueue::Clock::now() < until) freed = queue.take_freed();
  REQUIRE(!freed.empty());
  return freed;
}

}  // namespace

TEST_CASE("a claim is one process's, until it gives it back or is closed") {
  const TempFolder cache;
  const CompileClaims first(cache.path());
  {
    const CompileClaims second(cache.path());
    CHECK(second.take("a"));
    CHECK(second.take("a"));
    CHECK_FALSE(first.take("a"));
    CHECK(first.take("b"));
    CHECK_FALSE(second.take("b"));
    first.give_back("a");  // it never was its own
    CHECK_FALSE(first.take("a"));
    second.give_back("a");
    CHECK(first.take("a"));
    first.give_back_all();
    CHECK(second.take("a"));
    CHECK(second.take("b"));
  }
  CHECK(first.take("a"));
  CHECK(first.take("b"));
}

TEST_CASE("where nothing can be locked every claim is ours") {
  const TempFolder cache;
  std::filesystem::create_directory(cache.path() / "claims");
  for (const auto& folder : {std::filesystem::path(), cache.path(), cache.path() / "missing"}) {
    const CompileClaims first(folder), second(folder);
    CHECK(first.take("a"));
    CHECK(second.take("a"));
  }
}

TEST_CASE("a link in the place of the file of claims is not followed") {
  const TempFolder cache;
  test::write_bytes(cache.path() / "precious", "kept");
  std::filesystem::create_symlink(cache.path() / "precious", cache.path() / "claims");
  const CompileClaims first(cache.path()), second(cache.path());
  CHECK(first.take("a"));
  CHECK(second.take("a"));
  CHECK(base::read_file(cache.path() / "precious") == "kept");
}

TEST_CASE("the claims of a process that is killed are free") {
  const TempFolder cache;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const int pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that fails leaves nobody behind
    char taken = 'e';
    try {
      const CompileClaims theirs(cache.path());
      taken = theirs.take("a") ? 'y' : 'n';
      (void)!::write(ready[1], &taken, 1);
      for (;;) ::pause();
    } catch (...) {
      (void)!::write(ready[1], &taken, 1);
      ::_exit(1);
    }
  }
  char taken = 0;
  REQUIRE(::read(ready[0], &taken, 1) == 1);
  CHECK(taken == 'y');
  const CompileClaims mine(cache.path());
  CHECK_FALSE(mine.take("a"));
  REQUIRE(::kill(pid, SIGKILL) == 0);
  REQUIRE(::waitpid(pid, nullptr, 0) == pid);
  CHECK(mine.take("a"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("what another process compiles is passed over, and taken when it is free") {
  const TempFolder cache;
  const CompileClaims other(cache.path());
  JobQueue queue(cache.path(), kPatience);
  for (const char* key : {"a", "b", "c"}) queue.add(key);
  REQUIRE(other.take("a"));
  CHECK(take(queue, List::Waiting) == "b");
  CHECK(queue.size() == 2);
  CHECK(queue.look_at() < JobQueue::Clock::time_point::max());
  other.give_back("a");
  const auto freed = freed_of(queue);
  REQUIRE(freed.size() == 1);
  CHECK(freed.front().key == "a");
  CHECK_FALSE(other.take("a"));
  queue.put_back(freed.front());
  CHECK(other.take("a"));  // who only waits for a worker keeps it from nobody
  other.give_back("a");
  CHECK(take(queue, List::Waiting) == "a");
  CHECK(queue.look_at() == JobQueue::Clock::time_point::max());
  CHECK_FALSE(other.take("b"));
  queue.ended("b");
  CHECK(other.take("b"));
}

TEST_CASE("a job that made way is free for another process, and comes after all that wait, whoever had it") {
  const TempFolder cache;
  const CompileClaims other(cache.path());
  JobQueue queue(cache.path(), kPatience);
  queue.add("long");
  queue.add("short");
  REQUIRE(take(queue, List::Waiting) == "long");
  queue.set_aside("long");
  REQUIRE(other.take("long"));
  CHECK(take(queue, List::Aside) == "");
  CHECK(queue.aside() == std::vector<std::string>{"long"});
  other.give_back("long");
  for (const auto& job : freed_of(queue)) queue.put_back(job);
  CHECK(queue.aside() == std::vector<std::string>{"long"});
  CHECK(take(queue, List::Waiting) == "short");
  CHECK(take(queue, List::Waiting) == "");
  CHECK(take(queue, List::Aside) == "long");
  CHECK_FALSE(other.take("long"));
}

TEST_CASE("other processes are waited for no longer than patience says, however many there are") {
  const TempFolder cache;
  const CompileClaims first(cache.path()), second(cache.path());
  JobQueue queue(cache.path(), milliseconds(50));
  queue.add("a");
  REQUIRE(first.take("a"));
  CHECK(take(queue, List::Waiting) == "");
  first.give_back("a");
  for (const auto& job : freed_of(queue)) queue.put_back(job);
  REQUIRE(second.take("a"));
  std::string key;
  for (const auto until = JobQueue::Clock::now() + kLongEnough; key.empty() && JobQueue::Clock::now() < until;) {
    for (const auto& job : queue.take_freed()) queue.put_back(job);
    key = take(queue, List::Waiting);
  }
  CHECK(key == "a");
  CHECK_FALSE(first.take("a"));  // the second has it still
}

TEST_CASE("two pools with the same requests compile each once, together") {
  constexpr int kJobs = 40;
  const TempFolder cache;
  CompilePool first(sharing(cache)), second(sharing(cache));
  for (int i = 0; i < kJobs; ++i) {
    first.submit(request("late 20 " + std::to_string(i)));
    second.submit(request("late 20 " + std::to_string(i)));
  }
  std::size_t firsts = 0, seconds = 0;
  for (std::size_t answered = 0; answered < 2 * kJobs;) {
    const auto of_first = first.collect(milliseconds(1)), of_second = second.collect(milliseconds(1));
    for (const auto& completed : of_first) firsts += completed.result.status == CompileStatus::Ok ? 1 : 0;
    for (const auto& completed : of_second) seconds += completed.result.status == CompileStatus::Ok ? 1 : 0;
    answered += of_first.size() + of_second.size();
  }
  CHECK(firsts == kJobs);
  CHECK(seconds == kJobs);
  CHECK(first.compilations() + second.compilations() == kJobs);
  CHECK(first.compilations() > 0);
  CHECK(second.compilations() > 0);
}

TEST_CASE("no compilation makes way for what another process has compiled") {
  const TempFolder cache;
  CompilePool first(sharing(cache, 1)), second(sharing(cache, 1));
  first.make_way_after(milliseconds(200));
  first.submit(request("late 2000"));
  while (first.queued() > 0) CHECK(first.collect(milliseconds(1)).empty());
  CHECK(second.compile_now(request("ok")).status == CompileStatus::Ok);
  first.submit(request("ok"));
  first.submit(request("late 1"));  // is not there yet
  CHECK(second.compile_now(request("late 1")).status == CompileStatus::Ok);
  std::size_t aside = 0, done = 0;
  while (done < 3) {
    done += first.collect(milliseconds(1)).size();
    aside = std::max(aside, first.aside());
  }
  CHECK(first.collect(milliseconds(-1)).empty());
  CHECK(aside == 0);
  CHECK(first.compilations() == 1);
}

TEST_CASE("no compilation makes way for what another process compiles now") {
  const TempFolder cache;
  const CompileClaims other(cache.path());
  CompilePool pool(sharing(cache, 1));
  const auto pids = worker_pids();
  pool.make_way_after(milliseconds(50));
  pool.submit(request("late 600"));
  while (pool.queued() > 0) CHECK(pool.collect(milliseconds(1)).empty());
  REQUIRE(other.take(cubin_key(request("ok"), pool.nvrtc_build())));
  pool.submit(request("ok"));
  CHECK(pool.collect(milliseconds(-1)).size() == 1);  // the long one
  CHECK(worker_pids() == pids);
  CHECK(pool.aside() == 0);
  other.give_back_all();
  const auto rest = pool.collect(milliseconds(-1));
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].result.status == CompileStatus::Ok);
}

TEST_CASE("what a pool gave up is compiled by the other") {
  const TempFolder cache;
  CompilePool first(sharing(cache, 1)), second(sharing(cache, 1));
  first.submit(request("hang"));
  while (first.queued() > 0) CHECK(first.collect(milliseconds(1)).empty());
  second.submit(request("hang"));
  CHECK(second.collect(milliseconds(50)).empty());
  CHECK(second.queued() == 1);
  first.abandon();
  while (second.queued() > 0) CHECK(second.collect(milliseconds(1)).empty());
}

}  // namespace test_shared_compiling
