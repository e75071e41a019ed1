#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/json_document.hpp"

namespace test_json_document {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {
std::string failure(const std::string& text) {
  return error_of([&] { (void)JsonNode::parse(text, "f.json"); });
}
}  // namespace

TEST_CASE("every value knows its line and column, and members keep their order") {
  const JsonNode root = JsonNode::parse("{\"b\": 1,\n  \"a\": [true, \"x\"]}", "f.json");
  REQUIRE(root.members.size() == 2);
  CHECK(root.members[0].key == "b");
  CHECK(root.members[1].position.line == 2);
  CHECK(root.members[1].position.column == 3);
  const JsonNode& list = *root.find("a");
  CHECK(list.position.column == 8);
  CHECK(list.items[1].position.column == 15);
  CHECK(list.items[1].inside().column == 16);
  CHECK(root.find("c") == nullptr);
}

TEST_CASE("comments and a byte order mark are skipped without losing count") {
  const JsonNode root = JsonNode::parse("\xEF\xBB\xBF// first\n{ /* two\nlines */ \"a\": 1 // end\n}", "f.json");
  CHECK(root.find("a")->position.line == 3);
  CHECK(root.find("a")->position.column == 15);
}

TEST_CASE("escapes, empty containers and null are read") {
  const JsonNode root = JsonNode::parse(R"({"a\"b": "\u00e4\\", "e": {}, "l": [], "n": null, "d": 1.5e2})", "f.json");
  CHECK(root.find("a\"b")->string("a") == "\xC3\xA4\\");
  CHECK(root.find("e")->members.empty());
  CHECK(root.find("l")->items.empty());
  CHECK(root.find("n")->kind == JsonNode::Kind::Null);
  CHECK(root.find("d")->number("d") == 150.0);
}

TEST_CASE("malformed text is refused where it breaks") {
  CHECK(contains(failure("{\"a\": 1,\n \"b\" 2}"), "f.json:2:6: malformed JSON"));
  CHECK(contains(failure(""), "f.json:1:1: malformed JSON"));
  CHECK(contains(failure("{\"a\": tru}"), "malformed JSON"));
  CHECK(contains(failure("{\"a\": [1, 2}"), "f.json:1:12: "));
  CHECK(contains(failure("{} {}"), "f.json:1:4: "));
}

TEST_CASE("a zero byte is refused where it stands, and is no end of the text") {
  using namespace std::string_literals;
  CHECK(failure("{\"a\": 1}\0anything"s) == "f.json:1:9: the file holds a zero byte; remove it");
  CHECK(failure("{\"a\": 1}\n\0"s) == "f.json:2:1: the file holds a zero byte; remove it");
  CHECK(failure("{\"a\":\n \"\xC3\xA4\0\"}"s) == "f.json:2:4: the file holds a zero byte; remove it");
  CHECK(contains(failure("{} // words\0"s), "f.json:1:12: the file holds a zero byte"));
}

TEST_CASE("a key given twice is refused at the second") {
  CHECK(contains(failure("{\"a\": 1,\n\"a\": 2}"), "f.json:2:1: the key 'a' is given twice"));
}

TEST_CASE("numbers that do not fit are refused at their place") {
  CHECK(contains(failure("{\"a\": 1e999}"), "f.json:1:7: the number 1e999 is out of range"));
  CHECK(contains(failure("{\"a\": 18446744073709551615}"), "f.json:1:7: "));
}

TEST_CASE("hostile nesting is an error, not a crash") {
  CHECK(contains(failure(std::string(100000, '[') + std::string(100000, ']')), "nested too deeply"));
}

TEST_CASE("a value of the wrong kind says what was wanted and what is there") {
  const JsonNode root = JsonNode::parse(R"([1, "s", true, 1.5, null, [], {}])", "f.json");
  const auto wrong = [](auto&& action) { return error_of(action); };
  CHECK(wrong([&] { (void)root.items[0].string("x"); }) == "f.json:1:2: x must be a string, not an integer");
  CHECK(contains(wrong([&] { (void)root.items[1].integer("x"); }), "x must be an integer, not a string"));
  CHECK(contains(wrong([&] { (void)root.items[2].number("x"); }), "x must be a number, not a boolean"));
  CHECK(contains(wrong([&] { (void)root.items[3].boolean("x"); }), "x must be true or false, not a number with a fraction"));
  CHECK(contains(wrong([&] { (void)root.items[4].value("x"); }), "not null"));
  CHECK(contains(wrong([&] { (void)root.items[6].array("x"); }), "x must be a list, not an object"));
  CHECK(contains(wrong([&] { (void)root.items[5].object("x"); }), "x must be an object, not a list"));
  CHECK(root.items[0].number("x") == 1.0);
}

}  // namespace test_json_document
