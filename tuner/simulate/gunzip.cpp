#include "tuner/simulate/gunzip.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "attune/error.hpp"

namespace attune::simulate {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr int kGzipOnly = 16;  // added to the size of the window: zlib's own format is none that files have

/// The state of zlib's inflate, which has to be ended.
class Inflater {
 public:
  Inflater() {
    if (::inflateInit2(&stream, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream = {};
};

[[noreturn]] void fail_unpacking(std::size_t stored, const std::string& why) {
  throw Error(fmt::format("failed decompressing {} bytes: {}", stored, why), ExitCode::Spec);
}

[[noreturn]] void fail_damaged(std::size_t stored, const z_stream& stream, int code) {
  const char* const why = stream.msg != nullptr ? stream.msg : code == Z_BUF_ERROR ? "it ends within a member" : ::zError(code);
  fail_unpacking(stored, fmt::format("truncated or damaged gzip data ({})", why));
}

}  // namespace

std::string gunzip(std::string_view bytes, std::uint64_t most_bytes) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::string contents, chunk(kChunkBytes, '\0');
  std::string_view left = bytes;
  for (int code = Z_OK; !left.empty() || code != Z_STREAM_END;) {
    if (code == Z_STREAM_END && ::inflateReset(&stream) != Z_OK) throw std::bad_alloc();  // the next member
    const auto given = static_cast<uInt>(std::min<std::size_t>(left.size(), std::numeric_limits<uInt>::max()));
    // zlib's interface is not const, and it writes nothing there.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left.data()));
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    code = ::inflate(&stream, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_STREAM_END) fail_damaged(bytes.size(), stream, code);
    left.remove_prefix(given - stream.avail_in);
    const std::size_t made = chunk.size() - stream.avail_out;
    if (made > most_bytes - contents.size()) {
      fail_unpacking(bytes.size(), fmt::format("they unpack to more than {} bytes, which is the limit for so small a file", most_bytes));
    }
    contents.append(chunk.data(), made);
  }
  return contents;
}

}  // namespace attune::simulate
