#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/characters.hpp"
#include "tuner/base/text.hpp"

namespace test_text {

using namespace attune::base;
using attune::UsageError;
using Counts = std::vector<std::int64_t>;

TEST_CASE("a count is read as people write it") {
  CHECK(parse_count("0") == 0);
  CHECK(parse_count("4096") == 4096);
  CHECK(parse_count("100_000") == 100000);
  CHECK(parse_count("1_000_000") == 1000000);
  CHECK(parse_count("1K") == 1024);
  CHECK(parse_count("3Ki") == 3072);
  CHECK(parse_count("16M") == 16777216);
  CHECK(parse_count("16Mi") == 16777216);
  CHECK(parse_count("2G") == 2147483648);
  CHECK(parse_count("2Gi") == 2147483648);
  CHECK(parse_count("2^24") == 16777216);
  CHECK(parse_count("3^4") == 81);
  CHECK(parse_count("1^99999999") == 1);
  CHECK(parse_count("0^3") == 0);
  CHECK(parse_count("7^0") == 1);
  CHECK(parse_count("1e6") == 1000000);
  CHECK(parse_count("25e3") == 25000);
  CHECK(parse_count("0e9") == 0);
}

TEST_CASE("2^62 is the largest count") {
  const std::int64_t largest = std::int64_t{1} << 62;
  CHECK(parse_count("2^62") == largest);
  CHECK(parse_count("4611686018427387904") == largest);
  CHECK(parse_count("4294967296G") == largest);
  for (const char* text : {"2^63", "2^62000", "4611686018427387905", "99999999999999999999", "4294967297G", "1e19", "10^1_000"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)parse_count(text), doctest::Contains("too large"), UsageError);
  }
}

TEST_CASE("a malformed count is named with the accepted forms") {
  for (const char* text :
       {"", "x", "-1", "+1", " 1", "1 ", "1.5M", "16m", "16MB", "2^", "2^-1", "2^3^2", "1e", "1e3K", "_1", "1_", "1__0", "1_K"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)parse_count(text), doctest::Contains((std::string("count '") + text + "'").c_str()), UsageError);
    CHECK_THROWS_WITH_AS((void)parse_count(text), doctest::Contains("write 4096"), UsageError);
  }
}

TEST_CASE("ranges step by a factor or an amount and end where they say") {
  CHECK(parse_counts("2^10..2^18:x4") == Counts{1024, 4096, 16384, 65536, 262144});
  CHECK(parse_counts("1K..4K:+1K") == Counts{1024, 2048, 3072, 4096});
  CHECK(parse_counts("1..8") == Counts{1, 2, 4, 8});
  CHECK(parse_counts("3..20:x3") == Counts{3, 9});
  CHECK(parse_counts("0..10:+4") == Counts{0, 4, 8});
  CHECK(parse_counts("5..5") == Counts{5});
  CHECK(parse_counts("2^61..2^62") == Counts{std::int64_t{1} << 61, std::int64_t{1} << 62});
  CHECK(parse_counts("2^62..2^62:+1") == Counts{std::int64_t{1} << 62});
}

TEST_CASE("a list is sorted and has no duplicates") {
  CHECK(parse_counts("16M") == Counts{16777216});
  CHECK(parse_counts("7, 1..4, 2") == Counts{1, 2, 4, 7});
}

TEST_CASE("a range without a step that leaves counts out is told, one with a step or of neighbours is not") {
  CHECK(doubling_note("1..10") ==
        "1..10 takes 1, 2, 4, 8, for a range without a step doubles; write 1..10:x2 to mean that, 1..10:+1 for steps of 1");
  CHECK(doubling_note("7, 1..3") ==
        "1..3 takes 1, 2, for a range without a step doubles; write 1..3:x2 to mean that, 1..3:+1 for steps of 1");
  CHECK(doubling_note("1..16").starts_with("1..16 takes 1, 2, 4, 8, 16, for"));
  // So many steps of 1 are more than a list may hold: they are no advice.
  CHECK(doubling_note("2^10..2^20") ==
        "2^10..2^20 takes 2^10, 2^11, 2^12, 2^13 ... 2^20, for a range without a step doubles; write 2^10..2^20:x2 to mean that");
  for (const char* quiet : {"1..10:+1", "1..10:x2", "1..2", "5..5", "3, 4", "2^20"}) {
    CAPTURE(quiet);
    CHECK(doubling_note(quiet).empty());
  }
  CHECK_NOTHROW((void)parse_counts("1..65536:+1"));
}

