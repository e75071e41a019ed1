#include "tuner/simulate/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace attune::simulate {
namespace {

constexpr std::size_t kPackedChunkBytes = std::size_t{256} << 10;
constexpr int kGzip = 16;  // added to the size of the window
constexpr int kMemoryLevel = 8;

/// The state of zlib's deflate, which has to be ended.
class Deflater {
 public:
  Deflater() {
    if (::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~Deflater() { ::deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  z_stream stream = {};
};

}  // namespace

std::string gzip(std::string_view bytes) {
  Deflater deflater;
  z_stream& stream = deflater.stream;
  std::string packed, chunk(kPackedChunkBytes, '\0');
  std::string_view left = bytes;
  for (int code = Z_OK; code != Z_STREAM_END;) {
    const auto given = static_cast<uInt>(std::min<std::size_t>(left.size(), std::numeric_limits<uInt>::max()));
    // zlib's interface is not const, and it writes nothing there.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left.data()));
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    code = ::deflate(&stream, given == left.size() ? Z_FINISH : Z_NO_FLUSH);
    if (code == Z_STREAM_ERROR) throw std::bad_alloc();
    left.remove_prefix(given - stream.avail_in);
    packed.append(chunk.data(), chunk.size() - stream.avail_out);
  }
  return packed;
}

}  // namespace attune::simulate
