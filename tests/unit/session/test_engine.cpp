// What the tuning loop does with its budget, with what an earlier run left, and with its finalists.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "tests/unit/session/engine_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/measure/gpu_executor.hpp"

namespace test_engine {

using namespace attune;
using measure::Outcome;
using test::Engine;
using test::MadeUpGpu;

namespace {

/// Takes any number ahead, and notes how many were handed over between two times that it was asked for results.
class GreedyGpu : public MadeUpGpu {
 public:
  using MadeUpGpu::MadeUpGpu;
  [[nodiscard]] bool wants_more() const override { return true; }
  [[nodiscard]] std::vector<measure::Measurement> collect(std::chrono::milliseconds timeout) override {
    most_at_once = std::max(most_at_once, submitted.size() - std::exchange(seen_, submitted.size()));
    waited_with_more_to_take = waited_with_more_to_take || (timeout.count() > 0 && submitted.size() < all);
    return MadeUpGpu::collect(timeout);
  }
  std::size_t most_at_once = 0, all = 0;
  bool waited_with_more_to_take = false;

 private:
  std::size_t seen_ = 0;
};

}  // namespace

TEST_CASE_FIXTURE(
    Engine,
    "a backend that takes everything ahead is asked for results, without waiting, whenever it was handed as many as a GPU worker holds") {
  GreedyGpu gpu(fast_ones({{20, 0}}));
  gpu.all = space.size();
  CHECK(tune(gpu).measured == space.size());
  CHECK(gpu.most_at_once <= measure::GpuExecutor::kQueueLength);
  CHECK_FALSE(gpu.waited_with_more_to_take);
}

TEST_CASE_FIXTURE(Engine, "the budget \"separated\" ends the search once the best stands apart, and the best is found") {
  request.budget = session::Budget::parse("separated");
  MadeUpGpu gpu(fast_ones({{20, 0}}));
  const auto result = tune(gpu);
  CHECK(result.measured < space.size());
  CHECK(result.measured >= 64);  // the fewest that say anything of a space
  REQUIRE(result.best.has_value());
  CHECK(result.best->configuration == space[20]);
}

TEST_CASE_FIXTURE(Engine, "the budget \"separated\" goes through the whole space while another interval reaches the best's") {
  request.budget = session::Budget::parse("separated");
  MadeUpGpu gpu(fast_ones({{20, 0}, {30, 0.005}}));
  const auto result = tune(gpu);
  CHECK(result.measured == space.size());
}

TEST_CASE_FIXTURE(Engine, "a best that was found late must stand for as many decisions again") {
  request.budget = session::Budget::parse("separated");
  MadeUpGpu gpu(fast_ones({{80, 0}}));
  const auto result = tune(gpu);
  const auto found_at =
      static_cast<std::size_t>(std::find(gpu.submitted.begin(), gpu.submitted.end(), space[80]) - gpu.submitted.begin()) + 1;
  REQUIRE(found_at >= 64);
  CHECK(result.measured >= 2 * found_at);
  CHECK(result.measured < space.size());
}

TEST_CASE_FIXTURE(Engine, "failed configurations do not keep the best from standing apart") {
  request.budget = session::Budget::parse("separated");
  const auto fast = fast_ones({{20, 0}});
  MadeUpGpu gpu([&](const std::string& text) {
    return ordinals.at(text) % 3 == 0 ? test::fails(text, Outcome::Crashed, "made-up crash") : fast(text);
  });
  const auto result = tune(gpu);
  CHECK(result.measured < space.size());
  REQUIRE(result.best.has_value());
  CHECK(result.best->configuration == space[20]);
}

TEST_CASE_FIXTURE(Engine, "a search in which everything fails is never separated") {
  request.budget = session::Budget::parse("separated");
  MadeUpGpu gpu([](const std::string& text) { return test::fails(text, Outcome::LaunchFailed, "made-up"); });
  CHECK(tune(gpu).measured == space.size());
}

TEST_CASE_FIXTURE(Engine, "what an earlier run decided is not measured again, and the rest is") {
  request.budget = session::Budget::parse("100");
  MadeUpGpu first(fast_ones({{20, 0}}));
  CHECK(tune(first).measured == 100);
  request.budget = {};
  MadeUpGpu second(fast_ones({{20, 0}}));
  const auto result = tune(second);
  CHECK(result.reused == 100);
  CHECK(result.measured == space.size() - 100);
  for (const auto& text : second.submitted) {
    CHECK(std::find(first.submitted.begin(), first.submitted.end(), text) == first.submitted.end());
  }
  REQUIRE(result.best.has_value());
  CHECK(result.best->configuration == space[20]);
}

TEST_CASE_FIXTURE(Engine, "a damaged record is measured again, and nothing else is") {
  const std::string id = "(SELECT id FROM records ORDER BY id LIMIT 1 OFFSET 60)";
  for (const std::string& damage :
       {fmt::format("UPDATE records SET outcome = 'crashed' WHERE id = {}", id),
        fmt::format("UPDATE metrics SET value = 0.5 WHERE record_key = (SELECT key FROM records WHERE id = {})", id),
        fmt::format("UPDATE configurations SET text = '?' WHERE key = (SELECT configuration_key FROM records WHERE id = {})", id)}) {
    CAPTURE(damage);
    std::filesystem::remove(path());
    MadeUpGpu first(fast_ones({{20, 0}}));
    CHECK(tune(first).measured == space.size());
    change_database(damage);
    MadeUpGpu second(fast_ones({{20, 0}}));
    const auto result = tune(second);
    CHECK(result.measured == 1);
    CHECK(result.reused == space.size() - 1);
    CHECK(second.submitted == std::vector<std::string>{first.submitted[60]});
    CHECK_FALSE(result.nothing_left);
    const auto database = open();
    CHECK(database.records({}).size() == space.size());
    CHECK(database.bad_rows() == 0);
  }
}

TEST_CASE_FIXTURE(Engine, "the first configuration of every kind of failure is told with its detail, in a later run too") {
  const auto fast = fast_ones({{20, 0}});
  const auto measure = [&](const std::string& text) {
    const std::size_t ordinal = ordinals.at(text);
    if (ordinal == 40 || ordinal == 41) return test::fails(text, Outcome::WrongResult, fmt::format("out[{}] is 1, not 2", ordinal));
    if (ordinal == 50) return test::fails(text, Outcome::TimedOut, "no answer");
    return fast(text);
  };
  for (const bool reused : {false, true}) {
    CAPTURE(reused);
    MadeUpGpu gpu(measure);
    const auto result = tune(gpu);
    CHECK(result.measured == (reused ? 0 : space.size()));
    CHECK(result.failed == std::map<std::string, std::uint64_t>{{"timed_out", 1}, {"wrong_result", 2}});
    REQUIRE(result.failure_examples.size() == 2);
    CHECK(result.failure_examples.at("timed_out").configuration == space[50]);
    CHECK(result.failure_examples.at("timed_out").detail == "no answer");
    // The exhaustive strategy goes through the space in its order.
    CHECK(result.failure_examples.at("wrong_result").configuration == space[40]);
    CHECK(result.failure_examples.at("wrong_result").detail == "out[40] is 1, not 2");
  }
}

TEST_CASE_FIXTURE(Engine, "what a GPU worker is about to hold is in the database when it is handed over, and gone at the end") {
  auto database = open();
  std::size_t named = 0;
  struct Watching : MadeUpGpu {
    using MadeUpGpu::MadeUpGpu;
    std::function<void(const std::string&)> handed_over;
    void submit(const spec::Configuration& configuration) override {
      MadeUpGpu::submit(configuration);
      handed_over(submitted.back());
    }
  } gpu(fast_ones({{20, 0}}));
  gpu.handed_over = [&](const std::string& text) {
    const auto flying = database.in_flight();
    named += flying.size() == 1 && flying[0].second == text ? 1 : 0;
  };
  (void)session::tune(kernel, request, gpu, database, observer);
  CHECK(named == space.size());
  CHECK(database.in_flight().empty());
}

TEST_CASE_FIXTURE(Engine, "a hundredth of what a large search tried runs off, and no more than a bound that was asked for") {
  REQUIRE(space.size() >= 200);
  const std::string standard = spec::to_text(kernel, spec::default_configuration(kernel));
  MadeUpGpu gpu([&](const std::string& text) { return test::works(text, text == standard ? 11 : 10, 0); });
  request.finalists.fewest = request.finalists.most = 1;
  static_cast<void>(tune(gpu));
  REQUIRE(gpu.run_offs.size() == 1);
  CHECK(gpu.run_offs[0].finalists == space.size() / 100 + 1);  // the default beside them
  request.finalists = session::FinalistRule::of_at_most(1);
  static_cast<void>(tune(gpu));
  REQUIRE(gpu.run_offs.size() == 2);
  CHECK(gpu.run_offs[1].finalists == 2);
}

TEST_CASE_FIXTURE(Engine, "where a large search's finalists do not work together, as many as of a small one run off, once") {
  MadeUpGpu gpu(fast_ones({{20, 0}}));
  gpu.most_together = 2;
  request.finalists.fewest = 0;
  request.finalists.most = 1;
  request.finalists.ratio = 3;  // all are close
  const auto result = tune(gpu);
  REQUIRE(gpu.run_offs.size() == 2);
  CHECK(gpu.run_offs[0].finalists == 3);
  CHECK(gpu.run_offs[1].finalists == 2);
  REQUIRE(result.best);
  CHECK(result.best->configuration == space[20]);
  CHECK(base::parse_json(result.best->detail_json).at("rounds") > 1);
  static_cast<void>(tune(gpu));
  CHECK(gpu.run_offs.size() == 2);  // decided
}

TEST_CASE_FIXTURE(Engine, "a run-off that ended with several left is run again by who allows it more epochs, and by nobody else") {
  MadeUpGpu gpu(fast_ones({{3, 0}, {5, 0.001}}));
  for (const int most : {8, 8, 21, 8, 21}) {
    request.race.most = most;
    static_cast<void>(tune(gpu));
  }
  REQUIRE(gpu.run_offs.size() == 2);
  CHECK(gpu.run_offs[0].epochs == 8);
  CHECK(gpu.run_offs[1].epochs == 21);
}

}  // namespace test_engine
