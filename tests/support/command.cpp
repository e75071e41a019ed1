#include "tests/support/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace attune::test {
namespace {

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : changes) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

int spawn(const std::vector<std::string>& words, const std::map<std::string, std::string>& changes, posix_spawn_file_actions_t* actions) {
  std::vector<std::string> arguments = words;
  std::vector<std::string> environment = merged_environment(changes);
  pid_t pid = 0;
  const int failed =
      ::posix_spawnp(&pid, words.front().c_str(), actions, nullptr, pointers(arguments).data(), pointers(environment).data());
  if (failed != 0) throw std::runtime_error("cannot start " + words.front());
  return pid;
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

CommandResult run(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment) {
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& pair : pipes) {
    if (::pipe2(pair.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipes[0][1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 2);
  const int pid = spawn(words, environment, &actions);
  ::posix_spawn_file_actions_destroy(&actions);
  for (auto& pair : pipes) ::close(pair[1]);
  CommandResult result;
  std::array<pollfd, 2> waiting{{{pipes[0][0], POLLIN, 0}, {pipes[1][0], POLLIN, 0}}};
  std::array<std::string*, 2> texts{&result.out, &result.err};
  std::array<char, 4096> chunk{};
  for (int open = 2; open > 0;) {
    ::poll(waiting.data(), waiting.size(), -1);
    for (std::size_t i = 0; i < 2; ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      const ssize_t got = ::read(waiting[i].fd, chunk.data(), chunk.size());
      if (got > 0) {
        texts[i]->append(chunk.data(), static_cast<std::size_t>(got));
      } else {
        ::close(waiting[i].fd);
        waiting[i].fd = -1;
        --open;
      }
    }
  }
  result.exit_code = wait_for(pid);
  return result;
}

int start(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment, const std::string& output) {
  const std::string errors = output == "/dev/null" ? output : output + ".err";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int pid = spawn(words, environment, &actions);
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

int wait_for(int pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) throw std::runtime_error("waitpid failed");
  return exit_code(status);
}

std::optional<int> wait_for(int pid, std::chrono::duration<double> most) {
  const auto end = std::chrono::steady_clock::now() + most;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended < 0) throw std::runtime_error("waitpid failed");
    if (ended == pid) return exit_code(status);
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) return std::nullopt;
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(left, std::chrono::milliseconds(5)));
  }
}

}  // namespace attune::test
