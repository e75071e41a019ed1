// attune cache: records to files of other tools and back, by the real command and a real database.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "tests/integration/cli_fixture.hpp"
#include "tests/integration/exchange_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/zstd.hpp"

namespace test_cache_files {

using namespace attune;
using nlohmann::json;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// By configuration, its time or why it has none: of a cache of Kernel Tuner.
std::map<std::string, json> told(const std::string& text) {
  std::map<std::string, json> all;
  const json cache = base::parse_json(text)["cache"];
  for (const json& entry : cache) {
    const json configuration = {{"block_size", entry["block_size"]}, {"items", entry["items"]}, {"waves", entry["waves"]}};
    all[base::dump_json(configuration)] = {entry["time"], entry["attune_outcome"], entry.value("attune_detail", "")};
  }
  return all;
}

/// A database with records of every outcome, tuned from a recording that has them.
struct Caches : test::Cli {
  std::string failing = (folder / "failing.json").string();

  Caches() {
    auto made = session::Recording::load(recording);
    auto& measurements = made.problems.at(0).measurements;
    const auto& ran_off = made.problems.at(0).finalists;
    const std::vector<measure::Outcome> failures = {measure::Outcome::CompileFailed, measure::Outcome::ExceedsLimits,
                                                    measure::Outcome::LaunchFailed,  measure::Outcome::WrongResult,
                                                    measure::Outcome::Crashed,       measure::Outcome::TimedOut};
    std::size_t next = 0;
    for (auto& one : measurements) {
      if (std::find(ran_off.begin(), ran_off.end(), one.configuration) != ran_off.end()) continue;
      if (next < failures.size()) {
        measure::Measurement failed;
        failed.configuration = one.configuration;
        failed.outcome = failures[next];
        failed.detail = "made up";
        one = failed;
      } else if (next == failures.size()) {
        one.stage = measure::Stage::Screened;
        one.verified = false;
      }
      ++next;
    }
    made.save(failing);
    REQUIRE(attune({"tune", kernel, "--T", "f32", "--n", "1000", "--replay", failing}).exit_code == 0);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  /// `attune cache <what> <the problem> words...`, which must do.
  std::string done(const std::string& what, std::vector<std::string> words) const {
    words.insert(words.begin(), {"cache", what, kernel, "--T", "f32", "--n", "1000"});
    const auto result = attune(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  }
  void refused(const std::string& what, std::vector<std::string> words, int code, const std::string& why) const {
    words.insert(words.begin(), {"cache", what, kernel});
    const auto result = attune(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == code);
    CHECK(contains(result.err, why));
    CHECK(result.out.empty());
  }
};

}  // namespace

TEST_CASE_FIXTURE(Caches, "cache export writes every record of a problem, and says how many of them nobody vouches for") {
  const std::string said = done("export", {"-o", path("k.json")});
  CHECK(contains(
      said, "22 configurations of double_it T=f32 n=1000 on Synthetic GPU, of which 6 failed, 1 were screened only and 1 work unverified"));
  const json cache = base::parse_json(read("k.json"));
  CHECK(cache["device_name"] == "Synthetic GPU");
  CHECK(cache["problem_size"] == json({1000}));
  CHECK(cache["attune"]["origins"] == json({"recording:failing.json"}));
  std::map<std::string, int> errors;
  for (const json& entry : cache["cache"])
    if (entry.contains("__error__")) ++errors[entry["__error__"].get<std::string>()];
  CHECK(errors == std::map<std::string, int>{{"CompilationFailedConfig", 1}, {"InvalidConfig", 1}, {"RuntimeFailedConfig", 4}});
  done("export", {"--format", "t4", "-o", path("t.json")});
  CHECK(base::parse_json(read("t.json"))["results"].size() == 22);
  const json counts = base::parse_json(done("export", {"--verified", "--json", "-o", path("v.json")}));
  CHECK(counts == json({{"file", path("v.json")},
                        {"device", "Synthetic GPU"},
                        {"configurations", 21},
                        {"failed", 6},
                        {"screened", 0},
                        {"unverified", 0},
                        {"left_out", 1}}));
}

TEST_CASE_FIXTURE(Caches, "a report of one problem can be the file of another tuner, the same as an export") {
  for (const std::string format : {"kernel-tuner", "t4"}) {
    CAPTURE(format);
    done("export", {"--format", format, "-o", path("exported.json")});
    const auto result = attune({"report", kernel, "--format", format});
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out == read("exported.json"));
  }
  REQUIRE(attune({"tune", kernel, "--T", "f32", "--n", "100000", "--replay", recording}).exit_code == 0);
  const auto of_two = attune({"report", kernel, "--format", "t4"});
  CHECK(of_two.exit_code == 2);
  CHECK(contains(of_two.err, "there are 2; name one with --problem"));
  CHECK(contains(of_two.err, "T=f32 n=100000 on Synthetic GPU under cold/graph"));
  const auto named = attune({"report", kernel, "--format", "t4", "--problem", "n=100000", "--output", path("named.json")});
  CAPTURE(named.err);
  CHECK(named.exit_code == 0);
  CHECK(base::parse_json(read("named.json"))["metadata"]["attune"]["problem"]["n"] == 100000);
  const auto missing = attune({"report", "no_such_template", "--format", "t4"});
  CHECK(missing.exit_code == 2);
  CHECK(contains(missing.err, "no_such_template"));
}

TEST_CASE_FIXTURE(Caches, "simulate reads an export in either format, packed or not") {
  for (const std::string name : {"k.json", "k.json.gz", "k.json.zst", "t.json", "t.json.gz"}) {
    CAPTURE(name);
    done("export", {"--format", name[0] == 't' ? "t4" : "kernel-tuner", "-o", path(name)});
    const auto result = attune({"simulate", path(name), "--strategy", "random", "--runs", "2"});
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "16/22"));
  }
  CHECK(base::decompress(read("k.json.zst"), 1000000) == read("k.json"));
  CHECK(contains(attune({"cache", "export", kernel, "--T", "f32", "--n", "1000", "-o", "-"}).out, read("k.json")));
}

