#include "bench/support/child.hpp"

#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"

namespace attune::bench {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> joined_with_ours(std::vector<std::string> environment) {
  const std::size_t given = environment.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto name = text.substr(0, text.find('=') + 1);
    const auto end = environment.begin() + static_cast<std::ptrdiff_t>(given);
    if (std::none_of(environment.begin(), end, [&](const std::string& one) { return one.starts_with(name); })) environment.push_back(text);
  }
  return environment;
}

}  // namespace

pid_t start(std::vector<std::string> words, int standard_output, const std::vector<std::string>& environment, const char* remedy) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, standard_output, STDOUT_FILENO);
  auto all = joined_with_ours(environment);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, words.front().c_str(), &actions, nullptr, pointers(words).data(), pointers(all).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw EnvironmentError(fmt::format("failed starting {}: {}{}", words.front(), base::errno_text("posix_spawn", error), remedy));
  return pid;
}

void wait_for(pid_t pid, const std::vector<std::string>& words) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw Error(fmt::format("failed waiting for {}: {}", words.front(), base::errno_text("waitpid", errno)));
  }
  if (status == 0) return;
  const bool exited = WIFEXITED(status);
  throw Error(fmt::format("failed running {}: it ended with {} {}", fmt::join(words, " "), exited ? "exit code" : "signal",
                          exited ? WEXITSTATUS(status) : WTERMSIG(status)));
}

}  // namespace attune::bench
