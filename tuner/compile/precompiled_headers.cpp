#include "tuner/compile/precompiled_headers.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "tuner/base/hash.hpp"

namespace attune::compile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStop = "#pragma nv_hdrstop\n";
/// CUB's block headers take 178 MB, cooperative groups 103 MB, cuda_fp16.h 8.5 MB of a file that is disk space until
/// the process ends.
constexpr std::size_t kMostEntries = 4;
constexpr std::string_view kFolderName = "attune-headers-";

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

/// A private folder of this process while a file is being made in it; NVRTC wants a name.
class Workshop {
 public:
  Workshop() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    if (error) return;
    clean_up(parent);
    const fs::path folder = parent / fmt::format("{}{}-{}", kFolderName, ::getuid(), ::getpid());
    if (::mkdir(folder.c_str(), 0700) == 0) folder_ = folder;
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    std::error_code ignored;  // what cannot be removed now is removed by a later process
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

  [[nodiscard]] bool ready() const noexcept { return !folder_.empty(); }
  [[nodiscard]] fs::path file() const { return folder_ / "headers.pch"; }

 private:
  /// Folders of ours whose process was killed while it made a file.
  static void clean_up(const fs::path& parent) {
    const std::string ours = fmt::format("{}{}-", kFolderName, ::getuid());
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
      const std::string name = entry.path().filename().string();
      int pid = 0;
      if (!name.starts_with(ours)) continue;
      const auto [end, error] = std::from_chars(name.data() + ours.size(), name.data() + name.size(), pid);
      if (error != std::errc() || pid <= 0 || (pid != ::getpid() && ::kill(pid, 0) == 0)) continue;
      if (fs::symlink_status(entry.path(), ignored).type() == fs::file_type::directory) {
        fs::remove_all(entry.path(), ignored);
      }
    }
  }

  fs::path folder_;
};

}  // namespace

std::optional<std::string_view> PrecompiledHeaders::prefix_of(const std::string& source) {
  const std::size_t stop = source.find(kStop);
  if (stop == std::string::npos || (stop > 0 && source[stop - 1] != '\n')) return std::nullopt;
  return std::string_view(source).substr(0, stop + kStop.size());
}

PrecompiledHeaders::Attempt PrecompiledHeaders::compile(NvrtcProgram& program, std::string_view prefix,
                                                        std::vector<std::string> options) {
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

PrecompiledHeaders::Attempt PrecompiledHeaders::create(NvrtcProgram& program, const std::string& key,
                                                       std::vector<std::string> options) {
  Attempt attempt;
  const Workshop workshop;
  if (!workshop.ready()) return attempt;
  options.push_back("-create-pch=" + workshop.file().string());
  attempt.compiled = program.compile(options) == NVRTC_SUCCESS;
  attempt.log = program.log();
  (void)remove_message(attempt.log, "creating precompiled header file");
  const nvrtcResult status = api_.pch_status(program.handle());
  std::size_t required = 0;
  if (status == NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED &&
      api_.pch_heap_required(program.handle(), &required) == NVRTC_SUCCESS &&
      api_.set_pch_heap(required + required / 2) == NVRTC_SUCCESS) {
    entries_.clear();  // a new heap invalidates them; this one is made by the next compilation, in the larger heap
    return attempt;
  }
  Entry& entry = entries_.emplace_front();
  entry.key = key;
  if (entries_.size() > kMostEntries) entries_.pop_back();
  if (status == NVRTC_SUCCESS) {
    entry.file = base::FileDescriptor(::open(workshop.file().c_str(), O_RDONLY | O_CLOEXEC));
    if (entry.file.open()) attempt.use = HeaderUse::Created;
  }
  return attempt;
}

PrecompiledHeaders::Attempt PrecompiledHeaders::use(NvrtcProgram& program, const Entry& entry,
                                                    std::vector<std::string> options) const {
  Attempt attempt;
  options.push_back(fmt::format("-use-pch=/proc/self/fd/{}", entry.file.get()));
  attempt.compiled = program.compile(options) == NVRTC_SUCCESS;
  attempt.log = program.log();
  if (remove_message(attempt.log, "using precompiled header file")) attempt.use = HeaderUse::Used;
  return attempt;
}

}  // namespace attune::compile
