#include "tuner/base/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/file_descriptor.hpp"

namespace attune::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_reading(const fs::path& path, const char* call, int error_number) {
  throw EnvironmentError(fmt::format("failed reading {}: {}{}", path.string(), errno_text(call, error_number),
                                     error_number == EMFILE ? errno_remedy(EMFILE) : ""));
}

/// An absolute path out of the environment: the XDG specification says to ignore relative ones.
fs::path absolute_variable(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr || value[0] != '/') return {};
  return value;
}

/// A failure shows, with path and reason, where the folder is used.
void make_private(const fs::path& folder) {
  fs::path partial;
  for (const fs::path& part : folder) {
    partial /= part;
    (void)::mkdir(partial.c_str(), 0700);
  }
}

fs::path xdg_folder(const char* variable, const char* below_home) {
  fs::path base = absolute_variable(variable);
  if (base.empty()) {
    const fs::path home = absolute_variable("HOME");
    if (home.empty()) return {};
    base = home / below_home;
  }
  const fs::path folder = base / "attune";
  make_private(folder);
  return folder;
}

}  // namespace

std::string read_file(const fs::path& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) fail_reading(path, "open", errno);
  std::string bytes;
  struct stat status {};
  if (::fstat(fd.get(), &status) == 0 && status.st_size > 0) bytes.reserve(static_cast<std::size_t>(status.st_size));
  char chunk[65536];
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk, sizeof(chunk));
    if (got == 0) return bytes;
    if (got > 0) {
      bytes.append(chunk, static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      fail_reading(path, "read", errno);
    }
  }
}

fs::path data_folder() { return xdg_folder("XDG_DATA_HOME", ".local/share"); }

fs::path cache_folder() { return xdg_folder("XDG_CACHE_HOME", ".cache"); }

fs::path own_executable() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (!error) return path;
  // Without /proc: the name that the kernel was given, which a change of the working folder since would make another one.
  const auto named = ::getauxval(AT_EXECFN);
  std::error_code unknown;
  if (const fs::path real = named != 0 ? fs::canonical(reinterpret_cast<const char*>(named), unknown) : fs::path();
      !unknown && !real.empty())
    return real;
  throw EnvironmentError(
      fmt::format("failed finding the running executable: {}; is /proc mounted?", errno_text("readlink(/proc/self/exe)", error.value())));
}

}  // namespace attune::base
