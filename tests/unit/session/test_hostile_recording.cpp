// Recordings that somebody made to do harm: each is refused as a whole, by the name of the file, in proportion to its size.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "attune/error.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/zstd.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/session/tune/layer.hpp"
#include "tuner/session/tune/session.hpp"

namespace test_hostile_recording {

using namespace attune;
using nlohmann::json;
using session::Recording;

namespace {

json whole_recording() {
  const test::TempFolder folder;
  const auto kernel = test::small_template();
  test::synthetic_recording(kernel, {test::small_problem(1000), test::small_problem(5000)}, [](const std::string&, std::uint64_t i) {
    return 5.0 + static_cast<double>(i);
  }).save(folder / "r.json");
  return base::parse_json(base::read_file(folder / "r.json"));
}

/// Without waiting for the disk.
void put(const std::filesystem::path& path, const std::string& bytes) { test::write_bytes(path, bytes); }

/// What loading says, which must be a SpecError (exit code 3) that names the file. Empty: it is read.
std::string refusal(const std::filesystem::path& path) {
  try {
    (void)Recording::load(path);
    return "";
  } catch (const SpecError& error) {
    CHECK(error.exit_code() == ExitCode::Spec);
    CHECK(std::string(error.what()).starts_with(path.string()));
    CHECK(std::string(error.what()).size() < 2000);
    return error.what();
  }
}

std::string refusal_of(const std::string& text) {
  const test::TempFolder folder;
  put(folder / "r.json", text);
  const std::string plain = refusal(folder / "r.json");
  put(folder / "r.json.zst", base::compress(text, 1));
  CHECK(refusal(folder / "r.json.zst").empty() == plain.empty());
  return plain;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Every value in a document, by its place.
void places_of(const json& value, const json::json_pointer& at, std::vector<json::json_pointer>& all) {
  all.push_back(at);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) places_of(member, at / key, all);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) places_of(value[i], at / i, all);
  }
}

/// The text of the document with `text` in the place of one value.
std::string with_text_at(json document, const json::json_pointer& place, const std::string& text) {
  document[place] = "@HERE@";
  std::string whole = base::dump_json(document);
  whole.replace(whole.find("\"@HERE@\""), 8, text);
  return whole;
}

/// MiB that a child process needed at most to load a file.
[[maybe_unused]] long peak_mib(const std::filesystem::path& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      (void)Recording::load(path);
    } catch (const Error&) {
    }
    ::_exit(0);
  }
  int status = 0;
  rusage used{};
  REQUIRE(::wait4(child, &status, 0, &used) == child);
  CHECK(WIFEXITED(status));
  return used.ru_maxrss >> 10;
}

}  // namespace

TEST_CASE("values nested deeply are refused, wherever they are and however deep") {
  const json whole = whole_recording();
  for (const int depth : {30, 1000, 100000, 3000000}) {
    for (const char* const place : {"/problems", "/problems/0/problem", "/problems/0/problem/n", "/device", "/device/sm_count", "/date",
                                    "/problems/0/measurements/0/0/0", "/problems/0/rounds_us/0/0", "/unknown"}) {
      CAPTURE(place);
      CAPTURE(depth);
      const auto n = static_cast<std::size_t>(depth);
      CHECK(has(refusal_of(with_text_at(whole, json::json_pointer(place), std::string(n, '[') + std::string(n, ']'))),
                "nested more than 16 deep"));
    }
  }
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(has(refusal_of(objects), "nested more than 16 deep"));
  CHECK(has(refusal_of(std::string(3000000, '[')), "nested more than 16 deep"));
}

TEST_CASE("a number in the place of any value is read as it is written, or refused: none is cut, wrapped or rounded") {
  const json whole = whole_recording();
  std::vector<json::json_pointer> places;
  json small = whole;
  for (json& problem : small["problems"]) problem["measurements"].erase(problem["measurements"].begin() + 2, problem["measurements"].end());
  for (json& problem : small["problems"]) problem["finalists"] = json::array(), problem["rounds_us"] = json::array();
  places_of(small, json::json_pointer(), places);
  REQUIRE(places.size() > 150);
  const test::TempFolder folder;
  std::size_t read = 0, refused = 0;
  for (const auto& place : places) {
    for (const char* const text :
         {"1e400", "-1e400", "4294967428", "-4294967164", "9223372036854775808", "18446744073709551615", "18446744073709551616",
          "340282366920938463463374607431768211456", "1e308", "-1", "-0.5", "0.5", "NaN", "Infinity", "\"NaN\"", "\"-Infinity\"", "null"}) {
      CAPTURE(place.to_string());
      CAPTURE(text);
      put(folder / "r.json", with_text_at(small, place, text));
      std::string message;
      try {
        const Recording recording = Recording::load(folder / "r.json");
        // What is read again after saving has not changed: nothing was lost on the way in.
        recording.save(folder / "again.json");
        const json written = base::parse_json(text), again = base::parse_json(base::read_file(folder / "again.json"));
        if (again.contains(place) && written.is_number_integer()) CHECK(again[place] == written);
        ++read;
      } catch (const SpecError& error) {
        message = error.what();
        CHECK(has(message, (folder / "r.json").string()));
        ++refused;
      }
    }
  }
  CHECK(read > 0);
  CHECK(refused > 1000);
}

