#include "tools/fleet/node_folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "attune/error.hpp"
#include "tools/fleet/manifest.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/range_lock.hpp"

namespace attune::tools {

std::filesystem::path NodeFolder::place(const std::filesystem::path& parent, const std::string& plan) {
  return parent / fmt::format("attune-fleet-{}-{}", plan.substr(0, 16), ::geteuid());
}

NodeFolder::NodeFolder(std::filesystem::path path, std::size_t shard) : path_(std::move(path)) {
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) fail("making", base::errno_text("mkdir", errno));
  struct stat found {};
  // Others may have made it where everybody may make folders.
  if (::lstat(path_.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 022) != 0)
    fail("using", "it is not a folder of this user's alone; remove it, or name another place with --scratch");
  lock_ = base::FileDescriptor(::open((path_ / (shard_name(shard) + ".lock")).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock_.get() < 0) fail("locking a shard in", base::errno_text("open", errno));
  const auto locking = base::set_range_lock(lock_.get(), base::RangeLock::Alone, 0, 0);
  if (locking == base::Locking::HeldByAnother) {
    throw EnvironmentError(
        fmt::format("another task on this node works at shard {} of the plan; it goes on, and this one has nothing to do", shard));
  }
  if (locking == base::Locking::Failed) fail("locking a shard in", base::errno_text("fcntl", errno));
}

void NodeFolder::fail(const char* doing, const std::string& why) const {
  throw EnvironmentError(fmt::format("failed {} the scratch folder {}: {}", doing, path_.string(), why));
}

}  // namespace attune::tools
