#include "tools/fleet/plan_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/bounded_file.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/file_descriptor.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/replacement.hpp"

namespace attune::tools {

namespace fs = std::filesystem;

namespace {

/// Hands a file over in pieces, as much of it as it had when it was opened: one that grows meanwhile has an end all the same.
void for_each_piece(const fs::path& path, const std::function<void(std::string_view)>& take) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const auto fail = [&](const std::string& why) { throw EnvironmentError(fmt::format("failed reading {}: {}", path.string(), why)); };
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.open()) fail(base::errno_text("open", errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(base::errno_text("fstat", errno));
  if (!S_ISREG(status.st_mode)) fail("it is no regular file");
  std::vector<char> piece(kPieceBytes);
  for (auto left = static_cast<std::uint64_t>(status.st_size); left > 0;) {
    const ssize_t got = ::read(file.get(), piece.data(), std::min<std::uint64_t>(left, piece.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(base::errno_text("read", errno));
    if (got == 0) return;  // it was cut; whoever needs all of it compares keys
    take({piece.data(), static_cast<std::size_t>(got)});
    left -= static_cast<std::uint64_t>(got);
  }
}

}  // namespace

std::string read_shard_problems(const fs::path& folder, const ShardEntry& entry) {
  const fs::path path = folder / entry.file;
  if (std::error_code error; !fs::exists(path, error)) {
    throw EnvironmentError(fmt::format(
        "failed reading the shard's problems {}: there is no such file; the same `attune fleet plan` writes it again", path.string()));
  }
  std::string text = base::read_bounded_file(path, kMostProblemBytes);
  if (base::content_key(text) == entry.key) return text;
  // Nothing is wrong with the plan itself: whoever writes it again mends what a copy or a disk did to the file.
  throw EnvironmentError(fmt::format(
      "failed reading the shard's problems {}: the file is not the one that the manifest names; the same `attune fleet plan` writes that "
      "again",
      path.string()));
}

void copy_whole(const fs::path& from, const fs::path& to) {
  base::Replacement copy(to.parent_path(), to.filename().string(), to);
  struct stat there {};
  if (::lstat(to.c_str(), &there) == 0 && S_ISREG(there.st_mode)) copy.look_like(there);
  for_each_piece(from, [&](std::string_view piece) { copy.write(piece); });
  copy.commit();
}

std::string key_of_file(const fs::path& path) {
  base::ContentHasher hasher;
  for_each_piece(path, [&](std::string_view piece) { hasher.add_piece(piece); });
  return hasher.key();
}

}  // namespace attune::tools