TEST_CASE("2^32 + 132 multiprocessors are not 132") {
  json file = whole_recording();
  file["device"]["sm_count"] = (std::int64_t{1} << 32) + 132;
  CHECK(has(refusal_of(base::dump_json(file)), "field 'sm_count' must be a whole number from 1 to 1048576, not 4294967428"));
}

TEST_CASE("a number that no double holds, and what is no JSON, name the file, the line and the column") {
  const std::string text = base::dump_json(whole_recording(), 1);
  const auto at = text.find("\"read_ceiling_bytes_per_s\": ");
  const auto end = text.find(',', at);
  std::string large = text;
  large.replace(at, end - at, "\"read_ceiling_bytes_per_s\": 1e400");
  const auto line = 1 + std::count(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  CHECK(has(refusal_of(large), fmt::format("r.json:{}:", line)));
  CHECK(has(refusal_of(large), "the number 1e400 is out of range"));
  std::string zero = text;
  zero[at] = '\0';
  CHECK(has(refusal_of(zero), fmt::format("r.json:{}:", line)));
  CHECK(has(refusal_of(text + '\0' + "{}"), "zero byte"));
  CHECK(has(refusal_of(text + "x"), "damaged here"));
  std::string latin = text;
  latin[text.find("whole space")] = '\xE9';
  CHECK(has(refusal_of(latin), "damaged here"));
  CHECK(has(refusal_of("\xFF\xFE{"), "damaged here"));
}

TEST_CASE("what is there twice is refused: keys, problems, configurations, finalists, parameters, columns") {
  const json whole = whole_recording();
  const auto with = [&](const std::function<void(json&)>& change) {
    json file = whole;
    change(file);
    return refusal_of(base::dump_json(file));
  };
  CHECK(with([](json&) {}).empty());
  std::string keys = base::dump_json(whole);
  keys.insert(1, "\"date\":\"2020-01-01T00:00:00Z\",");
  CHECK(has(refusal_of(keys), "an object has the key 'date' twice"));
  CHECK(has(with([](json& f) { f["problems"].push_back(f["problems"][0]); }), "problems[2]: the problem"));
  CHECK(has(with([](json& f) {
              auto& rows = f["problems"][1]["measurements"];
              rows[1][0] = rows[0][0];
            }),
            "is measured twice"));
  CHECK(has(with([](json& f) {
              auto& problem = f["problems"][0];
              problem["finalists"][1] = problem["finalists"][0];
            }),
            "is there twice"));
  CHECK(has(with([](json& f) { f["problems"][0]["finalists"][0] = "{\"block_size\":7}"; }), "is not among the measurements"));
  CHECK(has(with([](json& f) { f["problems"][0]["parameters"][1] = f["problems"][0]["parameters"][0]; }), "field 'parameters' has"));
  CHECK(has(with([](json& f) { f["problems"][0]["columns"].push_back("detail"); }), "field 'columns' has 'detail' twice"));
}

TEST_CASE("names, dates and texts that are none are refused") {
  const json whole = whole_recording();
  const auto with = [&](const char* field, const json& value) {
    json file = whole;
    file[json::json_pointer(field)] = value;
    return refusal_of(base::dump_json(file));
  };
  for (const char* const date :
       {"", "today", "2026-13-01T00:00:00Z", "2026-01-01 00:00:00", "9999-99-99T99:99:99Z", "2026-01-01T00:00:00Z; DROP"}) {
    CHECK(has(with("/date", date), "field 'date' must be a UTC date"));
  }
  CHECK(has(with("/policy", "warm/graph"), "field 'policy'"));
  CHECK(has(with("/template", std::string(100000, 't')), "field 'template' must be a string of at most 1024 bytes"));
  CHECK(has(with("/device/architecture", "sm_90 -I/etc"), "field 'architecture' must be a word"));
}

TEST_CASE("a small file that would unpack to gigabytes is refused, and memory stays in proportion") {
  const test::TempFolder folder;
  // 6 GiB of blanks in frames of 64 MiB, as valid JSON needs no more: about 200 KB.
  const std::string frame = base::compress(std::string(std::size_t{64} << 20, ' '), 1);
  std::string bomb;
  for (int i = 0; i < 96; ++i) bomb += frame;
  put(folder / "bomb.json.zst", bomb);
  REQUIRE(std::filesystem::file_size(folder / "bomb.json.zst") < 2000000);
  CHECK(has(refusal(folder / "bomb.json.zst"), "they unpack to more than"));
  // Values that take far more memory than text.
  std::string values = "{\"a\":[";
  while (values.size() < (std::size_t{60} << 20)) values += "[],[],[],[],[],[],[],[],";
  values += "[]]}";
  put(folder / "values.json.zst", base::compress(values, 1));
  CHECK(has(refusal(folder / "values.json.zst"), "would take more than"));
  if (test::kSanitized) return;
  for (const char* const name : {"bomb.json.zst", "values.json.zst"}) {
    const auto allowed = 64 + static_cast<long>(100 * std::filesystem::file_size(folder / name) >> 20);
    CHECK(peak_mib(folder / name) < 3 * allowed + 300);  // this process's own, and doubling
  }
}

TEST_CASE("a file of more than 256 MiB, a pipe, a folder and a device are not read") {
  const test::TempFolder folder;
  put(folder / "large.json", "{");
  std::filesystem::resize_file(folder / "large.json", std::uint64_t{1} << 40);
  CHECK(has(refusal(folder / "large.json"), "it has more than 256 MiB"));
  REQUIRE(::mkfifo((folder / "pipe.json").c_str(), 0600) == 0);
  for (const std::filesystem::path& path : {folder / "pipe.json", folder.path(), std::filesystem::path("/dev/zero")}) {
    CHECK_THROWS_WITH_AS((void)Recording::load(path), doctest::Contains("it is no regular file"), UsageError);
  }
}

TEST_CASE("empty, cut and doubled files are refused, or read as the zstd command reads them") {
  const test::TempFolder folder;
  const std::string text = base::dump_json(whole_recording());
  const auto stored = [&](const std::string& bytes) {
    put(folder / "r.json.zst", bytes);
    return refusal(folder / "r.json.zst");
  };
  CHECK(has(stored(""), "truncated"));
  CHECK(has(stored(base::compress("")), "truncated"));
  const std::string frame = base::compress(text);
  for (std::size_t cut = 1; cut < frame.size(); cut += 97) CHECK(has(stored(frame.substr(0, cut)), "truncated"));
  CHECK(has(stored(frame + frame), "damaged here"));
  CHECK(stored(base::compress(text.substr(0, 1000)) + base::compress(text.substr(1000))).empty());
  CHECK_FALSE(stored(frame + "tail").empty());
}

TEST_CASE("a recording that claims to be of a template and holds what that has not is refused by name, replayed or made a layer") {
  const auto kernel = test::small_template();
  const auto problem = test::small_problem(1000);
  auto recording =
      test::synthetic_recording(kernel, {problem}, [](const std::string&, std::uint64_t i) { return 5.0 + static_cast<double>(i); });
  const auto layer_refusal = [&] {
    try {
      (void)session::layer_rows({{recording, "hostile.json", kernel}});
      return std::string();
    } catch (const SpecError& error) {
      return std::string(error.what());
    }
  };
  CHECK(layer_refusal().empty());
  auto& recorded = recording.problems[0];
  SUBCASE("a configuration outside of the space") {
    recorded.measurements[1].configuration = R"({"block_size":77,"items":1,"waves":1})";
    CHECK(has(layer_refusal(), "hostile.json: "));
    session::ReplayBackend backend(recording, "hostile.json", kernel);
    CHECK_THROWS_WITH_AS(backend.prepare(kernel, problem), doctest::Contains("hostile.json: "), SpecError);
  }
  SUBCASE("parameters of another template") {
    recorded.measurements[1].configuration = R"({"tile":77})";
    session::ReplayBackend backend(recording, "hostile.json", kernel);
    CHECK_THROWS_WITH_AS(backend.prepare(kernel, problem), doctest::Contains("hostile.json: "), SpecError);
  }
  SUBCASE("axes that it has not") {
    recorded.problem.sizes["m"] = 3;
    CHECK(has(layer_refusal(), "hostile.json: "));
  }
  SUBCASE("a finalist that was not right") {
    for (auto& measurement : recorded.measurements) {
      if (measurement.configuration == recorded.finalists[0]) measurement.outcome = measure::Outcome::WrongResult;
    }
    CHECK(has(layer_refusal(), "is not verified"));
  }
}

TEST_CASE("a ratio of nothing is refused, and a size of nothing is named") {
  json file = whole_recording();
  for (const double ratio : {1.01, 0.0}) {
    file["problems"][0]["left"] = {{{"configuration", "{}"}, {"ratio", ratio}, {"low", 0}, {"high", 2}, {"epochs", 5}}};
    CHECK(has(refusal_of(base::dump_json(file)), "field 'ratio'") == (ratio == 0));
  }
  auto problem = test::small_problem(1000);
  session::refuse_nothing(problem);
  problem.sizes["n"] = 0;
  CHECK_THROWS_WITH_AS(session::refuse_nothing(problem), doctest::Contains("nothing to tune at n = 0"), UsageError);
}

}  // namespace test_hostile_recording