TEST_CASE_FIXTURE(Caches,
                  "what is exported, imported and exported again has the same configurations, times and failures, in either format") {
  done("export", {"-o", path("first.json")});
  done("export", {"--format", "t4", "-o", path("first.t4.json")});
  for (const std::string file : {"first.json", "first.t4.json"}) {
    CAPTURE(file);
    done("import", {"--from", path(file), "-o", path("r.json.zst")});
    done("export", {"--from", path("r.json.zst"), "-o", path("second.json")});
    CHECK(told(read("second.json")) == told(read("first.json")));
    const json second = base::parse_json(read("second.json"));
    CHECK(second["attune"]["policy"] == "cold/graph");
    for (const json& entry : second["cache"]) CHECK(entry["attune_verified"] == 0);
  }
}

TEST_CASE_FIXTURE(Caches, "what is imported is stored and dispatched by no command, and searches may learn from it") {
  const auto rows = [&] { return attune({"db", "export"}).out; };
  done("export", {"-o", path("k.json")});
  const std::string before = rows();
  done("import", {"--from", path("k.json"), "-o", path("r.json.zst")});
  CHECK(rows() == before);
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"tune", kernel, "--T", "f32", "--n", "1000", "--replay", path("r.json.zst")},
                                             {"layer", path("r.json.zst"), "-o", path("l.db")}}) {
    const auto result = attune(words, {{"ATTUNE_TEMPLATES", folder.path().string()}});
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
  }
  CHECK(rows() == before);
  const auto best_of = [&](const std::string& to, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"tune",     kernel,  "--T",  "f32",    "--n",        "1000",
                                      "--replay", failing, "--db", path(to), "--strategy", "portfolio"};
    words.insert(words.end(), more.begin(), more.end());
    CHECK(attune(words).exit_code == 0);
    return base::parse_json(attune({"show", "--json", "--db", path(to)}).out).at(0)["configuration"];
  };
  const auto best = base::parse_json(attune({"show", "--json"}).out).at(0)["configuration"];
  CHECK(best_of("knowing.db", {"--try", path("r.json.zst")}) == best);
  CHECK(best_of("ignorant.db", {}) != best);  // the default alone
  CHECK(attune({"simulate", path("r.json.zst"), "--strategy", "random", "--runs", "1"}).exit_code == 0);
}

