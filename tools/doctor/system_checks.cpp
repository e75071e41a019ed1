#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "attune/error.hpp"
#include "tools/amounts.hpp"
#include "tools/doctor/checks.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/private_path.hpp"
#include "tuner/base/text.hpp"

namespace attune::tools::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLeastFree = std::uint64_t{512} << 20;  ///< precompiled headers and cubins of a few workers
constexpr std::uint64_t kLeastShared = std::uint64_t{16} << 20;
constexpr rlim_t kLeastFiles = 256;  ///< pipes of some ten workers, databases, sources
constexpr rlim_t kLeastProcesses = 256;
/// Address space: NVRTC and a CUDA context reserve much more than they use. On an H200 a driver does not start with 8 GB, and with 16 GB a
/// buffer of 4 GB cannot be had; 64 GB do.
constexpr rlim_t kLeastMemory = rlim_t{60} << 30;

constexpr const char* kMoreMemory = "ulimit -v unlimited, or ask the batch system for more memory";

void check_folder(const std::string& what, const fs::path& folder, const std::string& variable, Area& area) {
  if (folder.empty()) {
    area.wrong(fmt::format("no folder for {}: {} names none that is there, and nothing takes its place", what, variable),
               fmt::format("export {}=/path", variable));
    return;
  }
  std::error_code ignored;  // what cannot be looked at cannot be used either
  if (!fs::is_directory(folder, ignored) || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    area.wrong(fmt::format("{} ({}) is no folder that this user can write", folder.string(), what),
               fmt::format("export {}=/path of one that you can", variable));
    return;
  }
  struct statvfs status {};
  const bool known = ::statvfs(folder.c_str(), &status) == 0;
  const std::uint64_t free = known ? std::uint64_t{status.f_bavail} * status.f_frsize : 0;
  const std::string text = fmt::format("{}: {}, {:.1f} GiB free", what, folder.string(), static_cast<double>(free) / (1 << 30));
  if (known && free < kLeastFree)
    area.note(text, fmt::format("make room: tuning keeps code there as it goes, some hundred MiB ({} names another)", variable));
  else
    area.fine(text);
}

void check_cache(Area& area) {
  const fs::path folder = base::cache_folder();
  check_folder("compiled code", folder, "XDG_CACHE_HOME", area);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return;
  const auto walked = base::walk_privately(folder);
  if (!walked.refusal.empty()) area.note("compiled code is not kept: " + walked.refusal);
}

/// Containers have 64 MiB of it unless more is asked for. Nothing of attune's lies there; CUDA's own libraries and programs that run beside
/// it use it.
void check_shared_memory(Area& area) {
  const fs::path folder = "/dev/shm";
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0) {
    area.note("no shared memory at /dev/shm: programs that tune or dispatch beside others may need it", "mount -t tmpfs tmpfs /dev/shm");
    return;
  }
  const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
  const std::string text = fmt::format("shared memory: {}, {} free of {}", folder.string(), bytes_text(free),
                                       bytes_text(std::uint64_t{status.f_blocks} * status.f_frsize));
  if (free < kLeastShared)
    area.note(text, "remove what is left there, or give the container more: docker run --shm-size=1g");
  else
    area.fine(text);
}

void check_proc(Area& area) {
  std::error_code unknown;
  if (fs::exists("/proc/self/stat", unknown)) return;
  area.note("/proc is not mounted: whether a process that tunes still runs cannot be told", "mount -t proc proc /proc");
}

/// Sessions and results are told apart by their dates.
void check_clock(Area& area) {
  const std::string now = base::utc_now();
  struct stat program {};
  const bool known = ::stat("/proc/self/exe", &program) == 0;
  constexpr std::int64_t kDay_s = 24 * 3600;
  if (known && std::int64_t{::time(nullptr)} + kDay_s < program.st_mtime)
    area.wrong(fmt::format("the clock says {}, which is before this program was made", now), "timedatectl set-ntp true");
  else
    area.fine(fmt::format("the clock says {} (UTC)", now));
}

void check_limit(const char* what, int resource, rlim_t least, const char* mend, Area& area) {
  struct rlimit limit {};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return;
  const std::string text =
      limit.rlim_cur == RLIM_INFINITY ? fmt::format("{}: no limit", what) : fmt::format("{}: at most {}", what, limit.rlim_cur);
  if (limit.rlim_cur < least)
    area.note(text + ", which a run may reach", mend);
  else
    area.fine(text);
}

}  // namespace

std::string remedy_of_address_space() {
  struct rlimit limit {};
  const bool is_little = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < kLeastMemory;
  return is_little ? kMoreMemory : "";
}

void check_system(Findings& findings) {
  Area folders("folders", findings);
  check_folder("databases", base::data_folder(), "XDG_DATA_HOME", folders);
  check_cache(folders);
  std::error_code ignored;
  check_folder("temporary files", fs::temp_directory_path(ignored), "TMPDIR", folders);
  check_shared_memory(folders);
  check_proc(folders);
  Area clock("time", findings);
  check_clock(clock);
  Area limits("limits", findings);
  check_limit("open files", RLIMIT_NOFILE, kLeastFiles, "ulimit -n 4096", limits);
  check_limit("processes", RLIMIT_NPROC, kLeastProcesses, "ulimit -u 4096", limits);
  check_limit("address space, bytes", RLIMIT_AS, kLeastMemory, kMoreMemory, limits);
  const std::size_t cpus = base::available_cpus().size();
  if (cpus < 2)
    limits.note("1 processor: compiling and timing share it, and figures suffer", "give the process or container two or more");
  else
    limits.fine(fmt::format("{} processors", cpus));
}

}  // namespace attune::tools::doctor
