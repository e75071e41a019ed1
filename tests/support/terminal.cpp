#include "tests/support/terminal.hpp"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace attune::test {

Terminal::Terminal(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment) {
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
  if (pid_ < 0) throw std::runtime_error("forkpty failed");
  if (pid_ > 0) return;
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  ::_exit(127);
}

Terminal::~Terminal() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  ::close(terminal_);
}

bool Terminal::read_some(std::chrono::milliseconds most) {
  pollfd waiting{terminal_, POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(most.count())) <= 0) return true;
  std::array<char, 4096> chunk{};
  const ssize_t got = ::read(terminal_, chunk.data(), chunk.size());
  if (got <= 0) return false;  // EIO: nobody has the other end any more
  text_.append(chunk.data(), static_cast<std::size_t>(got));
  return true;
}

bool Terminal::shows(const std::string& part, std::chrono::seconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (text_.find(part) == std::string::npos) {
    if (std::chrono::steady_clock::now() > end || !read_some(std::chrono::milliseconds(100))) return text_.find(part) != std::string::npos;
  }
  return true;
}

void Terminal::type(const std::string& keys) const {
  if (::write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) throw std::runtime_error("typing failed");
}

int Terminal::wait() {
  while (read_some(std::chrono::milliseconds(1000))) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace attune::test
