// The numbers of fills, at one problem: exact, and refused at their place where the buffer's type has none.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "spec_support.hpp"
#include "tuner/spec/buffer_fill.hpp"
#include "tuner/spec/device_info.hpp"

namespace test_buffer_fill {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min(), kHighest = std::numeric_limits<std::int64_t>::max();

/// What `fill` comes to for so many elements of a type.
std::vector<Value> fill_of(const std::string& type, const std::string& fill, std::int64_t n = 1000, std::int64_t count = 1000) {
  const auto kernel = parse_sample(replaced(sample_template(), R"("in": {"type": "T", "count": "n"})",
                                            R"("in": {"type": ")" + type + R"(", "count": "n", "fill": )" + fill + "}"));
  const Problem problem = sample_problem("f32", n);
  const DeviceInfo device = DeviceInfo::of_architecture("sm_90");
  const Configuration configuration = default_configuration(kernel);
  ResolvedBuffer buffer;
  buffer.name = "in";
  buffer.type = element_type(type);
  buffer.count = count;
  return resolve_fill(kernel.buffers[0], buffer, problem, make_scope(kernel, problem, configuration, device));
}

std::string refusal(const std::string& type, const std::string& fill, std::int64_t n = 1000, std::int64_t count = 1000) {
  return error_of([&] { static_cast<void>(fill_of(type, fill, n, count)); });
}

using Values = std::vector<Value>;

}  // namespace

TEST_CASE("negative numbers fill signed and floating types") {
  CHECK(fill_of("i32", R"({"value": -2})") == Values{std::int64_t{-2}});
  CHECK(fill_of("f32", R"({"value": -2.5})") == Values{-2.5});
  CHECK(fill_of("i8", R"({"range": [-4, -1]})") == Values{std::int64_t{-4}, std::int64_t{-1}});
  CHECK(fill_of("f16", R"({"range": [-4, -1]})") == Values{-4.0, -1.0});
  CHECK(fill_of("i32", R"({"value": "-n"})") == Values{std::int64_t{-1000}});
  CHECK(fill_of("i64", R"({"value": -9223372036854775808})") == Values{kLowest});
}

TEST_CASE("what a type does not hold is told at its place, with a remedy") {
  CHECK(refusal("u32", R"({"value": -2})") ==
        R"(t.json:20:59: the fill of the buffer 'in' for {"T":"f32","n":1000,"op":"sum"} has -2, which is no u32 ("-2"); )"
        "give a number that this type holds, or the buffer another type");
  CHECK(contains(refusal("i32", R"({"value": 2.5})"), "t.json:20:59: "));
  CHECK(contains(refusal("i32", R"({"value": 2.5})"), "has 2.5, which is no i32"));
  CHECK(contains(refusal("u8", R"({"value": 256})"), "has 256, which is no u8"));
  CHECK(contains(refusal("f16", R"({"value": 70000})"), "has 70000, which is no f16"));
  CHECK(contains(refusal("f32", R"({"value": "T"})"), "has f32, which is no f32"));
  CHECK(contains(refusal("u32", R"({"range": [-4, 1]})"), "t.json:20:60: "));
  CHECK(contains(refusal("u32", R"({"range": [-4, 1]})"), "has -4, which is no u32"));
  CHECK(contains(refusal("i32", R"({"range": [0, 2.5]})"), "t.json:20:63: "));
  CHECK(contains(refusal("u8", R"({"range": [0, 257]})"), "has 256, which is no u8"));
}

TEST_CASE("whole numbers of fills are exact up to 64 bits") {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;  // no double
  CHECK(fill_of("i64", R"({"value": 9007199254740993})") == Values{odd});
  CHECK(fill_of("u64", R"({"value": 9007199254740993})") == Values{odd});
  CHECK(fill_of("i64", R"({"range": [9007199254740993, "9007199254740993 + 1"]})") == Values{odd, odd + 1});
  CHECK(fill_of("i64", R"({"range": [-9223372036854775808, 9223372036854775807]})") == Values{kLowest, kHighest});
  CHECK(fill_of("i32", R"({"value": 4.0})") == Values{std::int64_t{4}});
  CHECK(fill_of("u8", R"({"range": [0, 256]})") == Values{std::int64_t{0}, std::int64_t{256}});
}

