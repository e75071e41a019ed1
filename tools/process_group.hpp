#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace attune::tools {

struct GroupStreams {
  int output = -1;      ///< descriptor that its standard output goes to
  bool input = false;   ///< it reads ours; else /dev/null. A terminal stops a group in the background that reads it
  bool errors = false;  ///< its standard error is ours; else thrown away
};

struct StartedGroup {
  pid_t leader = 0;  ///< 0: it was not started
  int failure = 0;   ///< why, as errno
};

/// Starts a program, looked for in PATH, as the leader of a process group of its own: it and whatever it starts are ended together. The
/// caller waits for it. Requires: `words` is not empty.
[[nodiscard]] StartedGroup start_group(const std::vector<std::string>& words, const GroupStreams& streams);

}  // namespace attune::tools
