#include "tuner/base/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tuner/base/json.hpp"

namespace test_utf8 {

using namespace attune::base;

namespace {

std::string text_of(std::initializer_list<unsigned> bytes) {
  std::string text;
  for (const unsigned byte : bytes) text += static_cast<char>(byte);
  return text;
}

bool writer_takes(const std::string& text) {
  try {
    return !dump_json(text).empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a text is UTF-8 where the JSON writer takes it: every pair of bytes, and every end of a longer form") {
  std::size_t differing = 0;
  for (unsigned a = 0; a < 0x100; ++a) {
    for (unsigned b = 0; b < 0x100; ++b) differing += is_utf8(text_of({a, b})) != writer_takes(text_of({a, b})) ? 1 : 0;
  }
  for (unsigned a = 0xE0; a < 0x100; ++a) {
    for (const unsigned b : {0x00U, 0x7FU, 0x80U, 0x8FU, 0x90U, 0x9FU, 0xA0U, 0xBFU, 0xC0U}) {
      for (const unsigned c : {0x7FU, 0x80U, 0xBFU, 0xC0U}) {
        differing += is_utf8(text_of({a, b, c})) != writer_takes(text_of({a, b, c})) ? 1 : 0;
        for (const unsigned d : {0x7FU, 0x80U, 0xBFU, 0xC0U})
          differing += is_utf8(text_of({a, b, c, d})) != writer_takes(text_of({a, b, c, d})) ? 1 : 0;
      }
    }
  }
  CHECK(differing == 0);
  CHECK(is_utf8(""));
}

TEST_CASE("the first character of a text is given with its number, and a byte that begins none by itself") {
  const auto first = [](const std::string& text) { return first_character(text); };
  CHECK(first("a\xff").code == 'a');
  CHECK(first("\xc2\xb5s").code == 0xB5);
  CHECK(first("\xe2\x82\xac").bytes == 3);
  CHECK(first("\xe2\x82\xac").code == 0x20AC);
  CHECK(first("\xf0\x9f\x9a\x80!").code == 0x1F680);
  for (const char* cut : {"\xe2\x82", "\xc2", "\xf0\x9f\x9a", "\xe2z\xac"}) {
    CAPTURE(cut);
    CHECK_FALSE(first(cut).valid);
    CHECK(first(cut).bytes == 1);
    CHECK(first(cut).code == static_cast<unsigned char>(*cut));
  }
}

}  // namespace test_utf8
