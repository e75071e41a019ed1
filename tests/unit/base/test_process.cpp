#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tuner/base/files.hpp"
#include "tuner/base/process.hpp"

namespace test_process {

using attune::base::ChannelClosed;
using attune::base::WorkerProcess;
using nlohmann::json;

namespace {

constexpr std::chrono::milliseconds kForEver{-1};

/// How the worker ended, once it has closed its channel by itself.
std::string end_of(WorkerProcess& worker) {
  CHECK_THROWS_AS((void)worker.channel().receive(kForEver), ChannelClosed);
  return worker.kill_and_reap();
}

}  // namespace

TEST_CASE("a worker answers over its channel") {
  WorkerProcess worker(ATTUNE_TEST_WORKER, {"echo"});
  REQUIRE(worker.running());
  worker.channel().send({{"n", 7}});
  CHECK(worker.channel().receive(kForEver).value() == json{{"n", 7}});
}

TEST_CASE("the end of a worker is told as it happened") {
  SUBCASE("exit code") {
    WorkerProcess worker(ATTUNE_TEST_WORKER, {"exit"});
    CHECK(end_of(worker) == "exited with code 3");
    CHECK_FALSE(worker.running());
    CHECK(worker.kill_and_reap() == "was not running");
  }
  SUBCASE("its own signal") {
    WorkerProcess worker(ATTUNE_TEST_WORKER, {"crash"});
    CHECK(end_of(worker) == "killed by signal 11 (SIGSEGV)");
  }
  SUBCASE("exit code of one that closes its channel first and takes a moment") {
    WorkerProcess worker(ATTUNE_TEST_WORKER, {"linger"});
    CHECK(end_of(worker) == "exited with code 5");
  }
  SUBCASE("our kill of one that closes its channel and stays") {
    WorkerProcess worker(ATTUNE_TEST_WORKER, {"cling"});
    CHECK(end_of(worker) == "killed by signal 9 (SIGKILL)");
  }
  SUBCASE("our kill") {
    WorkerProcess worker(ATTUNE_TEST_WORKER, {"sleep"});
    CHECK(worker.channel().receive(kForEver).value() == "asleep");
    CHECK(worker.kill_and_reap() == "killed by signal 9 (SIGKILL)");
  }
}

TEST_CASE("killing without waiting leaves the reaping to later") {
  WorkerProcess worker(ATTUNE_TEST_WORKER, {"sleep"});
  worker.kill();
  CHECK(worker.running());
  CHECK(worker.kill_and_reap() == "killed by signal 9 (SIGKILL)");
  worker.kill();  // nothing
}

TEST_CASE("a program that reaps every child itself does not hang the destruction of a worker") {
  auto* const before = ::signal(SIGCHLD, SIG_IGN);
  WorkerProcess worker(ATTUNE_TEST_WORKER, {"sleep"});
  CHECK(worker.channel().receive(kForEver).value() == "asleep");
  CHECK(worker.kill_and_reap() == "ended, and something else in this program reaped it");
  ::signal(SIGCHLD, before);
}

TEST_CASE("destruction and assignment kill and reap") {
  WorkerProcess kept(ATTUNE_TEST_WORKER, {"sleep"});
  const int first = kept.pid();
  kept = WorkerProcess(ATTUNE_TEST_WORKER, {"sleep"});
  CHECK(::kill(first, 0) != 0);
  int second = 0;
  {
    const WorkerProcess moved(std::move(kept));
    second = moved.pid();
    CHECK_FALSE(kept.running());  // NOLINT(bugprone-use-after-move): moved-from is empty, and says so
    CHECK(::kill(second, 0) == 0);
  }
  CHECK(::kill(second, 0) != 0);
}

TEST_CASE("a worker inherits its channel and nothing else of the program") {
  const int leaked = ::open("/dev/zero", O_RDONLY);  // not close-on-exec, as a host program may have it
  REQUIRE(leaked >= 0);
  WorkerProcess worker(ATTUNE_TEST_WORKER, {"descriptors"});
  const json open = worker.channel().receive(kForEver).value();
  ::close(leaked);
  CHECK(open.size() == 4);
  CHECK(open.at("0") == "/dev/null");
  CHECK(open.at("1") == open.at("2"));
  CHECK(open.at("3").get<std::string>().starts_with("socket:"));
}

TEST_CASE("a worker starts in a program without standard error") {
  const int saved = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
  ::close(STDERR_FILENO);
  WorkerProcess worker(ATTUNE_TEST_WORKER, {"descriptors"});
  const json open = worker.channel().receive(kForEver).value();
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  CHECK(open.at("1") == "/dev/null");
}

TEST_CASE("the end of what a worker printed can be read after its death") {
  WorkerProcess worker(ATTUNE_TEST_WORKER, {"print"}, {}, attune::base::WorkerOutput::Kept);
  CHECK(end_of(worker) == "exited with code 6");
  const std::string output = worker.output();
  CHECK(output.size() == 4096);
  CHECK(output.ends_with(".first last\n"));
  CHECK(WorkerProcess(ATTUNE_TEST_WORKER, {"sleep"}).output().empty());
}

TEST_CASE("Ctrl-C leaves a worker to its parent") {
  WorkerProcess worker(ATTUNE_TEST_WORKER, {"echo"});
  ::kill(worker.pid(), SIGINT);  // also while it is still starting
  worker.channel().send(1);
  CHECK(worker.channel().receive(kForEver).value() == 1);
  ::kill(worker.pid(), SIGINT);
  worker.channel().send(2);
  CHECK(worker.channel().receive(kForEver).value() == 2);
}

TEST_CASE("a worker dies with its parent") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // so that the orphan is ours to wait for
  WorkerProcess parent(ATTUNE_TEST_WORKER, {"parent"});
  const int grandchild = parent.channel().receive(kForEver).value().get<int>();
  parent.kill_and_reap();
  int status = 0;
  CHECK(::waitpid(grandchild, &status, 0) == grandchild);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  // Killed by the kernel; or, when it was only starting, it saw itself that the parent was gone.
  CHECK(((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) || (WIFEXITED(status) && WEXITSTATUS(status) == 4)));
}

TEST_CASE("a worker whose parent is not the maker of its channel leaves at once") {
  // What a worker sees when its parent died before it could tie its life to it: another parent.
  WorkerProcess shell("/bin/sh", {"-c", ATTUNE_TEST_WORKER " sleep; exit $?"});
  CHECK(end_of(shell) == "exited with code 4");
}

TEST_CASE("a worker subcommand run by hand is a usage error") {
  const int status = std::system(ATTUNE_TEST_WORKER " echo 3>&- 2>/dev/null");
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 2);
}

TEST_CASE("a worker executable that does not exist is named") {
  CHECK_THROWS_WITH_AS(WorkerProcess("/nonexistent/attune", {"worker-compile"}),
                       "failed starting worker /nonexistent/attune: posix_spawn returned ENOENT (No such file or directory); "
                       "name the attune executable (Options::worker)",
                       attune::EnvironmentError);
}

}  // namespace test_process
