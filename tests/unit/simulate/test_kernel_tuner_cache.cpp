#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "attune/error.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/simulate/spaces.hpp"
#include "tuner/base/zstd.hpp"

namespace test_kernel_tuner_cache {

using namespace attune;
using simulate::parse_recorded_spaces;
using test::one_space;
using test::told;
using test::values_of;

namespace {

using Told = std::map<std::string, std::string>;

/// As the tuner writes it when it has ended: three configurations, one of which failed.
const std::string kCache = R"({
"device_name": "An imaginary device",
"kernel_name": "saxpy",
"problem_size": 4096,
"tune_params_keys": ["threads", "unroll"],
"tune_params": {"threads": [128, 64, 256], "unroll": [1, 2]},
"cache": {
"128,1": {"threads": 128, "unroll": 1, "time": 2.5, "times": [2.25, 2.75], "GFLOP/s": 40.0},
"64,2": {"threads": 64, "unroll": 2, "time": "RuntimeFailedConfig", "times": []},
"64,1": {"threads": 64, "unroll": 1, "time": 4, "times": [4, 4]}
}
})";

const Told kTold = {{R"({"threads":128,"unroll":1})", "2.5"},
                    {R"({"threads":64,"unroll":2})", "RuntimeFailedConfig"},
                    {R"({"threads":64,"unroll":1})", "4.0"}};

