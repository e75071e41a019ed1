// Winners under noise and drift, whose truth is known: the time model of the template.
#include <doctest/doctest.h>

#include <algorithm>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

/// The model of tests/support/fake_templates/synthetic: 1 for the best.
double slowdown(const json& configuration) {
  static const std::map<int, double> block = {{64, 0.30}, {128, 0.10}, {256, 0}, {512, 0.05}};
  static const std::map<int, double> items = {{1, 0.15}, {2, 0}, {4, 0.002}};
  static const std::map<int, double> waves = {{1, 0.06}, {2, 0}, {4, 0.001}, {8, 0.4}};
  return 1 + block.at(configuration["block_size"]) + items.at(configuration["items"]) + waves.at(configuration["waves"]);
}

struct Answer {
  double winner = 0;       ///< true slow-down of the winner
  bool tie = false;
  std::vector<json> tied;  ///< with the winner
};

Answer tune(FakeGpu& gpu, int seed) {
  gpu.settings["seed"] = seed;
  const auto result = gpu.attune(gpu.tune_words("none"));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const auto rows = db::Database::open(gpu.database, db::OpenMode::ReadOnly).best({});
  REQUIRE(rows.size() == 1);
  Answer answer;
  answer.winner = slowdown(json::parse(rows[0].configuration));
  answer.tie = rows[0].tie;
  for (const auto& finalist : json::parse(rows[0].detail_json)["finalists"]) {
    if (finalist["tied"]) answer.tied.push_back(json::parse(finalist["configuration"].get<std::string>()));
  }
  return answer;
}

}  // namespace

TEST_CASE("under noise and drift the winner is the best configuration or one that is declared to tie with it") {
  const json best = {{"block_size", 256}, {"fault", "none"}, {"items", 2}, {"waves", 2}};
  for (int seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    FakeGpu gpu;
    gpu.settings["noise"] = 0.01;
    gpu.settings["drift_per_s"] = 0.05;
    const Answer answer = tune(gpu, seed);
    // The four of the plateau lie within 0.3 %; the next best is 5 % slower and never wins or ties.
    CHECK(answer.winner < 1.01);
    const bool best_is_among = std::find(answer.tied.begin(), answer.tied.end(), best) != answer.tied.end();
    CHECK((answer.winner == 1.0 || best_is_among));
    for (const json& tied : answer.tied) CHECK(slowdown(tied) < 1.01);
  }
}

TEST_CASE("without noise a difference of a tenth of a per cent decides") {
  FakeGpu gpu;
  const Answer answer = tune(gpu, 1);
  CHECK(answer.winner == 1.0);
  CHECK_FALSE(answer.tie);
}