TEST_CASE("a range that names no sizes is refused with the reason") {
  const auto refused = [](const char* text, const char* why) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)parse_counts(text), doctest::Contains(why), UsageError);
  };
  refused("", "a count is missing");
  refused("1,,2", "a count is missing");
  refused("1,", "a count is missing");
  refused("8..1", "descends");
  refused("1..8:x1", "factor is below 2");
  refused("1..8:+0", "step is 0");
  refused("0..8", "cannot start at 0");
  refused("1..8:4", "neither a factor");
  refused("1..8:x", "neither a factor");
  refused("1..8:", "neither a factor");
  refused("8:x2", "needs a range");
  refused("..8", "a digit is missing");
  refused("1..", "a digit is missing");
  refused("1..8:xx", "a digit is missing");
  refused("0..1G:+1", "more than 65536 values");
  refused("1..65536:+1,7", "more than 65536 values");
  CHECK(parse_counts("0..2^62:+2^62") == std::vector<std::int64_t>{0, std::int64_t{1} << 62});
}

TEST_CASE("a formatted count reads back as itself") {
  CHECK(format_count(1048576) == "2^20");
  CHECK(format_count(16777216) == "2^24");
  CHECK(format_count(3000017) == "3000017");
  CHECK(format_count(1024) == "2^10");
  CHECK(format_count(512) == "512");
  CHECK(format_count(0) == "0");
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{1025}, std::int64_t{1} << 62}) {
    CHECK(parse_count(format_count(count)) == count);
  }
}

TEST_CASE("what is trimmed has no blanks at its ends, and those within") {
  CHECK(trimmed("  a  b ") == "a  b");
  CHECK(trimmed("a") == "a");
  CHECK(trimmed("\t a\t") == "\t a\t");  // a tab is none unless it is said
  CHECK(trimmed("\t a b\r", " \t\r") == "a b");
  CHECK(trimmed("   ").empty());
  CHECK(trimmed("").empty());
}

TEST_CASE("a name begins with a letter or '_' and goes on with digits too, all of ASCII") {
  for (const char* name : {"a", "Z", "_", "_0", "block_size2"}) CHECK(is_name(name));
  for (const char* name : {"", "0", "2d", "a b", "a-b", "a.b", "a$", "\xc3\xa4", "a\xe9"}) CHECK_FALSE(is_name(name));
}

TEST_CASE("durations carry their unit") {
  CHECK(parse_seconds("60s") == 60);
  CHECK(parse_seconds("5m") == 300);
  CHECK(parse_seconds("1h") == 3600);
  CHECK(parse_seconds("500ms") == doctest::Approx(0.5));
  CHECK(parse_seconds("1.5h") == 5400);
  for (const char* text : {"", "60", "s", "-1s", "inf", "nans", "1e3s", "1 s", "5min", "0x1s"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)parse_seconds(text), doctest::Contains("write 500ms, 60s, 5m or 1h"), UsageError);
  }
}

TEST_CASE("the time of day is UTC in ISO 8601") {
  const std::string now = utc_now();
  REQUIRE(now.size() == 20);
  CHECK(now[4] == '-');
  CHECK(now[10] == 'T');
  CHECK(now.back() == 'Z');
  CHECK(now > "2026");
}

TEST_CASE("every stamp is later than the one before, and between the times of day before and after") {
  constexpr int kStamps = 1000;
  const std::string before = utc_now();
  std::string last;
  for (int i = 0; i < kStamps; ++i) {
    const std::string stamp = utc_stamp();
    REQUIRE(stamp.size() == 27);
    CHECK(stamp[19] == '.');
    CHECK(stamp.back() == 'Z');
    REQUIRE(stamp > last);
    last = stamp;
  }
  CHECK(last.substr(0, 19) >= before.substr(0, 19));
  // Stamps of the same microsecond run ahead of the clock, each by one.
  std::this_thread::sleep_for(std::chrono::microseconds(kStamps));
  CHECK(last.substr(0, 19) <= utc_now().substr(0, 19));
}

TEST_CASE("a misspelt word finds the word that was meant") {
  const std::vector<std::string> words{"block_size", "blocks_per_sm", "items", "sum"};
  CHECK(closest("blok_size", words) == "block_size");
  CHECK(closest("block_per_sm", words) == "blocks_per_sm");
  CHECK(closest("item", words) == "items");
  CHECK(closest("sun", words) == "sum");
  CHECK(closest("sum", words) == "sum");
  CHECK(closest("grid_stage", words).empty());
  CHECK(closest("", words).empty());
  CHECK(closest("x", {}).empty());
}

TEST_CASE("what is negative, too large, fractional or no number is no whole number, and named") {
  for (const char* good : {"0", "7", "18446744073709551615"}) CHECK(whole_number_fault(good).empty());
  for (const char* bad : {"-1", "18446744073709551616", "1.5", "1e3", "", " 1", "+1", "seven"})
    CHECK(whole_number_fault(bad) == std::string("'") + bad + "' is no whole number from 0 to 2^64 - 1");
}

}  // namespace test_text
