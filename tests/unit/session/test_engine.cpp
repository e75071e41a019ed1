// What the tuning loop does with its budget, with what an earlier run left, and with what the backend tells of itself.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/session/made_up_gpu.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/space/search_space.hpp"

namespace test_engine {

using namespace attune;
using measure::Outcome;
using nlohmann::json;
using test::MadeUpGpu;

namespace {

/// The small template with twenty values of "waves": 11 x 20 configurations.
spec::KernelTemplate wide_template() {
  std::string text = test::small_template_json();
  const std::string from = R"("waves": {"values": [1, 2])";
  text.replace(text.find(from), from.size(), R"("waves": {"values": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20])");
  return spec::KernelTemplate::parse(text, {{"double_it.cu", test::small_template_source()}}, "double_it/template.json");
}

struct Engine {
  test::TempFolder folder;
  spec::KernelTemplate kernel = wide_template();
  session::TuneRequest request;
  session::Observer observer;
  std::vector<std::string> notices;
  std::vector<std::string> space;               ///< texts in the order of the ordinals
  std::map<std::string, std::size_t> ordinals;  ///< by text

  Engine() {
    request.problems = {test::small_problem(1000)};
    observer.notice = [this](const std::string& text) { notices.push_back(text); };
    const auto device = spec::DeviceInfo::of_architecture("sm_90");
    const auto built = space::SearchSpace::build(kernel, request.problems[0], device);
    for (space::Ordinal i = 0; i < built.size(); ++i) {
      space.push_back(spec::to_text(kernel, built.at(i)));
      ordinals[space.back()] = i;
    }
  }

  [[nodiscard]] std::filesystem::path path() const { return folder / "tune.db"; }
  [[nodiscard]] db::Database open() const { return db::Database::open(path(), db::OpenMode::ReadWrite); }
  session::ProblemResult tune(MadeUpGpu& gpu) {
    auto database = open();
    return session::tune(kernel, request, gpu, database, observer).problems.at(0);
  }
  [[nodiscard]] json summary() const { return base::parse_json(open().sessions({}).back().summary_json); }
  void change_database(const std::string& sql) const {
    SQLite::Database raw(path().string(), SQLite::OPEN_READWRITE);
    REQUIRE(raw.exec(sql) > 0);
  }

  /// 10 us and a little more by ordinal, intervals of 0.05 us to both sides; those named are 5 us plus what is given,
  /// with 0.01 us.
  [[nodiscard]] MadeUpGpu::Measure fast_ones(const std::map<std::size_t, double>& fast) const {
    return [this, fast](const std::string& text) {
      const std::size_t ordinal = ordinals.at(text);
      const auto found = fast.find(ordinal);
      if (found != fast.end()) return test::works(text, 5 + found->second, 0.01);
      return test::works(text, 10 + 0.001 * static_cast<double>(ordinal), 0.05);
    };
  }
};

/// Points of a sentinel, one a second.
std::vector<session::Sentinel::Point> points(const std::vector<double>& medians_us) {
  std::vector<session::Sentinel::Point> points;
  for (const double us : medians_us) points.push_back({static_cast<double>(points.size()), us});
  return points;
}

}  // namespace

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

TEST_CASE("a sentinel's drift is that of its medians over five points: one bad point is none") {
  session::Sentinel sentinel;
  CHECK(sentinel.drift() == 1);
  sentinel.points = points({10, 12, 10, 12});
  CHECK(sentinel.drift() == 1);
  sentinel.points = points({10, 10, 10, 15, 10, 10, 10});
  CHECK(sentinel.drift() == 1);
  sentinel.points = points({10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 10, 10, 10, 10, 10});
  CHECK(sentinel.drift() == doctest::Approx(1.1));
}

TEST_CASE_FIXTURE(Engine, "a device that drifts while it is searched is told of, and stored with the session") {
  MadeUpGpu gpu(fast_ones({{20, 0}}));
  gpu.its_sentinel = {space[0], points({10, 10, 10, 10, 10, 10.3, 10.3, 10.3, 10.3, 10.3})};
  tune(gpu);
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].find("drifted by 3.0 %") != std::string::npos);
  CHECK(notices[0].find("10 times") != std::string::npos);
  const json stored = summary().at("sentinel");
  CHECK(stored.at("configuration") == space[0]);
  CHECK(stored.at("drift").get<double>() == doctest::Approx(1.03));
  CHECK(stored.at("points").size() == 10);
  CHECK(stored.at("points").at(9) == json::array({9.0, 10.3}));
}

TEST_CASE_FIXTURE(Engine, "a device that hardly drifts is not told of") {
  MadeUpGpu gpu(fast_ones({{20, 0}}));
  gpu.its_sentinel = {space[0], points({10, 10, 10, 10, 10, 10.1, 10.1, 10.1, 10.1, 10.1})};
  tune(gpu);
  CHECK(notices.empty());
  CHECK(summary().at("sentinel").at("drift").get<double>() == doctest::Approx(1.01));
}

namespace {

/// Says of every moment in `collect` what it was used for: half of it measuring, the rest waiting and recovering.
class ClockedGpu : public MadeUpGpu {
 public:
  using MadeUpGpu::MadeUpGpu;
  [[nodiscard]] std::vector<measure::Measurement> collect(std::chrono::milliseconds timeout) override {
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    auto measurements = MadeUpGpu::collect(timeout);
    spent_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return measurements;
  }
  [[nodiscard]] session::Utilisation utilisation() const override {
    session::Utilisation utilisation;
    utilisation.gpu_busy_s = 0.5 * spent_s_;
    utilisation.idle_waiting_compile_s = 0.3 * spent_s_;
    utilisation.recovering_s = 0.2 * spent_s_;
    utilisation.compile_busy_s = 7;
    utilisation.compile_workers = 3;
    return utilisation;
  }

 private:
  double spent_s_ = 0;
};

class BoastfulGpu : public MadeUpGpu {
 public:
  using MadeUpGpu::MadeUpGpu;
  [[nodiscard]] session::Utilisation utilisation() const override {
    session::Utilisation utilisation;
    utilisation.gpu_busy_s = 1e6;
    return utilisation;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Engine, "a GPU's busy, waiting, recovering and otherwise idle time make up the whole search") {
  ClockedGpu gpu(fast_ones({{20, 0}}));
  const auto used = tune(gpu).utilisation;
  CHECK(used.gpu_busy_s > 0);
  CHECK(used.idle_other_s >= 0);
  CHECK(used.gpu_busy_s + used.idle_waiting_compile_s + used.recovering_s + used.idle_other_s ==
        doctest::Approx(used.wall_s).epsilon(1e-9));
  CHECK(used.compile_workers == 3);
  const json stored = summary().at("utilisation");
  const double sum = stored.at("gpu_busy_s").get<double>() + stored.at("idle_waiting_compile_s").get<double>() +
                     stored.at("recovering_s").get<double>() + stored.at("idle_other_s").get<double>();
  CHECK(sum == doctest::Approx(stored.at("wall_s").get<double>()).epsilon(1e-9));
  CHECK(stored.at("compile_busy_s") == 7.0);
}

TEST_CASE_FIXTURE(Engine, "no idle time is negative, and a run that measured nothing used nothing") {
  BoastfulGpu boastful(fast_ones({{20, 0}}));
  CHECK(tune(boastful).utilisation.idle_other_s == 0);
  ClockedGpu idle(fast_ones({{20, 0}}));
  const auto again = tune(idle);
  CHECK(again.measured == 0);
  CHECK(again.utilisation.gpu_busy_s == 0);
  CHECK(again.utilisation.wall_s == 0);
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
