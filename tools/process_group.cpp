#include "tools/process_group.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace attune::tools {
namespace {

/// What posix_spawn is to do; both of its objects are made, or neither is.
class SpawnOrders {
 public:
  SpawnOrders() : failure_(::posix_spawn_file_actions_init(&actions)) {
    if (failure_ == 0 && (failure_ = ::posix_spawnattr_init(&attributes)) != 0) ::posix_spawn_file_actions_destroy(&actions);
  }
  SpawnOrders(const SpawnOrders&) = delete;
  SpawnOrders& operator=(const SpawnOrders&) = delete;
  ~SpawnOrders() {
    if (failure_ != 0) return;
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  [[nodiscard]] int failure() const { return failure_; }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

 private:
  int failure_;
};

}  // namespace

StartedGroup start_group(const std::vector<std::string>& words, const GroupStreams& streams) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));  // posix_spawn's signature; it changes none
  arguments.push_back(nullptr);
  SpawnOrders orders;
  if (orders.failure() != 0) return {0, orders.failure()};
  if (!streams.input) ::posix_spawn_file_actions_addopen(&orders.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&orders.actions, streams.output, STDOUT_FILENO);
  if (!streams.errors) ::posix_spawn_file_actions_addopen(&orders.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawnattr_setflags(&orders.attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&orders.attributes, 0);
  StartedGroup started;
  started.failure = ::posix_spawnp(&started.leader, arguments.front(), &orders.actions, &orders.attributes, arguments.data(), environ);
  if (started.failure != 0) started.leader = 0;
  return started;
}

}  // namespace attune::tools
