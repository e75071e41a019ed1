#include "tests/unit/db/kill_points.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

namespace attune::db::test {
namespace {

int left = 0;  // until the end
bool renames = false;

void count_down() {
  if (--left == 0) ::raise(SIGKILL);
}

int on_statement(unsigned, void*, void*, void*) {
  count_down();
  return 0;
}

int trace(sqlite3* connection, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, on_statement, nullptr);
}

ssize_t write_counted(int fd, const void* bytes, std::size_t count, off_t offset) {
  if (left == 1) (void)!::pwrite(fd, bytes, count / 2, offset);
  count_down();
  return ::pwrite(fd, bytes, count, offset);
}

int truncate_counted(int fd, off_t bytes) {
  count_down();
  return ::ftruncate(fd, bytes);
}

int unlink_counted(const char* path) {
  count_down();
  return ::unlink(path);
}

template <class Call>
void replace(const char* name, Call call) {
  sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  if (vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(call)) != SQLITE_OK) {
    throw std::runtime_error("SQLite makes no system call " + std::string(name));
  }
}

}  // namespace

void kill_at(const std::string& what, int count) {
  left = count;
  if (what == "statement") {
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(trace));
  } else if (what == "change") {
    for (const char* name : {"pwrite", "pwrite64"}) replace(name, write_counted);
    replace("ftruncate", truncate_counted);
    replace("unlink", unlink_counted);
  } else if (what == "rename") {
    renames = true;
  } else {
    throw std::runtime_error("no such kind of point: " + what);
  }
}

}  // namespace attune::db::test

/// In the place of the C library's, for the whole program: that of std::filesystem, too.
extern "C" int rename(const char* from, const char* to) noexcept {
  if (attune::db::test::renames) attune::db::test::count_down();
  return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}
