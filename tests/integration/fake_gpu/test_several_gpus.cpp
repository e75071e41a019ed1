// Several GPUs of one host: shared problems, separate identities, processes that die.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <set>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/integration/fake_gpu/processes.hpp"

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

constexpr std::size_t kGood = 4 * 3 * 4;

/// Two equal GPUs that take as long as they say they take, and four problems.
struct TwoGpus : FakeGpu {
  TwoGpus() {
    settings["devices"] = json::array({json::object(), json::object()});
    settings["real_time"] = 1;
  }
  [[nodiscard]] std::vector<std::string> words() const {
    auto tune = tune_words("none", {"--device", "all", "--json"});
    std::replace(tune.begin(), tune.end(), std::string("1000"), std::string("1000,2000,3000,4000"));
    return tune;
  }
  /// Each configuration of each problem has one good record under each device key.
  void check_complete(std::size_t device_keys) const {
    std::set<std::string> seen;
    for (const auto& record : records()) {
      CAPTURE(record.configuration);
      CAPTURE(test::detail_of(record));
      CHECK(record.outcome == "ok");
      CHECK(record.verified);
      CHECK(seen.insert(record.device_key + record.problem + record.configuration).second);
    }
    CHECK(seen.size() == device_keys * 4 * kGood);
    CHECK(db::Database::open(database, db::OpenMode::ReadOnly).best({}).size() == device_keys * 4);
  }
};

}  // namespace

TEST_CASE_FIXTURE(TwoGpus, "equal devices share the problems, and one run holds them all") {
  const auto result = attune(words());
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  check_complete(1);
}

TEST_CASE_FIXTURE(TwoGpus, "different devices tune every problem each") {
  settings["real_time"] = 0;
  settings["devices"] = json::array({{{"name", "Large"}, {"sm_count", 132}}, {{"name", "Small"}, {"sm_count", 66}, {"speed", 0.5}}});
  const auto result = attune(words());
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  check_complete(2);
}

TEST_CASE_FIXTURE(TwoGpus, "a device's process killed from outside loses no problem") {
  const int pid = start(words());
  REQUIRE(test::wait_until([&] { return records().size() >= 2; }));
  const auto tuners = processes("worker-tune");
  REQUIRE(tuners.size() == 2);
  REQUIRE(::kill(tuners[0], SIGKILL) == 0);
  CHECK(test::wait_for(pid) == 0);
  check_complete(1);
  CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
}

TEST_CASE_FIXTURE(TwoGpus, "every process of every device dies with a killed parent, and the same command completes the run") {
  const int pid = start(words());
  REQUIRE(test::wait_until([&] { return records().size() >= 2 && processes("worker-gpu").size() == 2; }));
  ::kill(pid, SIGKILL);
  CHECK(test::wait_for(pid) == 128 + SIGKILL);
  CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
  settings["real_time"] = 0;
  CHECK(attune(words()).exit_code == 0);
  check_complete(1);
}
