#include "tuner/base/json.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/canonical_json.hpp"
#include "tuner/base/median.hpp"

namespace test_json {

using namespace attune;
using nlohmann::json;

TEST_CASE("text that is no JSON throws, or is discarded where the caller asks") {
  CHECK(base::parse_json(R"({"b": [1, 2.5], "a": null})") == json{{"a", nullptr}, {"b", {1, 2.5}}});
  for (const char* text : {"", "{", "nul", "{} {}", "// words\n{}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(static_cast<void>(base::parse_json(text)), json::parse_error);
    CHECK(base::try_parse_json(text).is_discarded());
  }
}

TEST_CASE("a zero byte is no end: what has one is no JSON, wherever it stands") {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"{}\0"sv, "{}\0anything"sv, "\0{}"sv, "{\"a\":\0 1}"sv, "\"a\0b\""sv, "{} // words\0\n"sv}) {
    CAPTURE(text);
    CHECK_THROWS_AS(static_cast<void>(base::parse_json(text)), json::parse_error);
    CHECK(base::try_parse_json(text).is_discarded());
    CHECK(base::try_parse_commented_json(text).is_discarded());
    CHECK(base::try_parse_shallow_json(text, 8, "too deep").is_discarded());
  }
}

TEST_CASE("comments are read where they are allowed, and nothing else is forgiven") {
  CHECK(base::try_parse_commented_json("// words\n{\"a\": /* more */ 1}") == json{{"a", 1}});
  CHECK(base::try_parse_commented_json("{\"a\": 1,}").is_discarded());
}

TEST_CASE("nesting is allowed to its limit and refused beyond, before anything walks the value") {
  CHECK(base::try_parse_shallow_json("[[1]]", 2, "too deep") == json::array({json::array({1})}));
  CHECK_THROWS_WITH_AS(static_cast<void>(base::try_parse_shallow_json("[[[1]]]", 2, "too deep")), "too deep", Error);
  const std::string deep(1'000'000, '[');
  CHECK_THROWS_WITH_AS(static_cast<void>(base::try_parse_shallow_json(deep, 16, "too deep")), "too deep", Error);
  CHECK(base::try_parse_shallow_json("{", 16, "too deep").is_discarded());
}

TEST_CASE("members are written sorted, on one line or indented; bytes that are not UTF-8 throw or are replaced") {
  const json value = {{"b", 1}, {"a", "x"}};
  CHECK(base::dump_json(value) == R"({"a":"x","b":1})");
  CHECK(base::dump_json(value, 1) == "{\n \"a\": \"x\",\n \"b\": 1\n}");
  const json cut = "caf\xC3";
  CHECK_THROWS_AS(static_cast<void>(base::dump_json(cut)), json::type_error);
  CHECK(base::dump_json_replacing(cut) == "\"caf\xEF\xBF\xBD\"");
}

TEST_CASE("a text is canonical exactly where writing its value gives the same text") {
  const std::vector<std::string> samples = {
      R"({"a":[1,-2,18446744073709551615,-9223372036854775808],"b":{"c":"d","e":null},"f":true,"g":0.1,"h":1.0,"i":-0.0,"j":1e+300})",
      R"({"configuration":"{\"block_size\":32,\"load\":\"tiles\"}","path":"a\\b/c","control":"\b\t\n\f\r\u0001\u001f","text":"\u007fé€𝄞"})",
      R"({})",
      R"([])",
      R"([[],{},[{}]])",
      R"("")",
      R"(7)",
      R"({"":"","a":""})"};
  int canonical = 0, other = 0;
  const auto check = [&](const std::string& text) {
    const json value = base::try_parse_json(text);
    if (value.is_discarded()) return;
    CAPTURE(text);
    const bool same = base::dump_json_replacing(value) == text;
    CHECK(base::is_canonical_json(value, text) == same);
    ++(same ? canonical : other);
  };
  std::mt19937 random(3);
  const std::string alphabet = R"( {}[]",:\u0e+-.19azE/)"
                               "\x7f\t";
  for (const std::string& sample : samples) {
    check(base::dump_json_replacing(base::parse_json(sample)));
    check(sample + " ");
    for (int i = 0; i < 20'000; ++i) {
      std::string text = sample;
      const char c = alphabet[random() % alphabet.size()];
      const std::size_t at = random() % (text.size() + 1);
      if (random() % 3 == 0 || at == text.size())
        text.insert(at, 1, c);
      else if (random() % 2 == 0)
        text.erase(at, 1);
      else
        text[at] = c;
      check(text);
    }
  }
  CHECK(canonical > 1000);
  CHECK(other > 1000);
}

TEST_CASE("bytes that are no text go into a value and come back, and no other value has some") {
  const std::string bytes("\xff\0a\x80", 4);
  CHECK(base::bytes_of_json(nlohmann::json::from_cbor(nlohmann::json::to_cbor(base::json_of_bytes(bytes)))) == bytes);
  CHECK(base::bytes_of_json(base::json_of_bytes("")).empty());
  CHECK_THROWS_AS((void)base::bytes_of_json(nlohmann::json("text")), nlohmann::json::type_error);
}

TEST_CASE("a median is the middle value, or the mean of the two in the middle") {
  CHECK(base::median({3}) == 3);
  CHECK(base::median({5, 1, 3}) == 3);
  CHECK(base::median({4, 1, 3, 2}) == 2.5);
}

}  // namespace test_json
