// One command on several GPUs: the real executable with a process for each, on devices of the fake driver.
#include <doctest/doctest.h>
#include <signal.h>

#include <map>
#include <set>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/integration/fake_gpu/processes.hpp"
#include "tuner/base/json.hpp"

namespace test_several_gpus {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

constexpr std::size_t kGood = 4 * 3 * 4;
const std::vector<std::string> kSizes = {"1000", "2000", "3000", "4000"};

struct Gpus : FakeGpu {
  explicit Gpus(std::vector<std::string> names = {"Fake A", "Fake A"}) {
    settings["devices"] = json::array();
    for (const auto& name : names) settings["devices"].push_back({{"name", name}, {"sm_count", name == "Fake A" ? 132 : 64}});
  }

  [[nodiscard]] std::vector<std::string> words(const std::vector<std::string>& more = {}) const {
    auto words = tune_words("none", {"--device", "all"});
    for (auto& word : words) {
      if (word == "1000") word = "1000,2000,3000,4000";
    }
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// Problem texts of the stored best rows, by device.
  [[nodiscard]] std::map<std::string, std::multiset<std::string>> best() const {
    std::map<std::string, std::multiset<std::string>> found;
    for (const auto& row : db::Database::open(database, db::OpenMode::ReadOnly).best({})) found[row.device_key].insert(row.problem);
    return found;
  }
  void check_complete(std::size_t kinds) const {
    CHECK(records().size() == kinds * kSizes.size() * kGood);
    for (const auto& record : records()) CHECK(record.outcome == "ok");
    const auto stored = best();
    CHECK(stored.size() == kinds);
    for (const auto& [device, problems] : stored) CHECK(problems.size() == kSizes.size());
  }
};

/// Devices that take as long as they say, ten times over.
struct SlowGpus : Gpus {
  SlowGpus() { settings["real_time"] = 10; }
};

struct MixedGpus : Gpus {
  MixedGpus() : Gpus({"Fake A", "Fake B", "Fake A"}) {}
};

}  // namespace

TEST_CASE_FIXTURE(Gpus, "two equal GPUs tune each problem once, under one run") {
  const auto result = attune(words({"--json"}));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  check_complete(1);
  const auto events = test::json_lines(result.out);
  std::size_t problems = 0, told = 0;
  for (const auto& event : events) {
    problems += event["event"] == "problem" ? 1 : 0;
    told += event["event"] == "record" ? 1 : 0;
  }
  CHECK(problems == kSizes.size());
  CHECK(told == kSizes.size() * kGood);
  CHECK(events.front()["devices"].size() == 2);
  CHECK(events.back()["devices"][0]["ordinals"] == json{0, 1});
  const auto opened = db::Database::open(database, db::OpenMode::ReadOnly);
  std::set<std::string> runs;
  for (const auto& session : opened.sessions({})) runs.insert(base::parse_json(session.summary_json).at("run").get<std::string>());
  CHECK(runs == std::set<std::string>{events.front()["run"].get<std::string>()});
  CHECK(opened.in_flight().empty());
}

TEST_CASE_FIXTURE(Gpus, "GPUs that begin with the same code compile it once between them") {
  environment["XDG_CACHE_HOME"] = (folder / "cache").string();  // empty
  REQUIRE(attune(words()).exit_code == 0);
  std::map<std::string, std::set<std::string>> compiled_for;  // problems, by what is compiled
  for (const auto& record : records()) {
    auto code = test::configuration_of(record);
    code.erase("waves");  // of the launch
    const double compile_ms = base::parse_json(record.detail_json).at("resources").at("compile_ms");
    if (compile_ms > 0) compiled_for[base::dump_json(code)].insert(record.problem);
  }
  // Of 12; the default's code is that of the plain kernels as well, and so there before.
  CHECK(compiled_for.size() == 11);
  for (const auto& [code, problems] : compiled_for) {
    CAPTURE(code);
    CHECK(problems.size() == 1);
  }
}

TEST_CASE_FIXTURE(Gpus, "the same command on one GPU or on two leaves the same records and winners") {
  REQUIRE(attune(words()).exit_code == 0);
  const auto winners = [&] {
    std::map<std::string, std::string> found;
    for (const auto& row : db::Database::open(database, db::OpenMode::ReadOnly).best({})) found[row.problem] = row.configuration;
    return found;
  };
  const auto of_two = winners();
  database = (folder / "one.db").string();
  environment["ATTUNE_DB"] = database;
  auto one = words();
  for (auto& word : one) {
    if (word == "all") word = "1";
  }
  REQUIRE(attune(one).exit_code == 0);
  check_complete(1);
  CHECK(winners() == of_two);
}

TEST_CASE_FIXTURE(MixedGpus, "GPUs that differ tune every problem each, and the summary keeps them apart") {
  const auto result = attune(words());
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  check_complete(2);
  CHECK(result.out.find("Fake A (devices 0, 2)") != std::string::npos);
  CHECK(result.out.find("Fake B (device 1)") != std::string::npos);
}

TEST_CASE_FIXTURE(Gpus,
                  "a problem that no GPU has the memory for is given up with the reason, the others are tuned, and the run has failed") {
  for (auto& device : settings["devices"]) device["memory_bytes"] = std::int64_t{1} << 30;
  auto sizes = words({"--json"});
  for (auto& word : sizes) {
    if (word == "1000,2000,3000,4000") word = "1000,2000,900000000";
  }
  const auto result = attune(sizes);
  CHECK(result.exit_code == 4);
  CHECK(records().size() == 2 * kGood);
  json given_up = json::array();
  for (const auto& event : test::json_lines(result.out)) {
    if (event["event"] == "given_up") given_up.push_back(event);
  }
  REQUIRE(given_up.size() == 1);
  CHECK(given_up[0]["problem"]["n"] == 900000000);
  CHECK(given_up[0]["device"] == "Fake A");
  CHECK(given_up[0]["reason"].get<std::string>().find("device memory") != std::string::npos);
}

TEST_CASE_FIXTURE(Gpus, "a GPU that is not there is named, and nothing is tuned") {
  auto asked = words();
  for (auto& word : asked) {
    if (word == "all") word = "0,5";
  }
  const auto result = attune(asked);
  CHECK(result.exit_code != 0);
  CHECK(result.err.find("failed selecting device 5: this machine shows 2 devices, numbered from 0") != std::string::npos);
  CHECK(records().empty());
}

TEST_CASE_FIXTURE(MixedGpus, "CUDA_VISIBLE_DEVICES says which GPUs there are and how they are numbered") {
  environment["CUDA_VISIBLE_DEVICES"] = "1,2";
  const auto result = attune(words());
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  check_complete(2);
  CHECK(result.out.find("Fake B (device 0)") != std::string::npos);
  CHECK(result.out.find("Fake A (device 1)") != std::string::npos);
}

TEST_CASE_FIXTURE(MixedGpus, "a GPU that CUDA_VISIBLE_DEVICES hides is not tuned on, whatever its number") {
  for (const auto& [visible, device] : {std::pair("7,0", "1"), {"0,7,1", "2"}, {"", "0"}}) {
    CAPTURE(visible);
    environment["CUDA_VISIBLE_DEVICES"] = visible;
    CHECK(attune(tune_words("none", {"--device", device})).exit_code != 0);
    CHECK(records().empty());
  }
}

TEST_CASE_FIXTURE(Gpus, "a GPU that attune's own kernels cannot be compiled for is left out once, not given up problem by problem") {
  environment["XDG_CACHE_HOME"] = (folder / "cache").string();  // empty
  const auto result = attune(words({"--compile-timeout", "1ms"}));
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("attune's own device kernels") != std::string::npos);
  CHECK(result.err.find("cannot be used any more") != std::string::npos);
  CHECK(records().empty());
}

