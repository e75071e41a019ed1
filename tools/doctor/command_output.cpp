#include "tools/doctor/command_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include "tools/process_group.hpp"
#include "tuner/base/file_descriptor.hpp"

namespace attune::tools::doctor {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kMostOutput = std::size_t{1} << 20;
constexpr auto kDying = 500ms;  ///< a killed process is gone long before, unless it cannot die

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
  const pid_t pid = start_group(words, {writing.get()}).leader;
  writing.close();
  if (pid == 0) return {};
  std::string text;
  if (!read_until(reading.get(), end, text) || !ends_until(pid, end)) {
    ::kill(-pid, SIGKILL);  // all that it has started, too; it is not reaped yet, so that its number is nobody else's
    static_cast<void>(ends_until(pid, Clock::now() + kDying));
  }
  return text;
}

}  // namespace attune::tools::doctor
