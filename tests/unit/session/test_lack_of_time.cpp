// What a budget of time leaves undone: code that nothing can be measured without, and a run-off that would not end in time.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "tests/unit/session/engine_fixture.hpp"
#include "tuner/session/source/search_end.hpp"

namespace test_lack_of_time {

using namespace attune;
using test::Engine;
using test::MadeUpGpu;

namespace {

/// Its reference never gets compiled, or its finalists never run off; as the test says.
class LateGpu : public MadeUpGpu {
 public:
  using MadeUpGpu::MadeUpGpu;
  void prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem) override {
    ++prepares;
    while (lacks_reference) {
      if (!on_wait("compiling the reference")) throw session::PreparingStopped("compiling the reference");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    MadeUpGpu::prepare(kernel, problem);
  }
  [[nodiscard]] std::optional<session::RunOffSamples> run_off(const std::vector<spec::Configuration>& finalists,
                                                              const session::Race::Options& options, std::uint64_t seed) override {
    known_us = options.known_us;
    auto samples = MadeUpGpu::run_off(finalists, options, seed);
    if (stops_after >= 0 && !options.goes_on()) {
      samples->rounds_us.resize(static_cast<std::size_t>(stops_after));
      samples->stopped = true;
      samples->lacked_time = stops_after == 0;
    }
    if (!lacks_time) return samples;
    session::RunOffSamples none;
    none.lacked_time = true;
    return none;
  }
  bool lacks_reference = false, lacks_time = false;
  int stops_after = -1;  ///< epochs, of a run-off that is interrupted; -1: it is over before that
  int prepares = 0;
  std::vector<double> known_us;  ///< of the last run-off
};

struct Late : Engine {
  LateGpu gpu{fast_ones({{20, 0}})};

