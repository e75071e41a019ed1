#include "tuner/compile/cubin_cache.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/errno_text.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/private_folder.hpp"

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
  result.headers_refusal.clear();
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

/// Larger than any that is written: a library's code has a few megabytes.
constexpr std::uint64_t kMostCubinBytes = std::uint64_t{1} << 30;

struct CachedFile {
  std::string folder;
  std::string name;
  std::uint64_t bytes = 0;
  timespec used{};
};

bool used_earlier(const CachedFile& a, const CachedFile& b) {
  if (a.used.tv_sec != b.used.tv_sec) return a.used.tv_sec < b.used.tv_sec;
  return a.used.tv_nsec < b.used.tv_nsec;
}

std::string folder_of(const std::string& key) { return key.substr(0, 2); }

/// Our files in the folders of two hex digits; whatever else a user keeps there is not ours to count or remove.
std::vector<CachedFile> list_files(const base::PrivateFolder& folder) {
  std::vector<CachedFile> files;
  for (const auto& sub : folder.entries()) {
    if (!sub.is_folder || sub.name.size() != 2 || sub.name.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    for (auto& entry : folder.subfolder(sub.name, base::IfMissing::Leave).entries()) {
      const bool ours = entry.name.ends_with(kExtension) || entry.name.ends_with(".new");  // .new: what a killed writer left
      if (ours && !entry.is_folder) files.push_back({sub.name, std::move(entry.name), entry.bytes, entry.modified});
    }
  }
  return files;
}

}  // namespace

CubinCache::CubinCache(fs::path folder, std::uint64_t limit_bytes)
    // The first store trims: an earlier process may have left more than this one allows.
    : folder_(std::move(folder)), limit_bytes_(limit_bytes), untrimmed_bytes_(limit_bytes) {
  const auto opened = base::PrivateFolder::open(folder_, base::IfMissing::Create);
  read_only_ = !opened.is_writable();
  refuse("", opened.refusal());
  if (!read_only_ || refused_) return;
  warning_ = fmt::format("compile cache {} is not written to, so that later runs compile again: {}", folder_.string(),
                         opened.is_open() ? base::errno_text("access", errno) : opened.missing());
}

base::PrivateFolder CubinCache::open_folder(const std::string& key, base::IfMissing if_missing) const {
  const auto folder = base::PrivateFolder::open(folder_, if_missing);
  auto sub = folder.subfolder(folder_of(key), if_missing);
  refuse(folder.is_open() ? "a folder of " : "", sub.refusal());
  return sub;
}

void CubinCache::refuse(const char* part, const std::string& reason) const {
  if (reason.empty() || refused_) return;
  refused_ = true;
  warning_ = fmt::format("{}compile cache {} is not used: {}", part, folder_.string(), reason);
}

std::optional<CompileResult> CubinCache::find(const std::string& key) const {
  const auto folder = open_folder(key, base::IfMissing::Leave);
  const base::PrivateFile file = folder.open_file(key + kExtension, kMostCubinBytes);
  refuse("a file of ", file.refusal);
  const auto bytes = file.read();
  if (!bytes) return std::nullopt;  // not there, or cut by another process just now: compiling again answers as well
  std::optional<CompileResult> result = decode(*bytes, key);
  if (!result) {
    folder.remove(key + kExtension);
    return std::nullopt;
  }
  folder.touch(key + kExtension);  // not possible in a read-only folder, which is never trimmed
  return result;
}

bool CubinCache::store(const std::string& key, const CompileResult& result) {
  const bool deterministic = result.status == CompileStatus::Ok || result.status == CompileStatus::Failed;
  if (!deterministic) return true;
  if (read_only_) return false;
  const std::string bytes = encode(result);
  const auto folder = open_folder(key, base::IfMissing::Create);
  if (!folder.refusal().empty()) return false;
  try {
    if (!folder.is_open()) throw Error(folder.missing());
    folder.write(key + kExtension, bytes);
  } catch (const Error& error) {  // a full disk must not end a tuning run
    read_only_ = true;
    if (warning_.empty())
      warning_ =
          fmt::format("compile cache {} is not written to any more, so that later runs compile again: {}", folder_.string(), error.what());
    return false;
  }
  untrimmed_bytes_ += bytes.size();
  // Listing the folder after every store would cost more than it saves: a sixteenth over the limit is tolerated.
  if (untrimmed_bytes_ > limit_bytes_ / 16) trim();
  return true;
}

std::uint64_t CubinCache::trim() {
  untrimmed_bytes_ = 0;
  const auto folder = base::PrivateFolder::open(folder_, base::IfMissing::Leave);
  std::vector<CachedFile> files = list_files(folder);
  std::uint64_t total = 0;
  for (const CachedFile& file : files) total += file.bytes;
  std::sort(files.begin(), files.end(), used_earlier);
  std::uint64_t freed = 0;
  for (const CachedFile& file : files) {
    if (total - freed <= limit_bytes_) break;
    if (folder.subfolder(file.folder, base::IfMissing::Leave).remove(file.name)) freed += file.bytes;
  }
  return freed;
}

}  // namespace attune::compile