TEST_CASE("a range that no number is in is told at its place, unless there is nothing to fill") {
  CHECK(contains(refusal("i32", R"({"range": [0, "n - 1000"]})"), "t.json:20:49: the fill of the buffer 'in' for "));
  CHECK(contains(refusal("i32", R"({"range": [0, "n - 1000"]})"), "is a range from 0 to below 0, which no number is in"));
  CHECK(contains(refusal("f32", R"({"range": [1, 1]})"), "is a range from 1.0 to below 1.0"));
  CHECK(contains(refusal("i32", R"({"range": [-1, -4]})"), "is a range from -1 to below -4"));
  CHECK(fill_of("i32", R"({"range": [0, "n - 1000"]})", 1000, 0).empty());
  CHECK(fill_of("u32", R"x({"value": "1000 // (n - 1000)"})x", 1000, 0).empty());
  CHECK(contains(refusal("u32", R"x({"value": "1000 // (n - 1000)"})x"), "t.json:20:"));
}

TEST_CASE("offsets divide a number of elements that the type holds without gaps") {
  CHECK(fill_of("i32", R"({"offsets": "4 * n"})") == Values{std::int64_t{4000}});
  CHECK(fill_of("i32", R"({"offsets": 0})") == Values{std::int64_t{0}});
  CHECK(fill_of("i32", R"({"offsets": 7})", 1000, 1) == Values{std::int64_t{7}});  // no rows
  CHECK(contains(refusal("i32", R"({"offsets": -5})"), "t.json:20:61: "));
  CHECK(contains(refusal("i32", R"({"offsets": -5})"), "divides -5 elements among rows (\"-5\"); give a whole number from 0 to 2^48"));
  CHECK(contains(refusal("i32", R"({"offsets": 2.5})"), "divides 2.5 elements"));
  CHECK(contains(refusal("i64", R"({"offsets": "2 ** 49"})"), "from 0 to 2^48"));
  CHECK(contains(refusal("u8", R"({"offsets": 300})"), "goes up to 300, and u8 has whole numbers without gaps up to 255 only"));
  CHECK(contains(refusal("f16", R"({"offsets": 2049})"), "and f16 has whole numbers without gaps up to 2048 only"));
}

TEST_CASE("an index and a permutation are refused where the type would round or repeat one") {
  struct Last {
    const char* type;
    std::int64_t most;
  };
  for (const auto& [type, most] : {Last{"f8e5m2", 8}, Last{"f8e4m3", 16}, Last{"bf16", 256}, Last{"f16", 2048}, Last{"f32", 16777216},
                                   Last{"i8", 127}, Last{"u8", 255}, Last{"i16", 32767}}) {
    CAPTURE(type);
    for (const char* const fill : {R"("index")", R"("permutation")"}) {
      CHECK(refusal(type, fill, 1000, most + 1).empty());
      CHECK(contains(refusal(type, fill, 1000, most + 2), "goes up to " + std::to_string(most + 1)));
    }
  }
  CHECK(refusal("f16", R"("index")", 1000, 2050) ==
        R"(t.json:20:49: the fill of the buffer 'in' for {"T":"f32","n":1000,"op":"sum"} goes up to 2049, and f16 has whole numbers )"
        "without gaps up to 2048 only; give the buffer a wider type, or choose a smaller problem or another fill");
}

TEST_CASE("fills without numbers need none") {
  for (const char* const fill : {R"("uniform")", R"("integers")", R"("zeros")", R"("ones")", R"("index")"})
    CHECK(fill_of("f32", fill).empty());
}

}  // namespace test_buffer_fill
