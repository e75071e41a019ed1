#include "tuner/base/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/file_descriptor.hpp"

namespace attune::base {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw EnvironmentError(fmt::format("failed reading {}: {}", path.string(), why));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.open()) refuse(path, errno_text("open", errno));
  if (::fstat(file.get(), &status) != 0) refuse(path, errno_text("fstat", errno));
  if (!S_ISREG(status.st_mode)) refuse(path, "it is no file, but a folder, a pipe or a device");
  bytes_ = static_cast<std::size_t>(status.st_size);
  if (bytes_ == 0) return;  // nothing can be mapped
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) refuse(path, errno_text("mmap", errno));
  start_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
  if (start_ != nullptr) ::munmap(const_cast<std::byte*>(start_), bytes_);
}

}  // namespace attune::base