TEST_CASE_FIXTURE(Caches, "a device is found by what the file or --device calls it, else the command says what is known") {
  done("export", {"-o", path("k.json")});
  CHECK(contains(done("import", {"--from", path("k.json"), "--device", "sm_80", "-o", path("r.json")}), "sm_80"));
  json unknown = base::parse_json(read("k.json"));
  unknown["device_name"] = "Nobody's GPU";
  write("u.json", base::dump_json(unknown));
  const std::vector<std::string> problem = {"--T", "f32", "--n", "1000", "-o", path("x.json")};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), problem.begin(), problem.end());
    return words;
  };
  refused("import", with({"--from", path("u.json")}), 2, "'Nobody's GPU'");
  refused("import", with({"--from", path("u.json")}), 2, "Synthetic GPU");
  unknown.erase("device_name");
  unknown.erase("attune");
  write("n.json", base::dump_json(unknown));
  refused("import", with({"--from", path("n.json")}), 2, "it names no device; name the device");
  refused("export", with({"--device", "Another GPU"}), 2,
          "no device 'Another GPU' has records of it; name one with --device: Synthetic GPU");
  CHECK_FALSE(std::filesystem::exists(path("x.json")));
}

TEST_CASE_FIXTURE(Caches, "what cannot be exported or imported ends with the exit code of its kind, and no file is written") {
  done("export", {"-o", path("k.json")});
  const std::string whole = read("k.json"), out = path("x.json");
  write("cut.json", whole.substr(0, whole.size() / 3));
  json other = base::parse_json(whole);
  other["cache"].begin()->at("block_size") = 65;
  write("other.json", base::dump_json(other));
  refused("export", {"--T", "f32", "--n", "1000,2000", "-o", out}, 2, "2 problems are named");
  refused("export", {"--T", "f32", "--n", "2000", "-o", out}, 2, "has no record of this version of template 'double_it'");
  refused("export", {"--T", "f32", "--n", "1000", "--policy", "hot/graph", "-o", out}, 2, "under the policy hot/graph");
  refused("export", {"--T", "f32", "--n", "1000", "--policy", "warm", "-o", out}, 2, "warm");
  refused("export", {"--T", "f32", "--n", "1000", "--format", "t5", "-o", out}, 2, "--format");
  refused("export", {"--T", "f32", "--n", "1000", "-o", database}, 2, "is a database");
  refused("export", {"--T", "f32", "--n", "1000", "--db", path("no.db"), "-o", out}, 5, "no.db");
  refused("export", {"--T", "f32", "--n", "3000", "--from", failing, "-o", out}, 2, R"(it holds {"T":"f32","n":1000})");
  refused("import", {"--from", path("cut.json"), "--T", "f32", "--n", "1000", "-o", out}, 3, "cut.json:");
  refused("import", {"--from", path("other.json"), "--T", "f32", "--n", "1000", "-o", out}, 3, "cannot be 65");
  refused("import", {"--from", path("k.json"), "--T", "f32", "--n", "2000", "-o", out}, 3, "it says that it is of template 'double_it'");
  refused("import", {"--from", failing, "--T", "f32", "--n", "1000", "-o", out}, 3, "recording of attune already");
  refused("import", {"--from", path("nowhere.json"), "--T", "f32", "--n", "1000", "-o", out}, 2, "nowhere.json");
  CHECK_FALSE(std::filesystem::exists(out));
}

}  // namespace test_cache_files
