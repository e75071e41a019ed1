#include "tuner/compile/precompiled_headers.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "tuner/base/hash.hpp"
#include "tuner/base/memory_file.hpp"
#include "tuner/base/private_folder.hpp"

namespace attune::compile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStop = "#pragma nv_hdrstop\n";
/// CUB's block headers take 178 MB, cooperative groups 103 MB, cuda_fp16.h 8.5 MB of memory, or of disk space, until the process ends.
constexpr std::size_t kMostEntries = 4;
constexpr std::uint64_t kLeftToOthers = 2;  // half of the memory, when as many workers as there are processors make theirs at once
constexpr std::string_view kFolderName = "attune-headers-";
constexpr const char* kFileName = "headers.pch";
constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 32;

/// Warnings that a header file does not fit (20282, 629, 630, 2226), does not fit the heap (639), or was not made
/// because of a #line (20283; said of every one behind the pragma). What they tell is told by HeaderUse; the log of a
/// source must not depend on what was compiled before it. The option itself has to be the same in both uses.
constexpr const char* kNoWarnings = "-diag-suppress=20282,20283,629,630,639,2226";

/// `"name.cu": creating precompiled header file "..."` and the like. Returns whether there was one.
bool remove_message(std::string& log, std::string_view message) {
  const std::size_t found = log.find(message);
  if (found == std::string::npos) return false;
  const std::size_t begin = log.rfind('\n', found) + 1;  // npos + 1 is 0
  const std::size_t end = log.find('\n', found);
  log.erase(begin, end == std::string::npos ? end : end + 1 - begin);
  return true;
}

/// Empty when nothing was refused.
std::string refusal_for(const std::string& reason) {
  if (reason.empty()) return {};
  return fmt::format("headers are not precompiled, and compiling takes longer: {}; or set TMPDIR to a folder of yours alone", reason);
}

/// The file in memory where there is room: on a disk, those of sixty workers are 11 GB that it begins to write after half a minute,
/// and that a process which ends waits a second to have back.
base::FileDescriptor kept_in_memory(base::FileDescriptor file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return file;
  const auto workers = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  if (static_cast<std::uint64_t>(status.st_size) > base::available_memory_bytes() / workers / kLeftToOthers) return file;
  auto copy = base::copied_to_memory(file);
  return copy.open() ? std::move(copy) : std::move(file);
}

std::string name_prefix() { return fmt::format("{}{}-", kFolderName, ::geteuid()); }

/// A private folder of this process while a file is being made in it; NVRTC wants a name. What comes back is loaded into this
/// process as it is, so the folder is made only where nobody else can put another in its place: in a temporary folder that is
/// sticky, or this user's alone.
class Workshop {
 public:
  Workshop() {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    if (error) return;
    const std::string name = fmt::format("{}{}", name_prefix(), ::getpid());
    clean_up(temporary, name);
    folder_ = base::PrivateFolder::open(temporary / name, base::IfMissing::Create);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    if (folder_.is_open()) remove(folder_);  // what cannot be removed now is removed by a later process
  }

  [[nodiscard]] const base::PrivateFolder& folder() const noexcept { return folder_; }
  [[nodiscard]] fs::path file() const { return folder_.path() / kFileName; }

 private:
  static void remove(const base::PrivateFolder& folder) {
    for (const auto& entry : folder.entries()) (void)folder.remove(entry.name);
    std::error_code ignored;
    fs::remove(folder.path(), ignored);  // an empty folder, or nothing
  }

  /// Folders of ours whose process was killed while it made a file. One that somebody else made under such a name is refused
  /// by the door and stays.
  static void clean_up(const fs::path& temporary, const std::string& mine) {
    const std::string ours = name_prefix();
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(temporary, ignored)) {
      const std::string name = entry.path().filename().string();
      int pid = 0;
      if (!name.starts_with(ours)) continue;
      const auto [end, error] = std::from_chars(name.data() + ours.size(), name.data() + name.size(), pid);
      const bool is_pid = error == std::errc() && end == name.data() + name.size() && pid > 0;
      if (!is_pid || (name != mine && (::kill(pid, 0) == 0 || errno == EPERM))) continue;
      if (const auto folder = base::PrivateFolder::open(entry.path(), base::IfMissing::Leave); folder.is_open()) remove(folder);
    }
  }

  base::PrivateFolder folder_;
};

}  // namespace

std::optional<std::string_view> PrecompiledHeaders::prefix_of(const std::string& source) {
  const std::size_t stop = source.find(kStop);
  if (stop == std::string::npos || (stop > 0 && source[stop - 1] != '\n')) return std::nullopt;
  return std::string_view(source).substr(0, stop + kStop.size());
}

PrecompiledHeaders::Attempt PrecompiledHeaders::compile(NvrtcProgram& program, std::string_view prefix, std::vector<std::string> options) {
  options.emplace_back(kNoWarnings);
  base::ContentHasher hasher;
  hasher.add(prefix);
  for (const std::string& option : options) hasher.add(option);
  const std::string key = hasher.key();
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&key](const Entry& e) { return e.key == key; });
  if (found == entries_.end()) return create(program, key, std::move(options));
  entries_.splice(entries_.begin(), entries_, found);
  if (!found->file.open()) return {};
  return use(program, *found, std::move(options));
}

PrecompiledHeaders::Attempt PrecompiledHeaders::create(NvrtcProgram& program, const std::string& key, std::vector<std::string> options) {
  Attempt attempt;
  const Workshop workshop;
  if (!workshop.folder().is_open()) {
    attempt.refusal = refusal_for(workshop.folder().refusal());
    return attempt;
  }
  options.push_back("-create-pch=" + workshop.file().string());
  attempt.compiled = program.compile(options) == NVRTC_SUCCESS;
  attempt.log = program.log();
  (void)remove_message(attempt.log, "creating precompiled header file");
  const nvrtcResult status = api_.pch_status(program.handle());
  std::size_t required = 0;
  if (status == NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED && api_.pch_heap_required(program.handle(), &required) == NVRTC_SUCCESS &&
      api_.set_pch_heap(required + required / 2) == NVRTC_SUCCESS) {
    entries_.clear();  // a new heap invalidates them; this one is made by the next compilation, in the larger heap
    return attempt;
  }
  Entry& entry = entries_.emplace_front();
  entry.key = key;
  if (entries_.size() > kMostEntries) entries_.pop_back();
  if (status == NVRTC_SUCCESS) {
    workshop.folder().close_to_others(kFileName);  // NVRTC made it, with what a umask of 002 leaves to the group
    base::PrivateFile file = workshop.folder().open_file(kFileName, kMostHeaderBytes);
    attempt.refusal = refusal_for(file.refusal);
    if (file.fd.open()) entry.file = kept_in_memory(std::move(file.fd));
    if (entry.file.open()) attempt.use = HeaderUse::Created;
  }
  return attempt;
}

PrecompiledHeaders::Attempt PrecompiledHeaders::use(NvrtcProgram& program, const Entry& entry, std::vector<std::string> options) const {
  Attempt attempt;
  options.push_back(fmt::format("-use-pch=/proc/self/fd/{}", entry.file.get()));
  attempt.compiled = program.compile(options) == NVRTC_SUCCESS;
  attempt.log = program.log();
  if (remove_message(attempt.log, "using precompiled header file")) attempt.use = HeaderUse::Used;
  return attempt;
}

}  // namespace attune::compile
