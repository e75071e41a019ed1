#pragma once
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;

namespace attune::db::test {

/// What holds back processes that were started with `wait`, until it is opened: all go on at the same moment.
class Barrier {
 public:
  Barrier() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  ~Barrier() {
    open();
    ::close(ends_[0]);
  }
  void open() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  [[nodiscard]] int read_end() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

/// `test_db_process <arguments>`, its output readable here: a line for every record that it has been told is stored.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments, const Barrier* barrier = nullptr) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (barrier != nullptr) ::posix_spawn_file_actions_adddup2(&actions, barrier->read_end(), STDIN_FILENO);
    arguments.insert(arguments.begin(), ATTUNE_DB_PROCESS);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int result = ::posix_spawn(&pid_, ATTUNE_DB_PROCESS, &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    out_ = ends[0];
    if (result != 0) throw std::runtime_error("posix_spawn failed");
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) {
      kill();
      (void)wait();
    }
    ::close(out_);
  }

  void kill() const { ::kill(pid_, SIGKILL); }

  /// Blocks until `lines` more lines came; false at the end of the output.
  bool read_lines(std::size_t lines) {
    const std::size_t wanted = acknowledged() + lines;
    while (acknowledged() < wanted) {
      if (!read_some()) return false;
    }
    return true;
  }
  void read_all() {
    while (read_some()) {
    }
  }
  /// What is there by now: a process whose output is not read stops at a full pipe.
  void read_present() {
    pollfd readable{out_, POLLIN, 0};
    while (::poll(&readable, 1, 0) == 1 && read_some()) {
    }
  }
  /// Lines.
  [[nodiscard]] std::size_t acknowledged() const { return static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')); }

  /// Exit status as waitpid gives it.
  int wait() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  bool read_some() {
    char chunk[4096];
    const ssize_t got = ::read(out_, chunk, sizeof(chunk));
    if (got > 0) text_.append(chunk, static_cast<std::size_t>(got));
    return got > 0;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  std::string text_;
};

/// The status that `wait` gives of a process that SIGKILL ended.
inline bool was_killed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }

}  // namespace attune::db::test
