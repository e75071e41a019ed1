// attune simulate: searches of recorded spaces by the real command.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/gzip.hpp"
#include "tuner/base/json.hpp"

namespace test_simulate {

using namespace attune;
using nlohmann::json;
using test::json_lines;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// 60 configurations, twelve of which fail; the optimum, 1, is at {"a": 3, "b": 4}.
json cache() {
  json entries;
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < 10; ++b) {
      const std::string key = std::to_string(a) + "," + std::to_string(b);
      entries[key] = {{"a", a}, {"b", b}, {"time", 1.0 + (a - 3) * (a - 3) + 0.25 * (b - 4) * (b - 4)}};
      if ((a + b) % 5 == 1) entries[key]["time"] = "InvalidConfig";
    }
  }
  return {{"tune_params_keys", {"a", "b"}}, {"cache", entries}};
}

struct Simulation : test::Cli {
  Simulation() {
    write("cache.json", base::dump_json(cache()));
    write("packed.json.gz", test::gzip(base::dump_json(cache())));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  /// `attune simulate words...`, of what it prints.
  [[nodiscard]] std::string said(std::vector<std::string> words) const {
    words.insert(words.begin(), "simulate");
    const auto result = attune(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Simulation, "simulate --json prints each run with its proposals in order, and what the file says of them") {
  const auto lines = json_lines(said({path("cache.json"), path("packed.json.gz"), "--strategy", "random", "--strategy", "exhaustive",
                                      "--runs", "3", "--seed", "7", "--budget", "20", "--json"}));
  REQUIRE(lines.size() == 12);
  const json entries = cache()["cache"];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const json& line = lines[i];
    CHECK(line["strategy"] == (i < 6 ? "random" : "exhaustive"));
    CHECK(line["file"] == path(i / 3 % 2 == 0 ? "cache.json" : "packed.json.gz"));
    CHECK(line["run"] == i % 3);
    CHECK(line["seed"] == 7 + i % 3);
    CHECK_FALSE(line.contains("label"));
    std::set<json> seen;
    for (const json& proposal : line["proposals"]) {
      const json& configuration = proposal["configuration"];
      CHECK(seen.insert(configuration).second);
      const json& time = entries[base::dump_json(configuration["a"]) + "," + base::dump_json(configuration["b"])]["time"];
      CHECK(proposal["time"] == (time.is_number() ? time : json()));
    }
    CHECK(seen.size() == 20);
  }
  CHECK(lines[0]["proposals"] == lines[3]["proposals"]);  // packed or not, it is one space
  CHECK(lines[0]["proposals"] != lines[1]["proposals"]);
}

TEST_CASE_FIXTURE(Simulation, "simulate says the same for the same seed, and runs are numbered on from it") {
  const std::vector<std::string> words = {path("cache.json"), "--strategy", "random", "--runs", "4", "--json", "--seed"};
  const auto with_seed = [&](const char* seed) {
    auto all = words;
    all.emplace_back(seed);
    return json_lines(said(all));
  };
  const auto once = with_seed("5"), again = with_seed("5"), later = with_seed("7");
  CHECK(once == again);
  CHECK(once[2]["proposals"] == later[0]["proposals"]);
}

TEST_CASE_FIXTURE(Simulation,
                  "simulate prints a score and how near to the optimum a strategy is for each file, and the mean over the files") {
  const std::string text = said(
      {path("cache.json"), path("packed.json.gz"), "--strategy", "exhaustive", "--strategy", "random", "--runs", "200", "--budget", "60"});
  std::map<std::string, std::vector<std::string>> rows;  // by strategy and space
  for (std::size_t begin = 0, end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    std::istringstream words(text.substr(begin, end - begin));
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    if (!row.empty()) rows[row.front() + " " + row.back()] = row;
  }
  const auto& random = rows["random " + path("cache.json")];
  REQUIRE(random.size() == 9);
  CHECK(std::abs(std::stod(random[1])) < 0.15);
  CHECK(random[7] == "48/60");
  // In order of enumeration 25 evaluations reach a = 2, b = 4, which fails; b = 3 before it takes 2.25. 50 have seen the optimum.
  const auto& exhaustive = rows["exhaustive " + path("packed.json.gz")];
  REQUIRE(exhaustive.size() == 9);
  CHECK(exhaustive[2] == "0.444");
  CHECK(exhaustive[3] == "1.000");
  CHECK(exhaustive[4] == "-");                      // the budget was 60
  CHECK(rows["exhaustive 2"][1] == exhaustive[1]);  // "mean of 2"
}

TEST_CASE_FIXTURE(Simulation, "the problems of a recording are spaces with labels") {
  const auto lines = json_lines(said({recording, "--strategy", "exhaustive", "--runs", "1", "--budget", "1000", "--json"}));
  REQUIRE(lines.size() == 2);
  for (const json& line : lines) {
    CHECK(line["file"] == recording);
    CHECK(line["proposals"].size() == space_size);
  }
  CHECK(lines[0]["label"] == R"({"T":"f32","n":1000})");
  CHECK(lines[1]["label"] == R"({"T":"f32","n":100000})");
  CHECK(contains(said({recording, "--strategy", "random", "--runs", "1"}), R"({"T":"f32","n":1000})"));
}

TEST_CASE_FIXTURE(Simulation, "what simulate cannot do ends with the exit code of its kind and says why") {
  const auto refused = [&](std::vector<std::string> words, int code, const std::string& why) {
    words.insert(words.begin(), "simulate");
    const auto result = attune(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == code);
    CHECK(contains(result.err, why));
    CHECK(result.out.empty());
  };
  const std::string whole = base::dump_json(cache());
  write("cut.json", whole.substr(0, whole.size() / 2));
  write("none.json", R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": "InvalidConfig"}}})");
  refused({path("cut.json"), "--strategy", "random"}, 3, "cut.json:1:");
  refused({path("none.json"), "--strategy", "random"}, 6, "none of the configurations is valid");
  refused({path("nowhere.json"), "--strategy", "random"}, 2, "nowhere.json");
  refused({path("cache.json"), "--strategy", "randon"}, 2, "did you mean 'random'?");
  refused({path("cache.json"), "--strategy", "portfolio"}, 2, "tries what won before");
  refused({path("cache.json")}, 2, "--strategy");
  refused({"--strategy", "random"}, 2, "files");
  refused({path("cache.json"), "--strategy", "random", "--budget", "0"}, 2, "--budget");
  refused({path("cache.json"), "--strategy", "random", "--runs", "0"}, 2, "--runs");
  refused({path("cache.json"), "--strategy", "random", "--seed", "-1"}, 2, "--seed");
}

TEST_CASE_FIXTURE(Simulation, "a strategy that learns nothing from other spaces is refused beside --warm") {
  const auto refused = attune({"simulate", path("cache.json"), "--strategy", "model", "--strategy", "local", "--warm", path("other.json")});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "strategy local learns nothing from other spaces; leave --warm out"));
}

TEST_CASE_FIXTURE(Simulation, "a warm search begins with what the others' files find fastest, and a file is no help to itself") {
  json slower = cache();
  for (auto& entry : slower["cache"])
    if (entry["time"].is_number()) entry["time"] = 7 * entry["time"].get<double>();
  write("slower.json", base::dump_json(slower));
  write("other.json", R"({"tune_params_keys": ["z"], "cache": {"1": {"z": 1, "time": 1.0}}})");
  const auto lines = json_lines(said({path("cache.json"), "--strategy", "model", "--runs", "2", "--budget", "5", "--json", "--warm",
                                      path("other.json"), path("slower.json"), path("cache.json")}));
  REQUIRE(lines.size() == 2);
  for (const auto& line : lines) CHECK(line.at("proposals").at(0).at("configuration") == json({{"a", 3}, {"b", 4}}));
  for (const std::string file : {"cache.json", "other.json"}) {
    const auto refused = attune({"simulate", path("cache.json"), "--strategy", "model", "--warm", path(file)});
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "no file of --warm has parameters of the same names as " + path("cache.json") + " has"));
  }
}

}  // namespace test_simulate