  /// With these limits; what it tells begins anew.
  session::ProblemResult run(const std::string& budget) {
    notices.clear();
    request.budget = session::Budget::parse(budget);
    return tune(gpu);
  }
  [[nodiscard]] bool told(const std::string& part) const {
    return std::any_of(notices.begin(), notices.end(), [&](const auto& notice) { return notice.find(part) != std::string::npos; });
  }
  [[nodiscard]] std::string asked() const {
    const auto rows = open().best({});
    REQUIRE(rows.size() == 1);
    return base::parse_json(rows.front().detail_json).at("asked").dump();
  }
};

}  // namespace

TEST_CASE_FIXTURE(Late, "a reference that is not compiled by the end of the budget ends the problem, which says so and stores nothing") {
  gpu.lacks_reference = true;
  std::string waited_for;
  observer.progress = [&](const session::Progress& progress) { waited_for = std::max(waited_for, progress.waits_for); };
  const auto result = run("0.5s");
  CHECK(waited_for == "compiling the reference");
  CHECK(gpu.prepares == 1);
  CHECK(gpu.submitted.empty());
  CHECK(told("the time of the budget ended while compiling the reference"));
  CHECK_FALSE(told("fit into the time"));
  CHECK_FALSE(result.best.has_value());
  CHECK_FALSE(result.nothing_left);
  CHECK(open().records({}).empty());
  CHECK(open().sessions({}).back().state == "finished");
}

TEST_CASE_FIXTURE(Late, "what was verified before has a winner though the reference is not compiled in time, and that is not called all") {
  CHECK(run("20").measured == 20);
  const auto before = open().best({});
  gpu.lacks_reference = true;
  gpu.run_offs.clear();
  const auto result = run("0.5s");
  CHECK(gpu.run_offs.empty());
  REQUIRE(result.best.has_value());
  CHECK(result.best->configuration == before.front().configuration);
  CHECK_FALSE(result.nothing_left);
  CHECK(result.measured == 0);
  CHECK(told("the time of the budget ended while compiling the reference"));
}

TEST_CASE_FIXTURE(Late, "an interruption ends the waiting for a reference, without a word of a budget") {
  gpu.lacks_reference = true;
  int asked_for_stop = 0;
  observer.interrupted = [&] { return ++asked_for_stop > 5; };
  auto database = open();
  const auto result = session::tune(kernel, request, gpu, database, observer);
  CHECK(result.interrupted);
  CHECK(notices.empty());
  CHECK(database.sessions({}).back().state == "interrupted");
}

TEST_CASE_FIXTURE(Late,
                  "an interruption ends the waiting for a reference that only the run-off needs, and the best is by the search's medians") {
  request.best_when_stopped = false;
  CHECK(run("20").measured == 20);
  change_database("DELETE FROM best");
  request.best_when_stopped = true;
  gpu.lacks_reference = true;
  int asked_for_stop = 0;
  observer.interrupted = [&] { return gpu.prepares > 1 && ++asked_for_stop > 5; };
  auto database = open();
  const auto result = session::tune(kernel, request, gpu, database, observer);
  CHECK(result.interrupted);
  CHECK(asked() == "[]");
}

TEST_CASE_FIXTURE(Late, "finalists that have no time for a run-off are decided by the search's medians, until a later run has the time") {
  gpu.lacks_time = true;
  const auto result = run("60s,20");
  CHECK(told("had no time for a run-off"));
  REQUIRE(result.best.has_value());
  CHECK(asked() == "[]");
  REQUIRE_FALSE(gpu.known_us.empty());  // by which a device tells what would end in time
  CHECK(*std::min_element(gpu.known_us.begin(), gpu.known_us.end()) == doctest::Approx(result.best->median_us));
  gpu.lacks_time = false;
  const auto again = run("60s,20");
  CHECK_FALSE(again.nothing_left);
  CHECK(asked() != "[]");
}

TEST_CASE_FIXTURE(Late, "a decision by a run-off that was cut short stays where there is no time to go on with it") {
  request.race.most = 6;
  (void)run("60s,20");
  const std::string before = asked();
  CHECK(before != "[]");
  request.race.most = 21;  // it would go on
  gpu.lacks_time = true;
  const auto result = run("60s,20");
  CHECK(told("the best stays as an earlier run-off of the same finalists decided it"));
  CHECK(result.best.has_value());
  CHECK(asked() == before);
}

TEST_CASE_FIXTURE(Late, "a run-off that is interrupted decides by the epochs that it had, and a later run goes on with it") {
  observer.interrupted = [&] { return !gpu.run_offs.empty(); };
  gpu.stops_after = 3;
  auto database = open();
  const auto stopped = session::tune(kernel, request, gpu, database, observer);
  CHECK(stopped.interrupted);
  REQUIRE(stopped.problems.size() == 1);
  REQUIRE(stopped.problems[0].best.has_value());
  CHECK(base::parse_json(stopped.problems[0].best->detail_json).at("rounds") == 3);
  CHECK(told("stopped in the run-off"));
  CHECK(database.sessions({}).back().state == "interrupted");
  observer.interrupted = [] { return false; };
  gpu.run_offs.clear();
  const auto result = run("220");
  CHECK(result.measured == 0);
  CHECK(gpu.run_offs.size() == 1);
  CHECK(base::parse_json(result.best->detail_json).at("rounds") > request.race.most);  // of many that all stay
}

TEST_CASE("a run-off goes on where several are left before its last epoch, or one before those that it takes to be sure of it") {
  session::Race::Options race;
  CHECK(session::would_go_on(2, 20 * 3, 3, race));
  CHECK_FALSE(session::would_go_on(2, 21 * 3, 3, race));
  CHECK(session::would_go_on(1, 4 * 3, 3, race));
  CHECK_FALSE(session::would_go_on(1, 5 * 3, 3, race));
  CHECK(session::would_go_on(session::Race::kFew + 1, 30 * 3, 3, race));
  CHECK_FALSE(session::would_go_on(session::Race::kFew + 1, 31 * 3, 3, race));
  CHECK_FALSE(session::would_go_on(2, 1, 1, race));  // medians of a search
  race.fewest = 2;
  CHECK_FALSE(session::would_go_on(1, 2 * 3, 3, race));
}

TEST_CASE_FIXTURE(Late, "a run-off that is interrupted before its first epoch leaves the best to the search's medians, or to nobody") {
  observer.interrupted = [&] { return !gpu.run_offs.empty(); };
  gpu.stops_after = 0;
  SUBCASE("medians") {
    CHECK(run("20").best.has_value());
    CHECK(told("stopped before the run-off"));
    CHECK(asked() == "[]");
  }
  SUBCASE("nobody, where a stopped run stores none") {
    request.best_when_stopped = false;
    gpu.stops_after = 3;
    CHECK_FALSE(run("20").best.has_value());
    CHECK(open().best({}).empty());
  }
}

TEST_CASE("a first visit is expected to take what others' calls tell, and at least what does not depend on them") {
  using session::VisitCost;
  CHECK(VisitCost{}.expected_s(200000) == doctest::Approx(1));  // five calls, the fewest that there are
  CHECK(VisitCost{14, 3}.expected_s(200000) == doctest::Approx(2.8));
  // Of short ones most of the time is not their calls', so that one that is ten times as long takes little more.
  CHECK(VisitCost{2000, 0.02}.expected_s(10) == doctest::Approx(0.02).epsilon(0.02));
  CHECK(VisitCost{2000, 0.02}.expected_s(100) == doctest::Approx(0.022));
}

}  // namespace test_lack_of_time
