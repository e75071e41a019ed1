#include "tools/output_target.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "attune/error.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/output_file.hpp"

namespace attune::tools {
namespace {

namespace fs = std::filesystem;

/// What every database begins with, its last byte included.
constexpr std::string_view kDatabaseMagic{"SQLite format 3", 16};
constexpr std::string_view kLogMagic[] = {"\x37\x7f\x06\x82", "\x37\x7f\x06\x83"};  // checksums of either byte order

/// The first bytes of a regular file, fewer when it is shorter; nothing of a pipe or device, which would be waited for.
std::string first_bytes_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  std::ifstream stream(file, std::ios::binary);
  std::string start(kDatabaseMagic.size(), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  return start;
}

/// One spelling per file, existing or not; links are followed to their ends. Empty for a descriptor and what no name leads to.
fs::path spelling_of(const fs::path& file) {
  try {
    return base::output_place(file);
  } catch (const Error&) {
    std::error_code error;
    return fs::absolute(file, error).lexically_normal();
  }
}

/// The name itself, with links in its folders followed.
fs::path link_of(const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::absolute(file, error);
  return fs::weakly_canonical(whole.parent_path(), error) / whole.filename();
}

/// What follows its name in those of the files that it needs beside it: SQLite's own, ours, and the same of the one that takes its place
/// when it is damaged.
std::vector<std::string> names_of_a_database() {
  std::vector<std::string> suffixes{".suspect"};
  for (const std::string made : {"", ".salvaged"}) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal", ".lock"}) suffixes.push_back(made + suffix);
  }
  return suffixes;
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;  // a hard link
}

}  // namespace

void check_output_target(const std::string& file, const fs::path& database, const char* doing) {
  const auto refuse = [&](const char* what) {
    throw UsageError(fmt::format("failed {} {}: it is {}; name another file", doing, file, what));
  };
  if (file == "-") return;
  const std::string start = first_bytes_of(file);
  if (start == kDatabaseMagic) refuse("a database");
  for (const std::string_view log : kLogMagic) {
    if (start.starts_with(log)) refuse("the write-ahead log of a database");
  }
  const fs::path place = spelling_of(file), link = link_of(file);
  for (const std::string& suffix : names_of_a_database()) {
    const fs::path taken = spelling_of(database).string() + suffix, beside = link_of(database).string() + suffix;
    const bool named = place == taken || link == taken || place == beside || link == beside;
    if (named || same_file(file, taken)) refuse("a name that the database of this command uses itself");
  }
  base::check_output(file);
}

void throw_when_output_is_stopped() {
  if (stop_asked()) throw Error("interrupted while writing the output; a file is left as it was", ExitCode::Interrupted);
}

void write_output_target(const std::string& file, std::string_view bytes) {
  stop_on_signals();
  base::write_output(file, bytes, throw_when_output_is_stopped);
}

}  // namespace attune::tools
