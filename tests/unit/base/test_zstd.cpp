#include <doctest/doctest.h>
#include <zstd.h>

#include <string>

#include "attune/error.hpp"
#include "tuner/base/zstd.hpp"

namespace test_zstd {

using namespace attune::base;
using attune::Error;

namespace {

constexpr std::uint64_t kEnough = 10000000;

/// As `zstd --long=N` would write it.
std::string with_window(const std::string& bytes, int window_log) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string frame(ZSTD_compressBound(bytes.size()) + 100, '\0');
  ZSTD_outBuffer out{frame.data(), frame.size(), 0};
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  REQUIRE(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue) < (std::size_t{1} << 30));
  REQUIRE(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) == 0);
  ZSTD_freeCCtx(context);
  frame.resize(out.pos);
  return frame;
}

}  // namespace

TEST_CASE("compressed bytes come back, whatever they are") {
  std::string noise(300000, '\0');
  unsigned state = 1;
  for (char& byte : noise) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (const std::string& bytes : {std::string(), std::string("abc"), std::string(2000000, 'z'), noise}) {
    CHECK(decompress(compress(bytes), kEnough) == bytes);
  }
  CHECK(compress(std::string(2000000, 'z'), 3).size() < 2000);
}

TEST_CASE("several frames after one another are their contents after one another") {
  CHECK(decompress(compress("one ") + compress("two"), kEnough) == "one two");
}

TEST_CASE("truncated or damaged zstd data is an error") {
  const std::string frame = compress(std::string(5000, 'a') + "the end");
  for (std::size_t length = 0; length < frame.size(); ++length) {
    CHECK_THROWS_WITH_AS((void)decompress(frame.substr(0, length), kEnough), doctest::Contains("truncated or damaged"), Error);
  }
  std::string flipped = frame;
  flipped[flipped.size() / 2] ^= 4;
  CHECK_THROWS_WITH_AS((void)decompress(flipped, kEnough), doctest::Contains("truncated or damaged"), Error);
  CHECK_THROWS_WITH_AS((void)decompress("no zstd at all", kEnough), doctest::Contains("truncated or damaged"), Error);
  CHECK_THROWS_WITH_AS((void)decompress(frame + "tail", kEnough), doctest::Contains("truncated or damaged"), Error);
}

TEST_CASE("what unpacks to more than the limit is refused, in one frame or in many, and at the limit it is not") {
  const std::string million(1000000, 'z');
  const std::string frame = compress(million);
  CHECK(decompress(frame, 1000000) == million);
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{999999}}) {
    CHECK_THROWS_WITH_AS((void)decompress(frame, limit), doctest::Contains("they unpack to more than"), Error);
  }
  CHECK(decompress(compress(""), 0).empty());
  std::string many;
  for (int i = 0; i < 1000; ++i) many += frame;
  CHECK_THROWS_WITH_AS((void)decompress(many, 500000000), doctest::Contains("they unpack to more than 500000000 bytes"), Error);
}

TEST_CASE("a frame that needs a large window is refused with what to do, whatever it holds") {
  CHECK(decompress(with_window("small", 26), 100) == "small");
  CHECK_THROWS_WITH_AS((void)decompress(with_window("small", 27), 100), doctest::Contains("without --long"), Error);
}

TEST_CASE("frames to skip and empty frames hold nothing") {
  const std::string skipped("\x50\x2A\x4D\x18\x03\0\0\0abc", 11);
  CHECK(decompress(skipped + compress("a") + skipped + compress("") + compress("b"), kEnough) == "ab");
}

}  // namespace test_zstd
