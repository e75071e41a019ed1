// What `attune explain` says of every tier, over real database files; the expected texts are tests/golden/explain/*.
#include <doctest/doctest.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/figures.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_explain {

using namespace attune;
using namespace attune::test;
using nlohmann::json;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::seconds;

namespace {

std::string utc(std::chrono::system_clock::time_point time) {
  const std::time_t whole = std::chrono::system_clock::to_time_t(time);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&whole));
  return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
  return text;
}

/// The template `twice` and a database file in the making; every result is as old as asked.
struct Explained : Cli {
  spec::KernelTemplate twice = twice_template();
  spec::DeviceInfo h200 = device("sm_90", "NVIDIA H200", 132), h100 = device("sm_90", "NVIDIA H100 PCIe", 114),
                   a100 = device("sm_80", "NVIDIA A100", 108), a40 = device("sm_86", "NVIDIA A40", 84);
  std::string recorded;
  LayerFile file{folder / "user.db"};

  Explained() {
    std::filesystem::create_directories(folder / "twice");
    write("twice/template.json", kTwiceJson);
    write("twice/twice.cu", kTwiceSource);
  }
  void is_old(seconds age) { recorded = utc(std::chrono::system_clock::now() - age); }
  db::BestRow row(std::int64_t n, const spec::DeviceInfo& donor, const std::string& chosen) const {
    auto made = best_row(twice, twice_problem(n), donor, chosen);
    made.recorded_at = recorded;
    return made;
  }
  void add(std::int64_t n, const spec::DeviceInfo& donor, const std::string& chosen) { file.add(row(n, donor, chosen), donor); }
  /// The device is known, and has no result.
  void know(const spec::DeviceInfo& known) {
    file.database().put(db::DeviceRow{known.hard_key(), known.hard_json(), base::dump_json(known.to_json())});
  }

  /// Both outputs of the command are the golden ones of this tier.
  void check(const std::string& golden, const std::string& device_name, std::int64_t n) {
    std::vector<std::string> words = {"explain", (folder / "twice").string(), "--T",      "f32",
                                      "--n",     std::to_string(n),           "--device", device_name,
                                      "--db",    file.path().string()};
    const auto text = attune(words);
    CHECK(text.exit_code == 0);
    CHECK(text.err == "");
    CHECK(text.out == expected(golden + ".txt"));
    words.emplace_back("--json");
    const auto as_json = attune(words);
    CHECK(as_json.exit_code == 0);
    CHECK(base::parse_json(as_json.out) == base::parse_json(expected(golden + ".json")));
  }

 private:
  std::string expected(const std::string& name) const {
    std::ifstream stream(std::string(ATTUNE_SOURCE_DIR "/tests/golden/explain/") + name);
    REQUIRE_MESSAGE(stream, name);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    return replaced(replaced(text, "{folder}", folder.path().string()), "{recorded}", recorded);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Explained, "explain of an exact size says its record, its age, and that the driver was another") {
  is_old(days(3) + hours(2));
  auto aged = row(1000, h200, configuration(64, "fancy", 1));
  aged.driver = "570.00";
  file.add(aged, h200);
  check("exact_size", "NVIDIA H200", 1000);
}

TEST_CASE_FIXTURE(Explained, "explain of a nearest size says which size lends, and why a nearer one does not") {
  is_old(hours(5) + seconds(30));
  add(4096, h200, configuration(32));
  add(100, h200, configuration(64));
  check("nearest_size", "NVIDIA H200", 5000);
}

TEST_CASE_FIXTURE(Explained, "explain of a sibling device says in what it differs, and why this device's own result does not serve") {
  is_old(days(70));
  add(4096, h200, configuration(32));
  add(5000, h100, configuration(256));
  check("sibling_device", "NVIDIA H200", 5000);
}

TEST_CASE_FIXTURE(Explained, "explain of another architecture says in what it differs, and why a nearer one does not serve") {
  is_old(days(3 * 366));
  know(a100);
  add(1000, a40, configuration(64, "fancy"));
  add(1000, h200, configuration(64));
  check("other_device", "NVIDIA A100", 1000);
}

TEST_CASE_FIXTURE(Explained, "explain of the default says what near misses there are") {
  is_old(days(1));
  auto old = row(1000, h200, configuration(64));
  old.template_hash = "0123";
  file.add(old, h200);
  auto hot = row(1000, h200, configuration(64));
  hot.policy = "hot/graph";
  file.add(hot, h200);
  check("default", "NVIDIA H200", 1000);
  std::size_t texts = 0;
  std::set<std::string> tiers;
  for (const auto& golden : std::filesystem::directory_iterator(ATTUNE_SOURCE_DIR "/tests/golden/explain")) {
    tiers.insert(golden.path().stem().string());
    ++texts;
  }
  CHECK(tiers == std::set<std::string>{"default", "exact_size", "nearest_size", "other_device", "sibling_device"});
  record_figures(11, "explain", {{"tiers", tiers.size()}, {"golden_texts", texts}});
}

TEST_CASE_FIXTURE(Cli, "a policy that is none, a database and a list of problems that are not there are told with what to do") {
  const std::vector<std::string> words = {"explain", "reduce", "--T", "f32", "--op", "sum", "--size", "1000", "--device", "sm_90"};
  const auto with = [&](const std::string& option, const std::string& value) {
    auto all = words;
    all.insert(all.end(), {option, value});
    return attune(all);
  };
  const auto warm = with("--policy", "warm"), absent = with("--db", folder / "absent.db");
  CHECK(warm.exit_code == 2);
  CHECK(warm.err.find("cold/graph") != std::string::npos);
  CHECK(absent.exit_code == 5);
  CHECK(absent.err.find("there is no such file; a tuning run creates it") != std::string::npos);
  for (const std::string& file : {std::string(folder / "absent.jsonl"), folder.path().string()}) {
    const auto listed = attune({"tune", "reduce", "--problems", file});
    CHECK(listed.exit_code == 2);
    CHECK(listed.err.find("--problems names " + file) != std::string::npos);
  }
}

}  // namespace test_explain
