#include "tools/fleet/run_notes.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <sstream>
#include <string>
#include <string_view>

#include "attune/error.hpp"
#include "tuner/base/bounded_file.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/file_descriptor.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_check.hpp"
#include "tuner/base/new_file.hpp"

namespace attune::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostNoteBytes = std::uint64_t{16} << 20;  // some ten thousand tasks of one shard
constexpr std::size_t kMostRuns = 256;                             // what is told of a shard; a merge has those of all

[[noreturn]] void fail_noting(const fs::path& path, const std::string& why) {
  throw EnvironmentError(fmt::format("failed writing {}: {}", path.string(), why));
}

/// Whether the last line has no end: the task that wrote it was killed, or its disk was full.
bool ends_torn(int file, const struct stat& status) {
  char last = '\n';
  return status.st_size > 0 && ::pread(file, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

}  // namespace

void note_run(const fs::path& path, const nlohmann::json& fields) {
  constexpr const char* kRemedy = "; tasks need to write into the plan's folder";
  // Reading too: O_RDWR opens a pipe without waiting for its other end, and the last byte is looked at.
  const base::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644));
  if (!file.open() && errno == ELOOP) fail_noting(path, "it is a link, which may lead to somebody else's file; remove it");
  if (!file.open()) fail_noting(path, base::errno_text("open", errno) + kRemedy);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_noting(path, base::errno_text("fstat", errno));
  if (!S_ISREG(status.st_mode)) fail_noting(path, "it is no regular file; remove it");
  if (status.st_nlink > 1) fail_noting(path, "the file has other names (hard links), which may be somebody else's; remove this one");
  const std::string line = (ends_torn(file.get(), status) ? "\n" : "") + base::dump_json_replacing(fields) + "\n";
  std::string_view rest = line;
  if (!base::write_all(file.get(), rest)) fail_noting(path, base::errno_text("write", errno) + kRemedy);
}

std::vector<nlohmann::json> read_runs(const fs::path& path) {
  std::vector<nlohmann::json> runs;
  if (std::error_code error; !fs::exists(path, error)) return runs;
  std::istringstream text(base::read_bounded_file(path, kMostNoteBytes));
  std::deque<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > kMostRuns) lines.pop_front();
  }
  for (const auto& line : lines) {
    if (base::find_json_fault(line, {})) continue;
    auto run = base::try_parse_json(line);
    if (run.is_object()) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace attune::tools