/// The same with this text as what `cache` holds, and these further members.
std::string cache_of(const std::string& entries, const std::string& members = "") {
  return R"({"tune_params_keys": ["a", "b"], )" + members + R"("cache": {)" + entries + "}}";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string error_of(const std::string& text) {
  try {
    (void)parse_recorded_spaces(text, "a.json");
  } catch (const SpecError& error) {
    CHECK(error.exit_code() == ExitCode::Spec);
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the space of a cache is the configurations in it, with the values that occur, ascending") {
  const auto recorded = one_space(kCache);
  CHECK(recorded.file == "a.json");
  CHECK(recorded.label.empty());
  REQUIRE(recorded.parameters.size() == 2);
  CHECK(recorded.parameters[0].name == "threads");  // in the order of tune_params_keys
  CHECK(recorded.parameters[1].name == "unroll");
  CHECK(values_of(recorded, "threads") == std::vector<std::string>{"64", "128"});  // 256 was never tried
  CHECK(recorded.space.size() == 3);
  CHECK(recorded.costs.size() == 3);
  CHECK(told(recorded) == kTold);
}

TEST_CASE("parameters keep the order of tune_params_keys") {
  const auto recorded = one_space(R"({"tune_params_keys": ["z", "a"], "cache": {"1,2": {"a": 2, "z": 1, "time": 1.0}}})");
  CHECK(recorded.parameters[0].name == "z");
  CHECK(recorded.parameters[1].name == "a");
}

TEST_CASE("a cache with a schema version, and failures as objects, is read like one without") {
  std::string text = replaced(kCache, "\"device_name\"", "\"schema_version\": \"1.0.0\",\n\"device_name\"");
  text = replaced(text, "\"RuntimeFailedConfig\"", R"({"__error__": "RuntimeFailedConfig"})");
  CHECK(told(one_space(text)) == kTold);
}

TEST_CASE("whatever is no time above 0 and below 1e19 is a failure, with its reason as far as the file tells one") {
  const auto recorded = one_space(cache_of(R"("1,0": {"a": 1, "b": 0, "time": "InvalidConfig"},
    "1,1": {"a": 1, "b": 1, "time": {"__error__": "CompilationFailedConfig"}}, "1,2": {"a": 1, "b": 2, "time": 1e20},
    "1,3": {"a": 1, "b": 3, "time": 0}, "1,4": {"a": 1, "b": 4, "time": -1.5}, "1,5": {"a": 1, "b": 5, "time": null},
    "1,6": {"a": 1, "b": 6}, "1,7": {"a": 1, "b": 7, "time": true}, "1,8": {"a": 1, "b": 8, "time": 9e18},
    "1,9": {"a": 1, "b": 9, "__error__": "InvalidConfig"})"));
  CHECK(recorded.failures == std::vector<std::string>{"InvalidConfig", "CompilationFailedConfig", "1e+20 is no time", "0 is no time",
                                                      "-1.5 is no time", "there is no time", "there is no time", "there is no time", "",
                                                      "InvalidConfig"});
  for (space::Ordinal i = 0; i < 10; ++i) CHECK(recorded.costs[i].has_value() == (i == 8));
}

TEST_CASE("NaN and Infinity, which Python writes, are failures where a time belongs and text where they are text") {
  const auto recorded = one_space(cache_of(
      R"("NaN,1": {"a": "NaN", "b": 1, "time": 2.0}, "x,1": {"a": "x", "b": 1, "time": NaN}, "x,2": {"a": "x", "b": 2, "time":-Infinity},
         "x,3": {"a": "\"NaN", "b": 3, "time": Infinity})"));
  CHECK(told(recorded) == Told{{R"({"a":"NaN","b":1})", "2.0"},
                               {R"({"a":"x","b":1})", "there is no time"},
                               {R"({"a":"x","b":2})", "there is no time"},
                               {R"({"a":"\"NaN","b":3})", "there is no time"}});
}

TEST_CASE("the cost is what the objective names, and the time where an entry lacks that") {
  const auto recorded =
      one_space(cache_of(R"("1,1": {"a": 1, "b": 1, "time": 9.0, "energy": 3.0}, "1,2": {"a": 1, "b": 2, "time": "InvalidConfig"})",
                         R"("objective": "energy",)"));
  CHECK(told(recorded) == Told{{R"({"a":1,"b":1})", "3.0"}, {R"({"a":1,"b":2})", "InvalidConfig"}});
}

TEST_CASE("an objective that is better where it is higher is refused") {
  const std::string error =
      error_of(cache_of(R"("1,1": {"a": 1, "b": 1, "GFLOP/s": 9.0})", R"("objective": "GFLOP/s", "objective_higher_is_better": true, )"));
  CHECK(contains(error, "'GFLOP/s' is better where it is higher"));
}

TEST_CASE("texts stay texts, numbers numbers and switches switches") {
  const auto recorded = one_space(cache_of(R"("1": {"a": "16", "b": true, "time": 1.0}, "2": {"a": 16, "b": false, "time": 2.0},
    "3": {"a": 0.5, "b": true, "time": 3.0}, "4": {"a": "b16", "b": true, "time": 4.0}, "5": {"a": true, "b": true, "time": 5.0})"));
  CHECK(values_of(recorded, "a") == std::vector<std::string>{"true", "0.5", "16", "\"16\"", "\"b16\""});
  CHECK(values_of(recorded, "b") == std::vector<std::string>{"false", "true"});
  CHECK(told(recorded).at(R"({"a":"16","b":true})") == "1.0");
  CHECK(told(recorded).at(R"({"a":16,"b":false})") == "2.0");
}

TEST_CASE("entries without the values of their parameters have them in their keys") {
  const auto recorded = one_space(R"({"tune_params_keys": ["a", "b", "c", "d"], "tune_params": {"a": [16], "d": ["1", "2"]},
    "cache": {"16,0.5,True,1": {"time": 1.0}, "16,x,False,2": {"time": 2.0}}})");
  CHECK(told(recorded) == Told{{R"({"a":16,"b":0.5,"c":true,"d":"1"})", "1.0"}, {R"({"a":16,"b":"x","c":false,"d":"2"})", "2.0"}});
  CHECK(contains(error_of(cache_of(R"("1,2,3": {"time": 1.0})")), "its key has 3 values for 2 parameters"));
}

TEST_CASE("a cache whose run was interrupted is read as far as it goes") {
  const std::string open = kCache.substr(0, kCache.rfind("\n}\n}"));
  for (const char* const end : {"", "\n", ",", ",\n", "\n}", "\n}\n", " }\n "}) {
    CAPTURE(end);
    CHECK(told(one_space(open + end)) == kTold);
  }
  const std::string two = open.substr(0, open.rfind(",\n"));
  CHECK(told(one_space(two + ",\n")).size() == 2);
}

TEST_CASE("a text that ends elsewhere is truncated, at its place") {
  std::vector<std::string> texts;
  for (const std::string part : {"\"threads\": 64, \"unroll\": 1, \"ti", "\"64,1\"", "\"64,1\":", "[4, 4", "\"device_name\": \"An imag"})
    texts.push_back(kCache.substr(0, kCache.find(part) + part.size()));
  // After a closing brace, but not of the cache's.
  texts.push_back(R"({"tune_params_keys": ["a"], "tune_params": {"a": [1]})");
  texts.push_back(R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 1.0, "env": {"x": 1})");
  for (const std::string& text : texts) {
    CAPTURE(text);
    const std::string error = error_of(text);
    CHECK(contains(error, "the JSON ends in the middle, the file is truncated"));
    CHECK(contains(error, "fetch the file again"));
    CHECK(error.starts_with("a.json:" + std::to_string(1 + std::count(text.begin(), text.end(), '\n')) + ":"));
  }
}

TEST_CASE("damage is an error with the file, line and column") {
  const std::string damaged = replaced(kCache, "\"time\": 2.5,", "\"time\": 2.5x,");
  const std::string error = error_of(damaged);
  CHECK(error.starts_with("a.json:8:"));
  CHECK(contains(error, "the JSON is damaged here"));
  // What Python alone writes moves no place.
  CHECK(error_of(replaced(damaged, "\"threads\": 128,", "\"threads\": NaN,")) == error);
  CHECK(contains(error_of(replaced(kCache, "\"64,1\": {", "\"128,1\": {")), "the key '128,1' twice"));
}

TEST_CASE("what is no space says what is missing") {
  CHECK(contains(error_of("[]"), "no cache of Kernel Tuner"));
  CHECK(contains(error_of("{}"), "no cache of Kernel Tuner"));
  CHECK(contains(error_of(""), "ends in the middle"));
  CHECK(contains(error_of(R"({"cache": {}})"), "'tune_params_keys' is missing"));
  CHECK(contains(error_of(cache_of("")), "it has no configurations"));
  CHECK(contains(error_of(R"({"tune_params_keys": ["a", "a"], "cache": {}})"), "parameter 'a' is there twice"));
  CHECK(contains(error_of(R"({"tune_params_keys": [], "cache": {}})"), "it has no parameters"));
  CHECK(contains(error_of(cache_of(R"("1,2": 3.5)")), "cache['1,2']: must be an object, not 3.5"));
  CHECK(contains(error_of(cache_of(R"("1,2": {"a": [1], "b": 2, "time": 1.0})")), "cache['1,2']: parameter 'a' must be a number"));
  CHECK(contains(error_of(R"({"tune_params_keys": ["a"], "cache": []})"), "field 'cache' must be an object"));
}

TEST_CASE("a file is read by what it holds, plain or packed, whatever its name") {
  const test::TempFolder folder;
  const auto read = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    const auto spaces = simulate::read_recorded_spaces(folder / name);
    REQUIRE(spaces.size() == 1);
    CHECK(spaces[0].file == (folder / name).string());
    return told(spaces[0]);
  };
  CHECK(read("plain.json.gz", kCache) == kTold);
  CHECK(read("packed.json", test::gzip(kCache)) == kTold);
  CHECK(read("packed.zst", base::compress(kCache)) == kTold);
  CHECK(read("interrupted.gz", test::gzip(kCache.substr(0, kCache.rfind("\n}\n}")))) == kTold);
}

TEST_CASE("packed files that are damaged or unpack to too much are refused by name") {
  const test::TempFolder folder;
  const auto error = [&](const std::string& bytes) -> std::string {
    std::ofstream(folder / "a.gz", std::ios::binary) << bytes;
    try {
      (void)simulate::read_recorded_spaces(folder / "a.gz");
    } catch (const SpecError& refused) {
      CHECK(contains(refused.what(), (folder / "a.gz").string() + ": failed reading the recorded space"));
      return refused.what();
    }
    return "no error";
  };
  const std::string packed = test::gzip(kCache);
  CHECK(contains(error(packed.substr(0, packed.size() / 2)), "truncated or damaged gzip data"));
  CHECK(contains(error(base::compress(kCache).substr(0, 100)), "truncated or damaged zstd data"));
  const std::string bomb = std::string(std::size_t{90} << 20, ' ') + kCache;
  CHECK(contains(error(test::gzip(bomb)), "which is the limit for so small a file"));
  CHECK(contains(error(base::compress(bomb, 1)), "which is the limit for so small a file"));
  CHECK_THROWS_AS((void)simulate::read_recorded_spaces(folder / "nowhere.json"), UsageError);
}

}  // namespace test_kernel_tuner_cache
