// JSON that somebody else wrote: what a look through it finds, and what its fields are taken for.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_check.hpp"
#include "tuner/base/json_fields.hpp"

namespace test_json_fields {

using namespace attune::base;
using nlohmann::json;

namespace {

std::string fault_of(const std::string& text, const JsonLimits& limits = {}) {
  const auto fault = find_json_fault(text, limits);
  return fault ? std::to_string(fault->line) + ":" + std::to_string(fault->column) + " " + fault->what : "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string error_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const attune::Error& error) {
    CHECK(error.exit_code() == attune::ExitCode::Spec);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("sound JSON has no fault, whatever is in it") {
  for (const char* const text : {"{}", "[]", "0", "\"a\\u0000b\"", "{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":2}]}",
                                 " [1e308,-1e308,18446744073709551615,true,null] \n"}) {
    CAPTURE(text);
    CHECK(fault_of(text) == "");
    CHECK_NOTHROW((void)parse_json(text));
  }
}

TEST_CASE("a fault is told with its line and column") {
  CHECK(fault_of("{\"a\":1,\n \"a\":2}").starts_with("2:"));
  CHECK(has(fault_of("{\"a\":1,\n \"a\":2}"), "an object has the key 'a' twice"));
  CHECK(fault_of("[1,\n\n2 3]").starts_with("3:3 malformed JSON"));
  CHECK(fault_of("[\n1e400]").starts_with("2:"));
  CHECK(has(fault_of("[\n1e400]"), "the number 1e400 is out of range"));
  CHECK(fault_of(std::string("[1]\0[2]", 7)) == "1:4 it holds a zero byte");
  CHECK(fault_of("\"\xE9\"").starts_with("1:"));
  CHECK(fault_of("") != "");
  CHECK(find_json_fault("[1,", {})->at_end);
  CHECK_FALSE(find_json_fault("[1,}", {})->at_end);
}

TEST_CASE("depth and memory are bounded, just at the limit") {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
  };
  CHECK(fault_of(nested(5), {5}) == "");
  CHECK(has(fault_of(nested(6), {5}), "nested more than 5 deep"));
  CHECK(has(fault_of(nested(5000000), {5}), "nested more than 5 deep"));
  std::string many = "[0";
  for (int i = 0; i < 99999; ++i) many += ",0";
  many += "]";
  CHECK(fault_of(many, {5, 100000 * 64}) == "");
  CHECK(has(fault_of(many, {5, 100000 * 16}), "would take more than"));
}

TEST_CASE("a field is taken for what it is, or refused by name, type and range") {
  const json object = {{"n", 132},
                       {"large", (std::int64_t{1} << 32) + 132},
                       {"huge", std::numeric_limits<std::uint64_t>::max()},
                       {"minus", -1},
                       {"half", 0.5},
                       {"text", "132"},
                       {"flag", true},
                       {"list", {"a", "b"}},
                       {"mixed", {"a", 1}},
                       {"inner", {{"n", 5}}}};
  const JsonFields fields(object, "failed reading a thing: ");
  CHECK(fields.integer<int>("n") == 132);
  CHECK(fields.integer<std::int64_t>("large") == 4294967428);
  CHECK(fields.integer<std::uint64_t>("huge") == std::numeric_limits<std::uint64_t>::max());
  CHECK(fields.integer("minus", -5, 5) == -1);
  CHECK(fields.number("n") == 132);
  CHECK(fields.object("inner").integer<int>("n") == 5);
  CHECK(fields.texts("list") == std::vector<std::string>{"a", "b"});
  CHECK(error_of([&] { (void)fields.integer<int>("large"); }) ==
        "failed reading a thing: field 'large' must be a whole number from 0 to 2147483647, not 4294967428");
  for (const char* const name : {"huge", "minus", "half", "text", "flag", "list", "inner"}) {
    CHECK(has(error_of([&] { (void)fields.integer<int>(name); }), "field '" + std::string(name) + "' must be a whole number from 0 to"));
    CHECK(has(error_of([&] { (void)fields.integer<std::int64_t>(name); }), "must be a whole number"));
  }
  CHECK(has(error_of([&] { (void)fields.integer<std::uint64_t>("minus"); }),
            "must be a whole number from 0 to 18446744073709551615, not -1"));
  CHECK(has(error_of([&] { (void)fields.number("minus"); }), "must be a number from 0 to"));
  CHECK(has(error_of([&] { (void)fields.number("huge"); }), "must be a number from 0 to"));
  CHECK(has(error_of([&] { (void)fields.number("text"); }), "must be a number from 0 to"));
  CHECK(has(error_of([&] { (void)fields.flag("n"); }), "must be true or false, not 132"));
  CHECK(has(error_of([&] { (void)fields.text("n"); }), "must be a string, not 132"));
  CHECK(has(error_of([&] { (void)fields.text("text", 2); }), "must be a string of at most 2 bytes"));
  CHECK(has(error_of([&] { (void)fields.texts("mixed"); }), "must be an array of strings, not 1"));
  CHECK(has(error_of([&] { (void)fields.at("none"); }), "field 'none' is missing"));
  CHECK(has(error_of([&] { (void)fields.object("inner").at("none"); }), "field 'inner.none' is missing"));
  CHECK(has(error_of([&] { (void)fields.object("n"); }), "field 'n' must be an object, not 132"));
  CHECK(has(error_of([] {
              const json list = json::array();
              (void)JsonFields(list, "reading: ");
            }),
            "reading: must be an object, not an array of 0"));
}

TEST_CASE("a value is shown shortly, whatever it is") {
  CHECK(shown("short") == "\"short\"");
  CHECK(shown(std::string(100000, 'x')) == "a text of 100000 bytes");
  CHECK(shown(json::array({1, 2})) == "an array of 2");
  CHECK(shown(nullptr) == "null");
}

}  // namespace test_json_fields
