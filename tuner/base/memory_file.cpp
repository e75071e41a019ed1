#include "tuner/base/memory_file.hpp"

#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string>

namespace attune::base {
namespace {

/// The number behind a word, or the whole file's when there is none; nothing of "max", or of a file that is not there.
std::optional<std::uint64_t> number_in(const std::filesystem::path& path, const std::string& word = {}) {
  std::ifstream file(path);
  std::string read;
  while (!word.empty() && read != word && file >> read) {
  }
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// The bytes that a control group has left; nothing without a limit. A process in a container sees its own group as the root.
std::optional<std::uint64_t> left_of_group(const std::filesystem::path& limit, const std::filesystem::path& used) {
  const auto most = number_in(limit), now = number_in(used);
  if (!most || !now) return std::nullopt;
  return *most - std::min(*most, *now);
}

}  // namespace

std::uint64_t available_memory_bytes(const std::filesystem::path& root) {
  constexpr std::uint64_t kKibi = 1024;
  std::uint64_t available = number_in(root / "proc/meminfo", "MemAvailable:").value_or(0) * kKibi;
  const auto groups = root / "sys/fs/cgroup";
  for (const auto& left : {left_of_group(groups / "memory.max", groups / "memory.current"),
                           left_of_group(groups / "memory/memory.limit_in_bytes", groups / "memory/memory.usage_in_bytes")}) {
    if (left) available = std::min(available, *left);
  }
  return available;
}

FileDescriptor copied_to_memory(const FileDescriptor& file) noexcept {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  FileDescriptor copy(::memfd_create("attune file", MFD_CLOEXEC));
  if (!copy.open()) return {};
  for (off_t done = 0; done < status.st_size;) {
    const ssize_t sent = ::sendfile(copy.get(), file.get(), &done, static_cast<std::size_t>(status.st_size - done));
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return {};  // out of memory, or cut meanwhile
  }
  return copy;
}

}  // namespace attune::base
