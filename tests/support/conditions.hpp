#pragma once
#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace attune::test {

/// Takes root's right to write anywhere for a while; the tests of unwritable folders mean an ordinary user. Programs that
/// are started meanwhile have it taken as well, unless they are set-uid. The real user is taken with the effective one: of
/// programs whose two differ the kernel lets nobody look at the memory, which LeakSanitizer ends them for.
class Unprivileged {
 public:
  Unprivileged() : was_(::geteuid()) {
    if (was_ == 0) REQUIRE(::setresuid(65534, 65534, 0) == 0);
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (was_ == 0) (void)!::setresuid(0, 0, 0);
  }

 private:
  uid_t was_;
};

/// Makes the disk "full" beyond a file size.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    was_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &was_);
    const rlimit limit{bytes, was_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &was_);
    ::signal(SIGXFSZ, was_handler_);
  }

 private:
  rlimit was_{};
  void (*was_handler_)(int) = nullptr;
};

/// A file system of a given size on a folder, for this process and its children alone. `why_not()` says why there is none:
/// mounting takes root, and not every container lets root do it.
class SmallDisk {
 public:
  SmallDisk(const std::filesystem::path& folder, std::size_t bytes) : folder_(folder) {
    std::filesystem::create_directories(folder);
    const std::string options = "mode=0755,size=" + std::to_string(bytes);
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("attune-test", folder.c_str(), "tmpfs", 0, options.c_str()) == 0;
    if (!mounted) why_not_ = std::strerror(errno);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (why_not_.empty()) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

  /// Takes all that is left with a file of its own, to the last byte.
  void fill(const std::filesystem::path& file) const {
    FILE* const out = ::fopen(file.c_str(), "w");
    REQUIRE(out != nullptr);
    ::setvbuf(out, nullptr, _IONBF, 0);
    const std::string block(4096, 'x');
    while (::fwrite(block.data(), 1, block.size(), out) == block.size()) {
    }
    ::fclose(out);
  }

 private:
  std::filesystem::path folder_;
  std::string why_not_;
};

}  // namespace attune::test
