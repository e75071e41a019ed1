// What the tuning loop makes of what a backend tells of itself: a sentinel that drifts, and what the time was used for.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "tests/unit/session/engine_fixture.hpp"

namespace test_backend_reports {

using namespace attune;
using nlohmann::json;
using test::Engine;
using test::MadeUpGpu;

namespace {

/// Points of a sentinel, one a second.
std::vector<session::Sentinel::Point> points(const std::vector<double>& medians_us) {
  std::vector<session::Sentinel::Point> points;
  for (const double us : medians_us) points.push_back({static_cast<double>(points.size()), us});
  return points;
}

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

TEST_CASE("how much slower a device is now is told by the sentinel's last three points beside its fastest") {
  session::Sentinel sentinel;
  CHECK(sentinel.slowdown() == 1);
  sentinel.points = {{0, 104}, {1, 100}, {2, 112}};
  CHECK(sentinel.slowdown() == doctest::Approx(1.04));  // one that is far off says nothing
  sentinel.points.insert(sentinel.points.end(), {{3, 110}, {4, 111}});
  CHECK(sentinel.slowdown() == doctest::Approx(1.11));
  sentinel.points.insert(sentinel.points.end(), {{5, 90}, {6, 90}});
  CHECK(sentinel.slowdown() == 1);
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

}  // namespace test_backend_reports
