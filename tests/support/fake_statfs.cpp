// A statfs that tells of the file system that a test asks for: linked into a test program it takes the C library's place.
// $ATTUNE_TEST_FILE_SYSTEM is the magic number in hexadecimal digits, "6969" for NFS; without it the truth is told.
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdlib>

extern "C" int statfs(const char* path, struct statfs* status) noexcept {
  const long result = ::syscall(SYS_statfs, path, status);
  const char* const magic = std::getenv("ATTUNE_TEST_FILE_SYSTEM");
  if (result == 0 && magic != nullptr) status->f_type = static_cast<decltype(status->f_type)>(std::strtoul(magic, nullptr, 16));
  return static_cast<int>(result);
}
