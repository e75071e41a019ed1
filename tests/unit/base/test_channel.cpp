#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tuner/base/channel.hpp"

namespace test_channel {

using attune::Error;
using attune::base::Channel;
using attune::base::ChannelClosed;
using nlohmann::json;

namespace {

constexpr std::chrono::milliseconds kNow{0};
constexpr std::chrono::milliseconds kForEver{-1};

void write_raw(const Channel& channel, const std::string& bytes) {
  REQUIRE(::send(channel.fd(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

}  // namespace

TEST_CASE("messages arrive whole and in order, byte strings included") {
  auto [a, b] = Channel::pair();
  const json first = {{"text", "caf\u00e9"}, {"numbers", {1, -2, 2.5}}, {"none", nullptr}};
  const json second = json::binary({0, 255, 10, 0});
  a.send(first);
  a.send(second);
  CHECK(b.receive(kForEver).value() == first);
  CHECK(b.receive(kForEver).value() == second);
  CHECK_FALSE(b.receive(kNow).has_value());
}

TEST_CASE("a message larger than the socket buffer arrives while the sender blocks") {
  auto [a, b] = Channel::pair();
  const std::string large(8 << 20, 'x');
  std::thread sender([&a = a, &large] { a.send(large); });
  const json received = b.receive(kForEver).value();
  sender.join();
  CHECK(received.get_ref<const std::string&>() == large);
}

TEST_CASE("partial input is kept until the rest arrives") {
  auto [a, b] = Channel::pair();
  // CBOR of "abc": 0x63 'a' 'b' 'c' (RFC 8949, section 3.1, major type 3), behind its length in little-endian order.
  write_raw(a, std::string("\x04\x00", 2));
  CHECK_FALSE(b.receive(kNow).has_value());
  write_raw(a, std::string("\x00\x00\x63"
                           "ab",
                           5));
  CHECK_FALSE(b.receive(std::chrono::milliseconds(1)).has_value());
  write_raw(a, "c");
  CHECK(b.receive(kForEver).value() == "abc");
}

TEST_CASE("what was sent before the end is received before the end is reported") {
  auto [a, b] = Channel::pair();
  a.send("last words");
  a.close();
  CHECK_FALSE(a.open());
  CHECK(b.receive(kForEver).value() == "last words");
  CHECK_THROWS_AS((void)b.receive(kForEver), ChannelClosed);
}

TEST_CASE("an end within a message is a closed channel") {
  auto [a, b] = Channel::pair();
  write_raw(a, std::string("\x04\x00\x00\x00\x63", 5));
  a.close();
  CHECK_THROWS_AS((void)b.receive(kForEver), ChannelClosed);
}

TEST_CASE("sending to a closed end throws and raises no SIGPIPE") {
  auto [a, b] = Channel::pair();
  b.close();
  CHECK_THROWS_AS(a.send(1), ChannelClosed);
}

TEST_CASE("bytes that are no CBOR value are an error, not a message") {
  auto [a, b] = Channel::pair();
  SUBCASE("an array that lacks its elements") { write_raw(a, std::string("\x01\x00\x00\x00\x82", 5)); }
  SUBCASE("a value with bytes behind it") { write_raw(a, std::string("\x02\x00\x00\x00\x01\x01", 6)); }
  SUBCASE("an empty frame") { write_raw(a, std::string("\x00\x00\x00\x00", 4)); }
  CHECK_THROWS_WITH_AS((void)b.receive(kForEver), doctest::Contains("no CBOR value"), Error);
}

TEST_CASE("a channel moves with its descriptor and what it has read") {
  auto [a, b] = Channel::pair();
  a.send(1);
  a.send(2);
  CHECK(b.receive(kForEver).value() == 1);  // has read both
  Channel moved;
  CHECK_FALSE(moved.open());
  moved = std::move(b);
  CHECK(moved.receive(kNow).value() == 2);
  CHECK_FALSE(b.open());  // NOLINT(bugprone-use-after-move): moved-from is closed, and says so
  CHECK_THROWS_AS((void)b.receive(kNow), Error);
  CHECK_THROWS_AS(b.send(1), Error);
}

}  // namespace test_channel
