#include "tuner/base/file_pieces.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"

namespace attune::base {
namespace {

[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& why) {
  throw EnvironmentError(fmt::format("failed reading {}: {}", path.string(), why));
}

}  // namespace

FilePieces::FilePieces(const std::filesystem::path& path) : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (!file_.open()) refuse_file(path_, errno_text("open", errno));
  if (::fstat(file_.get(), &status) != 0) refuse_file(path_, errno_text("fstat", errno));
  if (!S_ISREG(status.st_mode)) refuse_file(path_, "it is no file, but a folder, a pipe or a device");
  bytes_ = left_ = static_cast<std::uint64_t>(status.st_size);
  piece_ = std::make_unique_for_overwrite<char[]>(std::min<std::uint64_t>(bytes_, kPieceBytes));
}

std::string_view FilePieces::next() {
  const std::size_t wanted = std::min<std::uint64_t>(left_, kPieceBytes);
  for (std::size_t there = 0; there < wanted;) {
    const auto count = ::read(file_.get(), piece_.get() + there, wanted - there);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_file(path_, errno_text("read", errno));
    if (count == 0) refuse_file(path_, "it was shortened meanwhile; start again when nobody writes to it");
    there += static_cast<std::size_t>(count);
  }
  left_ -= wanted;
  return {piece_.get(), wanted};
}

}  // namespace attune::base
