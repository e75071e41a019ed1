#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/unit/simulate/spaces.hpp"

namespace test_t4 {

using namespace attune;
using test::one_space;
using test::told;

namespace {

using Told = std::map<std::string, std::string>;

std::string result(const std::string& configuration, const std::string& members) {
  return R"({"timestamp": "2026-01-01 00:00:00", "configuration": {)" + configuration +
         R"(}, "times": {"compilation_time": 1.0, "runtimes": [1.0]}, "correctness": 1, )" + members + "}";
}

std::string results(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + one;
  return R"({"metadata": {"timeunit": "miliseconds"}, "results": [)" + text + R"(], "schema_version": "1.0.0"})";
}

std::string time_of(const std::string& value) { return R"("measurements": [{"name": "time", "value": )" + value + R"(, "unit": ""}])"; }

std::string error_of(const std::string& text) {
  try {
    (void)simulate::parse_recorded_spaces(text, "a.json");
  } catch (const SpecError& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a T4 result is a time where it is correct, and a reason where it is not") {
  const std::string time = R"("objectives": ["time"], )";
  const auto recorded = one_space(results({
      result(R"("z": 2, "a": "x")", time + R"("invalidity": "correct", )" + time_of("2.5")),
      result(R"("z": 1, "a": "x")", time + R"("invalidity": "runtime", )" + time_of("\"RuntimeFailedConfig\"")),
      result(R"("z": 1, "a": "y")", time + R"("invalidity": "correctness", )" + time_of("1.5")),
      result(R"("z": 2, "a": "y")", time + R"("invalidity": "timeout", "measurements": [])"),
      result(R"("z": 4, "a": "y")", time_of("1e20")),
      result(R"("z": 8, "a": "y")", time_of("3")),
  }));
  CHECK(told(recorded) == Told{{R"({"a":"x","z":2})", "2.5"},
                               {R"({"a":"x","z":1})", "RuntimeFailedConfig"},
                               {R"({"a":"y","z":1})", "correctness"},
                               {R"({"a":"y","z":2})", "timeout"},
                               {R"({"a":"y","z":4})", "1e+20 is no time"},
                               {R"({"a":"y","z":8})", "3.0"}});
  CHECK(test::values_of(recorded, "z") == std::vector<std::string>{"1", "2", "4", "8"});
  CHECK(recorded.label.empty());
}

TEST_CASE("a result whose invalidity is an empty text says nothing of it: its time counts, and where it has none there is a reason") {
  const auto recorded = one_space(results({
      result(R"("a": 1)", R"("invalidity": "", )" + time_of("2.5")),
      result(R"("a": 2)", R"("invalidity": NaN, )" + time_of("2.5")),
      result(R"("a": 3)", R"("invalidity": "", "measurements": [])"),
  }));
  CHECK(told(recorded) == Told{{R"({"a":1})", "2.5"}, {R"({"a":2})", "2.5"}, {R"({"a":3})", "there is no time"}});
}

TEST_CASE("the first objective names the measurement that counts") {
  const std::string two = R"("measurements": [{"name": "time", "value": 9.0}, {"name": "energy", "value": 2.0}], )";
  CHECK(told(one_space(results({result("\"a\": 1", two + R"("objectives": ["energy", "time"])")}))).at(R"({"a":1})") == "2.0");
  CHECK(told(one_space(results({result("\"a\": 1", two + R"("objectives": ["power"])")}))).at(R"({"a":1})") == "there is no time");
}

TEST_CASE("of a configuration that is there twice the last result counts") {
  const auto recorded = one_space(results({result("\"a\": 1", time_of("2.0")), result("\"a\": 1.0", time_of("3.0"))}));
  CHECK(recorded.space.size() == 1);
  CHECK(told(recorded) == Told{{R"({"a":1})", "3.0"}});
}

TEST_CASE("malformed T4 results are refused with the number of the result") {
  CHECK(contains(error_of(results({})), "it has no configurations"));
  CHECK(contains(error_of(results({"7"})), "results[0]: must be an object, not 7"));
  CHECK(contains(error_of(results({result("\"a\": 1", time_of("1.0")), result("\"b\": 1", time_of("1.0"))})),
                 "results[1]: its configuration has other parameters than the first"));
  CHECK(
      contains(error_of(results({result("\"a\": null", time_of("1.0"))})), "results[0]: parameter 'a' must be a number, a text or a bool"));
  CHECK(contains(error_of(results({R"({"times": {}})"})), "results[0]: field 'configuration' is missing"));
  CHECK(contains(error_of(results({result("", time_of("1.0"))})), "results[0]: it has no parameters"));
  CHECK(contains(error_of(R"({"results": {}})"), "field 'results' must be"));
  const std::string whole = results({result("\"a\": 1", time_of("1.0"))});
  CHECK(contains(error_of(whole.substr(0, whole.size() - 1)), "the file is truncated"));  // only caches are completed
}

}  // namespace test_t4
