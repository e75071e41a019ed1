#pragma once
#include <zlib.h>

#include <string>
#include <string_view>

namespace attune::test {

/// One member of a gzip file, as the gzip command writes it. Empty when zlib fails, which no reader takes for gzip.
[[nodiscard]] inline std::string gzip(std::string_view contents) {
  z_stream stream = {};
  if (::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string packed(::deflateBound(&stream, contents.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(contents.data()));
  stream.avail_in = static_cast<uInt>(contents.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool done = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(done ? stream.total_out : 0);
  ::deflateEnd(&stream);
  return packed;
}

}  // namespace attune::test
