#include "tools/doctor/command_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include "tuner/base/file_descriptor.hpp"

extern char** environ;

namespace attune::tools::doctor {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kMostOutput = std::size_t{1} << 20;
constexpr auto kDying = 500ms;  ///< a killed process is gone long before, unless it cannot die

/// Of the program and whatever it starts: a group of its own, so that all of it is killed. 0: it was not started.
pid_t start(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (::posix_spawn_file_actions_init(&actions) != 0) return 0;
  pid_t pid = 0;
  if (::posix_spawnattr_init(&attributes) == 0) {
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    if (::posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), environ) != 0) pid = 0;
    ::posix_spawnattr_destroy(&attributes);
  }
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

/// Whether it was closed by then, and within what is read at most.
bool read_until(int fd, Clock::time_point end, std::string& text) {
  std::array<char, 4096> piece{};
  while (text.size() < kMostOutput) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) return false;
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got <= 0) return true;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return false;
}

/// Whether it has ended by then.
bool ends_until(pid_t pid, Clock::time_point end) {
  for (;;) {
    const pid_t ended = ::waitpid(pid, nullptr, WNOHANG);
    if (ended != 0 && !(ended < 0 && errno == EINTR)) return true;
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(5ms);
  }
}

}  // namespace

std::string output_of(const std::vector<std::string>& words, std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const base::FileDescriptor reading(ends[0]);
  base::FileDescriptor writing(ends[1]);
  const pid_t pid = start(words, writing.get());
  writing.close();
  if (pid == 0) return {};
  std::string text;
  if (!read_until(reading.get(), end, text) || !ends_until(pid, end)) {
    ::kill(-pid, SIGKILL);  // it is not reaped yet, so that its number is nobody else's
    static_cast<void>(ends_until(pid, Clock::now() + kDying));
  }
  return text;
}

}  // namespace attune::tools::doctor
