#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/support/gzip.hpp"
#include "tuner/simulate/gunzip.hpp"

namespace test_gunzip {

using attune::Error;
using attune::simulate::gunzip;
using attune::test::gzip;

namespace {

constexpr std::uint64_t kEnough = std::uint64_t{64} << 20;

/// Longer than any buffer on the way, and not the same everywhere.
std::string long_text() {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += std::to_string(i * 7919LL);
  return text;
}

}  // namespace

TEST_CASE("gunzip gives what gzip packed, however long") {
  for (const std::string& text : {std::string(), std::string("a"), long_text()}) CHECK(gunzip(gzip(text), kEnough) == text);
}

TEST_CASE("gunzip reads the members of a file one after the other") {
  CHECK(gunzip(gzip("first ") + gzip("") + gzip("second"), kEnough) == "first second");
}

TEST_CASE("gzip data that is cut anywhere is an error") {
  const std::string packed = gzip("a text that is packed, and long enough to be cut");
  for (std::size_t bytes = 1; bytes < packed.size(); ++bytes)
    CHECK_THROWS_WITH_AS((void)gunzip(packed.substr(0, bytes), kEnough), doctest::Contains("truncated or damaged gzip data"), Error);
}

TEST_CASE("gzip data whose checksum is another's is an error") {
  std::string packed = gzip("a text");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  CHECK_THROWS_WITH_AS((void)gunzip(packed, kEnough), doctest::Contains("incorrect data check"), Error);
  CHECK_THROWS_WITH_AS((void)gunzip(gzip("a text") + "and more", kEnough), doctest::Contains("truncated or damaged gzip data"), Error);
}

TEST_CASE("what unpacks to more than is allowed is refused, naming the limit") {
  const std::string packed = gzip(std::string(std::size_t{10} << 20, 'a'));
  REQUIRE(packed.size() < 20000);
  CHECK_THROWS_WITH_AS((void)gunzip(packed, 1000000), doctest::Contains("more than 1000000 bytes"), Error);
  CHECK(gunzip(packed, std::uint64_t{10} << 20).size() == std::size_t{10} << 20);
}

}  // namespace test_gunzip
