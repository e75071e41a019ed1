#include "tuner/compile/cubin_cache.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/private_path.hpp"

namespace attune::compile {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A file is this line, the digest of the rest as 32 hex digits, a line end, and the result as CBOR.
constexpr std::string_view kMagic = "attune cubin 1\n";
constexpr std::size_t kDigestChars = 32;
constexpr std::size_t kHeaderBytes = kMagic.size() + kDigestChars + 1;
constexpr const char* kExtension = ".cubin";

std::string encode(CompileResult result) {
  result.compile_ms = 0;  // of one run; without it the bytes of a key are the same from every writer
  result.from_cache = false;
  result.headers = HeaderUse::None;
  std::string payload;
  json::to_cbor(to_json(result), payload);
  return fmt::format("{}{}\n{}", kMagic, base::content_key(payload), payload);
}

/// Nothing when the bytes are not what encode() makes for this key.
std::optional<CompileResult> decode(std::string_view bytes, const std::string& key) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  const std::string_view payload = bytes.substr(kHeaderBytes);
  if (bytes.substr(kMagic.size(), kDigestChars) != base::content_key(payload)) return std::nullopt;
  try {
    CompileResult result = result_from_json(json::from_cbor(payload));
    if (result.key != key) return std::nullopt;  // a file that was renamed
    result.from_cache = true;
    return result;
  } catch (const std::exception&) {
    return std::nullopt;  // whole, but of a version that wrote other fields
  }
}

struct CachedFile {
  fs::path path;
  std::uint64_t bytes = 0;
  timespec used{};
};

bool used_earlier(const CachedFile& a, const CachedFile& b) {
  if (a.used.tv_sec != b.used.tv_sec) return a.used.tv_sec < b.used.tv_sec;
  return a.used.tv_nsec < b.used.tv_nsec;
}

/// Our files in the folders of two hex digits; whatever else a user keeps there is not ours to count or remove.
std::vector<CachedFile> list_files(const fs::path& folder) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (const fs::directory_entry& sub : fs::directory_iterator(folder, error)) {
    const std::string name = sub.path().filename().string();
    if (name.size() != 2 || name.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(sub.path(), error)) {
      struct stat status {};
      const fs::path extension = entry.path().extension();
      const bool ours = extension == kExtension || extension == ".new";  // .new: what a killed writer left
      if (!ours || ::stat(entry.path().c_str(), &status) != 0) continue;
      files.push_back({entry.path(), static_cast<std::uint64_t>(status.st_size), status.st_mtim});
    }
  }
  return files;
}

}  // namespace

CubinCache::CubinCache(fs::path folder, std::uint64_t limit_bytes)
    // The first store trims: an earlier process may have left more than this one allows.
    : folder_(std::move(folder)), limit_bytes_(limit_bytes), untrimmed_bytes_(limit_bytes) {
  try {
    base::create_private_folder(folder_);
    if (::access(folder_.c_str(), W_OK) != 0) warning_ = base::errno_text("access", errno);
  } catch (const Error& error) {
    warning_ = error.what();
  }
  if (!warning_.empty()) warning_ = fmt::format("compile cache {} is not written to: {}", folder_.string(), warning_);
  std::error_code error;
  if (!fs::is_directory(folder_, error)) return;
  if (const std::string reason = base::why_not_private(folder_); !reason.empty()) {
    refused_ = true;
    warning_ = fmt::format("compile cache {} is not used: {}", folder_.string(), reason);
  }
}

fs::path CubinCache::path_of(const std::string& key) const { return folder_ / key.substr(0, 2) / (key + kExtension); }

std::optional<CompileResult> CubinCache::find(const std::string& key) const {
  if (refused_) return std::nullopt;
  const fs::path path = path_of(key);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  std::string bytes;
  try {
    bytes = base::read_file(path);
  } catch (const Error&) {
    return std::nullopt;  // trimmed by another process since, or unreadable: compiling again answers as well
  }
  std::optional<CompileResult> result = decode(bytes, key);
  if (!result) {
    fs::remove(path, error);
    return std::nullopt;
  }
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // not possible in a read-only folder, which is never trimmed
  return result;
}

void CubinCache::store(const std::string& key, const CompileResult& result) {
  const bool deterministic = result.status == CompileStatus::Ok || result.status == CompileStatus::Failed;
  if (!deterministic || !warning_.empty()) return;
  const fs::path path = path_of(key);
  const std::string bytes = encode(result);
  try {
    base::create_private_folder(path.parent_path());
    base::write_file_atomic(path, bytes, base::Durability::Relaxed);
  } catch (const Error& error) {  // a full disk must not end a tuning run
    warning_ = fmt::format("compile cache {} is not written to any more: {}", folder_.string(), error.what());
    return;
  }
  untrimmed_bytes_ += bytes.size();
  // Listing the folder after every store would cost more than it saves: a sixteenth over the limit is tolerated.
  if (untrimmed_bytes_ > limit_bytes_ / 16) trim();
}

std::uint64_t CubinCache::trim() {
  if (refused_) return 0;
  untrimmed_bytes_ = 0;
  std::vector<CachedFile> files = list_files(folder_);
  std::uint64_t total = 0;
  for (const CachedFile& file : files) total += file.bytes;
  std::sort(files.begin(), files.end(), used_earlier);
  std::uint64_t freed = 0;
  for (const CachedFile& file : files) {
    if (total - freed <= limit_bytes_) break;
    if (::unlink(file.path.c_str()) == 0) freed += file.bytes;
  }
  return freed;
}

}  // namespace attune::compile