TEST_CASE_FIXTURE(SlowGpus, "a device process killed from outside costs nothing: its problem goes on in a fresh one") {
  const int pid = start(words());
  REQUIRE(test::wait_until([&] { return records().size() >= 4 && processes("worker-tune").size() == 2; }));
  REQUIRE(::kill(processes("worker-tune")[0], SIGKILL) == 0);
  CHECK(test::wait_for(pid) == 0);
  check_complete(1);
  CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
}

TEST_CASE_FIXTURE(SlowGpus, "Ctrl-C and SIGTERM end all GPUs with 130 and leave no process; the same command goes on and completes") {
  std::size_t before = 0;
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    const int pid = start(words());
    REQUIRE(test::wait_until([&] { return records().size() >= before + 4; }));
    ::kill(pid, signal);
    CHECK(test::wait_for(pid) == 130);
    CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
    before = records().size();
  }
  const auto opened = db::Database::open(database, db::OpenMode::ReadOnly);
  for (const auto& session : opened.sessions({})) CHECK(session.state != "running");
  settings["real_time"] = 0;
  CHECK(attune(words()).exit_code == 0);
  check_complete(1);
}

TEST_CASE_FIXTURE(SlowGpus, "when the command is killed, its device processes and all their workers die with it") {
  const int pid = start(words());
  REQUIRE(test::wait_until([&] { return records().size() >= 4; }));
  CHECK(processes("worker-gpu").size() == 2);
  CHECK(processes("worker-compile").size() >= 2);
  ::kill(pid, SIGKILL);
  CHECK(test::wait_for(pid) == 128 + SIGKILL);
  CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
}

}  // namespace test_several_gpus
