// Searches that learn: what they are told before they begin, and when they end.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tests/unit/session/engine_fixture.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/session/tune/launch_promise.hpp"

namespace test_learning {

using namespace attune;
using test::Engine;
using test::MadeUpGpu;

namespace {

constexpr std::size_t kFastOne = 137;

/// The same template with another kernel, and one more value of "waves" than the tests' own.
spec::KernelTemplate older_version(const spec::KernelTemplate& kernel) {
  std::string text = kernel.spec_text;
  const std::string from = "19,20]";
  text.replace(text.find(from), from.size(), "19,20,21]");
  return spec::KernelTemplate::parse(text, {{"double_it.cu", test::small_template_source()}}, "older/template.json");
}

std::size_t place_of(const std::vector<std::string>& submitted, const std::string& configuration) {
  return static_cast<std::size_t>(std::find(submitted.begin(), submitted.end(), configuration) - submitted.begin());
}

/// What a model of eight measurements tries in a database that knows something of the template already.
std::vector<std::string> begun(Engine& engine) {
  engine.request.strategy = search::StrategyKind::Model;
  engine.request.budget = session::Budget::parse("8");
  MadeUpGpu gpu(engine.fast_ones({{kFastOne, 0}}));
  (void)engine.tune(gpu);
  return gpu.submitted;
}

}  // namespace

TEST_CASE_FIXTURE(Engine, "auto takes all of a space that the budget covers, in the order of the space; of a larger one it chooses") {
  MadeUpGpu all(fast_ones({})), covered(fast_ones({})), part(fast_ones({}));
  request.strategy = search::StrategyKind::Exhaustive;
  (void)tune(all);
  request.strategy = search::StrategyKind::Auto;
  std::filesystem::remove(path());
  CHECK(tune(covered).measured == space.size());
  CHECK(covered.submitted == all.submitted);
  std::filesystem::remove(path());
  request.budget = session::Budget::parse("40");
  CHECK(tune(part).measured == 40);
  CHECK(part.submitted != std::vector(all.submitted.begin(), all.submitted.begin() + 40));
}

TEST_CASE_FIXTURE(Engine, "a search that learns goes on with all that is known: nothing is measured twice, and it counts for the budget") {
  for (const auto kind :
       {search::StrategyKind::Auto, search::StrategyKind::Model, search::StrategyKind::Forest, search::StrategyKind::Local}) {
    CAPTURE(search::name(kind));
    std::filesystem::remove(path());
    MadeUpGpu before(fast_ones({{kFastOne, 0}})), after(fast_ones({{kFastOne, 0}})), enough(fast_ones({}));
    request.strategy = kind;
    request.seed = 1;
    request.budget = session::Budget::parse("40");
    CHECK(tune(before).measured == 40);
    request.seed = 2;  // another order
    request.budget = session::Budget::parse("100");
    const auto result = tune(after);
    CHECK(result.measured == 60);
    CHECK(result.reused == 40);
    std::set<std::string> both(before.submitted.begin(), before.submitted.end());
    both.insert(after.submitted.begin(), after.submitted.end());
    CHECK(both.size() == 100);
    request.seed = 3;
    CHECK(tune(enough).measured == 0);
  }
}

TEST_CASE_FIXTURE(Engine, "what is known tells a search where to look: it goes on around the fastest") {
  const auto gpu_of = [this] { return MadeUpGpu(fast_ones({{kFastOne, 0}})); };
  request.where = {};
  MadeUpGpu first = gpu_of();
  (void)tune(first);  // all of it
  // All but the fastest one's neighbours are forgotten.
  const auto built = space::SearchSpace::build(kernel, request.problems[0], first.device());
  std::set<std::string> neighbours;
  for (const auto neighbour : built.neighbours(kFastOne, space::Neighbourhood::Hamming)) neighbours.insert(space[neighbour]);
  for (const auto& text : neighbours)
    change_database("DELETE FROM records WHERE configuration_key = (SELECT key FROM configurations WHERE text = '" + text + "')");
  request.strategy = search::StrategyKind::Local;
  request.budget = session::Budget::parse(std::to_string(space.size() - neighbours.size() + 3));
  MadeUpGpu second = gpu_of();
  CHECK(tune(second).measured == 3);
  for (const auto& submitted : second.submitted) CHECK(neighbours.contains(submitted));
}

TEST_CASE_FIXTURE(Engine, "without anything known a model does not begin with the fastest") {
  CHECK(place_of(begun(*this), space[kFastOne]) > 2);  // else the next ones say nothing
}

TEST_CASE_FIXTURE(Engine, "a model begins with what was fastest at another size") {
  const auto asked = std::exchange(request.problems, {test::small_problem(4000)});
  MadeUpGpu other(fast_ones({{kFastOne, 0}}));
  (void)tune(other);
  request.problems = asked;
  CHECK(place_of(begun(*this), space[kFastOne]) <= 2);
}

TEST_CASE_FIXTURE(Engine, "a model begins with what was fastest with another version of the template, which had values that are gone") {
  const auto own = std::exchange(kernel, older_version(kernel));
  REQUIRE(kernel.content_hash != own.content_hash);
  MadeUpGpu other([this](const std::string& text) {  // the values that are gone are the fastest of all
    const auto found = ordinals.find(text);
    if (found == ordinals.end()) return test::works(text, 1, 0.01);
    return test::works(text, found->second == kFastOne ? 5 : 10, 0.01);
  });
  (void)tune(other);
  kernel = own;
  const auto tried = begun(*this);
  CHECK(place_of(tried, space[kFastOne]) <= 2);
  CHECK(tried.size() == 8);
}

TEST_CASE_FIXTURE(Engine, "a model begins with what was fastest in a recording that it is given, of another device") {
  auto recording = test::synthetic_recording(
      kernel, request.problems, [this](const std::string& text, std::uint64_t) { return ordinals.at(text) == kFastOne ? 5.0 : 10.0; });
  recording.device.name = "Another GPU";
  recording.device.sm_count = 7;
  recording.save(folder / "other.json");
  request.also_try = {folder / "other.json"};
  CHECK(place_of(begun(*this), space[kFastOne]) <= 2);
}

TEST_CASE_FIXTURE(Engine, "what another file says has won at this very problem is tried before what won at other sizes") {
  constexpr std::size_t kElsewhere = 70;
  const auto asked = std::exchange(request.problems, {test::small_problem(4000)});
  MadeUpGpu other(fast_ones({{kElsewhere, 0}}));
  (void)tune(other);
  request.problems = asked;
  test::synthetic_recording(kernel, request.problems, [this](const std::string& text, std::uint64_t) {
    return ordinals.at(text) == kFastOne ? 5.0 : 10.0;
  }).save(folder / "own.json");
  request.strategy = search::StrategyKind::Auto;
  request.budget = session::Budget::parse("5");
  MadeUpGpu alone(fast_ones({}));
  (void)tune(alone);
  CHECK(place_of(alone.submitted, space[kElsewhere]) == 1);  // behind the default
  CHECK(place_of(alone.submitted, space[kFastOne]) == alone.submitted.size());
  change_database("DELETE FROM records WHERE problem_key = (SELECT key FROM problems WHERE text LIKE '%1000%')");
  request.also_try = {folder / "own.json"};
  MadeUpGpu told(fast_ones({}));
  (void)tune(told);
  CHECK(place_of(told.submitted, space[kFastOne]) == 1);
}

TEST_CASE_FIXTURE(Engine, "what another file says has won at this very problem takes part in the run-off, however slow it is here") {
  {
    auto there = db::Database::open(folder / "there.db", db::OpenMode::ReadWrite);
    MadeUpGpu gpu(fast_ones({{kFastOne, 0}}));
    (void)session::tune(kernel, request, gpu, there, observer);
  }
  request.finalists = session::FinalistRule::of_at_most(1);
  const auto asked_of = [this] {
    std::filesystem::remove(path());
    MadeUpGpu gpu(fast_ones({{12, 0}}));
    const auto result = tune(gpu);
    REQUIRE(result.best);
    CHECK(result.best->configuration == space[12]);
    return base::parse_json(result.best->detail_json).at("asked").get<std::set<std::string>>();
  };
  CHECK(!asked_of().contains(space[kFastOne]));
  request.also_try = {folder / "there.db"};
  request.strategy = search::StrategyKind::Auto;
  const auto asked = asked_of();
  CHECK(asked.contains(space[12]));
  CHECK(asked.contains(space[kFastOne]));
}

TEST_CASE_FIXTURE(Engine,
                  "what another file says has won at this very problem is measured, once, though what is known has used up the budget") {
  request.strategy = search::StrategyKind::Auto;
  request.budget = session::Budget::parse("8");
  MadeUpGpu before(fast_ones({{12, 0}}));
  CHECK(tune(before).measured == 8);
  CHECK(place_of(before.submitted, space[kFastOne]) == before.submitted.size());
  test::synthetic_recording(kernel, request.problems, [this](const std::string& text, std::uint64_t) {
    return ordinals.at(text) == kFastOne ? 5.0 : 10.0;
  }).save(folder / "own.json");
  request.also_try = {folder / "own.json"};
  MadeUpGpu told(fast_ones({{kFastOne, 0}}));
  const auto result = tune(told);
  CHECK(told.submitted == std::vector<std::string>{space[kFastOne]});
  REQUIRE(result.best);
  CHECK(result.best->configuration == space[kFastOne]);
  MadeUpGpu again(fast_ones({{kFastOne, 0}}));
  CHECK(tune(again).measured == 0);
}

TEST_CASE_FIXTURE(Engine, "a budget of one configuration is the default's, however often the command is repeated") {
  test::synthetic_recording(kernel, request.problems, [this](const std::string& text, std::uint64_t) {
    return ordinals.at(text) == kFastOne ? 5.0 : 10.0;
  }).save(folder / "own.json");
  request.also_try = {folder / "own.json"};
  request.strategy = search::StrategyKind::Auto;
  request.budget = session::Budget::parse("1");
  std::vector<std::string> submitted;
  for (int run = 0; run < 4; ++run) {
    MadeUpGpu gpu(fast_ones({{kFastOne, 0}}));
    (void)tune(gpu);
    submitted.insert(submitted.end(), gpu.submitted.begin(), gpu.submitted.end());
  }
  REQUIRE(submitted.size() == 1);
  CHECK(submitted.front() != space[kFastOne]);
}

TEST_CASE_FIXTURE(Engine, "of a small budget what won elsewhere has a half at most") {
  const auto asked = std::exchange(request.problems, {test::small_problem(4000)});
  MadeUpGpu other(fast_ones({}));
  request.budget = session::Budget::parse("2");  // too few to be hints
  (void)tune(other);
  std::set<std::string> winners;
  {
    auto database = open();
    auto row = database.best({}).front();
    for (std::size_t i = 1; i <= 20; ++i) {
      row.problem = spec::to_text(test::small_problem(4000 + static_cast<std::int64_t>(i)));
      row.configuration = space[10 * i];
      winners.insert(row.configuration);
      database.put(row);
    }
  }
  request.problems = asked;
  request.strategy = search::StrategyKind::Auto;
  request.budget = session::Budget::parse("12");
  MadeUpGpu gpu(fast_ones({}));
  (void)tune(gpu);
  const auto of_winners =
      std::count_if(gpu.submitted.begin(), gpu.submitted.end(), [&](const auto& text) { return winners.contains(text); });
  CHECK(of_winners >= 5);
  CHECK(of_winners <= 7);  // the model may hit on one
}

TEST_CASE_FIXTURE(Engine, "hints are no results: what another size measured is measured here, and may be slow") {
  const auto asked = std::exchange(request.problems, {test::small_problem(4000)});
  MadeUpGpu other(fast_ones({{kFastOne, 0}}));
  (void)tune(other);
  request.problems = asked;
  request.strategy = search::StrategyKind::Model;
  request.budget = session::Budget::parse("30");
  MadeUpGpu gpu(fast_ones({}));  // here it is nothing special
  const auto result = tune(gpu);
  CHECK(result.measured == 30);
  CHECK(result.reused == 0);
  REQUIRE(result.best);
  CHECK(result.best->median_us >= 10);
}

TEST_CASE_FIXTURE(Engine, "the budget \"converged\" ends a search of which little is to be gained any more, and says so") {
  request.strategy = search::StrategyKind::Auto;
  request.budget = session::Budget::parse("converged");
  MadeUpGpu gpu([this](const std::string& text) {  // a slope that a model knows after some measurements
    const auto waves = base::parse_json(text)["waves"].get<double>();
    return test::works(text, 10 + waves, 0.01);
  });
  const auto result = tune(gpu);
  CHECK(result.measured < space.size());
  REQUIRE(result.best);
  CHECK(result.best->median_us == doctest::Approx(11));
  CHECK(std::any_of(notices.begin(), notices.end(), [](const auto& notice) { return notice.starts_with("converged on "); }));
}

TEST_CASE_FIXTURE(Engine, "the budget \"converged\" is used up by a search that ended by it: the same command again measures nothing") {
  for (const auto kind : {search::StrategyKind::Auto, search::StrategyKind::Model}) {
    CAPTURE(search::name(kind));
    std::filesystem::remove(path());
    request.strategy = kind;
    request.budget = session::Budget::parse("converged");
    const auto slope = [](const std::string& text) { return test::works(text, 10 + base::parse_json(text)["waves"].get<double>(), 0.01); };
    MadeUpGpu before(slope), again(slope);
    request.run = "first";
    CHECK(tune(before).measured >= 20);
    notices.clear();
    request.run = "second";
    const auto result = tune(again);
    CHECK(result.measured == 0);
    REQUIRE(result.best);
    CHECK(result.best->median_us == doctest::Approx(11));
    CHECK(std::any_of(notices.begin(), notices.end(),
                      [](const auto& notice) { return notice.find(" had converged ") != std::string::npos; }));
  }
}

TEST_CASE_FIXTURE(Engine, "the budget \"converged\" is not used up before what another file says has won was tried") {
  const auto slope = [](const std::string& text) { return test::works(text, 10 + base::parse_json(text)["waves"].get<double>(), 0.01); };
  request.strategy = search::StrategyKind::Auto;
  request.budget = session::Budget::parse("converged");
  request.run = "first";
  MadeUpGpu before(slope), after(slope);
  CHECK(tune(before).measured >= 20);
  const auto untried = std::find_if(space.begin(), space.end(), [&](const std::string& text) {
    return std::find(before.submitted.begin(), before.submitted.end(), text) == before.submitted.end();
  });
  REQUIRE(untried != space.end());
  test::synthetic_recording(kernel, request.problems, [&](const std::string& text, std::uint64_t) {
    return text == *untried ? 5.0 : 10.0;
  }).save(folder / "own.json");
  request.also_try = {folder / "own.json"};
  request.run = "second";
  CHECK(tune(after).measured > 0);
  CHECK(std::find(after.submitted.begin(), after.submitted.end(), *untried) != after.submitted.end());
}

TEST_CASE_FIXTURE(Engine, "the budget \"converged\" is not used up by results of another search, nor where what was known is gone") {
  const auto slope = [](const std::string& text) { return test::works(text, 10 + base::parse_json(text)["waves"].get<double>(), 0.01); };
  request.strategy = search::StrategyKind::Random;
  request.budget = session::Budget::parse("60");
  MadeUpGpu other(slope), first(slope), second(slope);
  request.run = "another search";
  CHECK(tune(other).measured == 60);
  request.strategy = search::StrategyKind::Model;
  request.budget = session::Budget::parse("converged");
  request.run = "first";
  CHECK(tune(first).measured > 0);
  request.run = "second";
  change_database("DELETE FROM records WHERE rowid IN (SELECT rowid FROM records LIMIT 30)");
  CHECK(tune(second).measured > 0);
}

TEST_CASE_FIXTURE(Engine, "the budget \"converged\" goes on while proposals keep their promise") {
  request.strategy = search::StrategyKind::Auto;
  request.budget = session::Budget::parse("converged,60");
  std::size_t measured = 0;
  MadeUpGpu gpu([&measured](const std::string& text) {  // whatever is tried next is faster by two per cent
    return test::works(text, 100 * std::pow(0.98, static_cast<double>(measured++)), 0.01);
  });
  CHECK(tune(gpu).measured == 60);
  CHECK(std::none_of(notices.begin(), notices.end(), [](const auto& notice) { return notice.starts_with("converged on "); }));
}

TEST_CASE_FIXTURE(Engine, "what a launch promises is the share of the device's threads that its grid, blocks and shared memory allow") {
  auto device = spec::DeviceInfo::of_architecture("sm_90");
  device.sm_count = 10;
  device.max_threads_per_sm = 2048;
  device.max_blocks_per_sm = 32;
  device.shared_per_sm_bytes = 1000;
  const auto promise = [&](std::int64_t n, const std::string& configuration) {
    return session::launch_promise(kernel, test::small_problem(n), spec::configuration_from_text(kernel, configuration), device);
  };
  const std::string one_wave = R"({"block_size":128,"items":1,"waves":1})";
  // As many blocks as SMs, each of 128 of 2,048 threads.
  CHECK(promise(1'000'000, one_wave) == doctest::Approx(128.0 / 2048));
  // One block of ten SMs'.
  CHECK(promise(100, one_wave) == doctest::Approx(128.0 / 20480));
  // Twenty waves of 64 threads: shared memory of 320 bytes each leaves three on an SM.
  CHECK(promise(1'000'000, R"({"block_size":64,"items":1,"waves":20})") == doctest::Approx(3 * 64.0 / 2048));
  device.max_threads_per_sm = 0;
  CHECK(promise(100, one_wave) == 1);
}

}  // namespace test_learning
