#include "tuner/base/errno_text.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

namespace attune::base {

std::string errno_text(const char* call, int error_number) {
  const char* const name = strerrorname_np(error_number);
  const char* const meaning = strerrordesc_np(error_number);
  if (name == nullptr || meaning == nullptr) return fmt::format("{} returned errno {}", call, error_number);
  return fmt::format("{} returned {} ({})", call, name, meaning);
}

std::string errno_remedy(int error_number) {
  switch (error_number) {
    case EMFILE: {
      rlimit limit{};
      if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return "; raise the limit of open files (ulimit -n)";
      return fmt::format("; this process may have {} files open: raise the limit (ulimit -n)", limit.rlim_cur);
    }
    case ENFILE:
      return "; the system has no more open files to give: end other programs, or raise fs.file-max";
    case ENOSPC:
    case EDQUOT:
      return "; free space on its disk, or name a place on another one";
    case EFBIG:
      return "; raise the limit of file sizes (ulimit -f)";
    case EROFS:
      return "; its file system is read-only: name a place on another one";
    case EACCES:
    case EPERM:
      return "; name a place that this user may write to";
    case EBUSY:
      return "; another file system is mounted there: name a file in a folder";
    case EPIPE:
      return "; its reader is gone";
    default:
      return "";
  }
}

}  // namespace attune::base
