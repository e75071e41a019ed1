// Configurations that make the same launches are tried once, under one name, whatever earlier versions stored.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "db/database.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/session/made_up_gpu.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/session/tune/store.hpp"
#include "tuner/session/variants/ladder_run.hpp"
#include "tuner/space/launch_classes.hpp"
#include "tuner/spec/condition.hpp"

namespace test_one_launch {

using namespace attune;
using test::MadeUpGpu;

namespace {

/// Three values of "waves", of which a small problem fills one: 11 launches of 33 configurations at n = 1000.
spec::KernelTemplate wavy_template() {
  std::string text = test::small_template_json();
  const auto replace = [&](const std::string& from, const std::string& to) { text.replace(text.find(from), from.size(), to); };
  replace(R"("waves": {"values": [1, 2], "default": 1)", R"("waves": {"values": [1, 2, 4], "default": 2)");
  replace(R"("shared": "16 * waves", )", "");
  return spec::KernelTemplate::parse(text, {{"double_it.cu", test::small_template_source()}}, "double_it/template.json");
}

struct OneLaunch {
  test::TempFolder folder;
  spec::KernelTemplate kernel = wavy_template();
  session::TuneRequest request;
  session::Observer observer;

  OneLaunch() { request.problems = {test::small_problem(1000)}; }

  [[nodiscard]] db::Database open() const { return db::Database::open(folder / "tune.db", db::OpenMode::ReadWrite); }
  session::ProblemResult tune(session::Backend& gpu) {
    auto database = open();
    return session::tune(kernel, request, gpu, database, observer).problems.at(0);
  }
  [[nodiscard]] static MadeUpGpu gpu() {
    return MadeUpGpu(
        [](const std::string& text) { return test::works(text, 1000.0 / base::parse_json(text)["block_size"].get<double>(), 0.01); });
  }
};

std::string with_waves(const std::string& configuration, int waves) {
  auto changed = base::parse_json(configuration);
  changed["waves"] = waves;
  return base::dump_json(changed);
}

std::set<int> waves_of(const std::vector<std::string>& configurations) {
  std::set<int> waves;
  for (const auto& text : configurations) waves.insert(base::parse_json(text)["waves"].get<int>());
  return waves;
}

}  // namespace

TEST_CASE_FIXTURE(OneLaunch, "each launch is measured once, by the name nearest to the default, and counted once") {
  auto first = gpu();
  const auto result = tune(first);
  CHECK(result.space_size == 33);
  CHECK(result.different_launches == 11);
  CHECK(result.measured == 11);
  CHECK(waves_of(first.submitted) == std::set<int>{2});
  CHECK(open().records({}).size() == 11);
  auto again = gpu();
  const auto second = tune(again);
  CHECK(again.submitted.empty());
  CHECK(second.reused == 11);
  CHECK(second.nothing_left);
}

TEST_CASE_FIXTURE(OneLaunch, "a budget counts launches: ten of eleven, and a share of eleven") {
  request.budget = session::Budget::parse("10");
  auto first = gpu();
  CHECK(tune(first).measured == 10);
  request.budget = session::Budget::parse("100%");
  auto rest = gpu();
  CHECK(tune(rest).measured == 1);
}

TEST_CASE_FIXTURE(OneLaunch, "where launches differ every configuration is measured") {
  request.problems = {test::small_problem(100'000'000)};
  auto large = gpu();
  const auto result = tune(large);
  CHECK(result.measured == 33);
  CHECK(result.different_launches == 33);
}

TEST_CASE_FIXTURE(OneLaunch, "a part that holds one name of a launch only is tried by that name") {
  request.where = {spec::parse_condition(kernel, "waves == 4", {"--where", 1, 1})};
  auto part = gpu();
  CHECK(tune(part).measured == 11);
  CHECK(waves_of(part.submitted) == std::set<int>{4});
  // What is known by one name need not be tried by another.
  request.where.clear();
  auto whole = gpu();
  const auto result = tune(whole);
  CHECK(whole.submitted.empty());
  CHECK(result.reused == 11);
  REQUIRE(result.best.has_value());
}

TEST_CASE_FIXTURE(OneLaunch, "what an older version measured under several names runs off once, under the one that stands for all") {
  auto first = gpu();
  REQUIRE(tune(first).best.has_value());
  {
    auto database = open();
    for (auto row : database.records({})) {
      for (const int waves : {1, 4}) {
        auto twin = row;
        twin.configuration = with_waves(row.configuration, waves);
        auto detail = base::parse_json(row.detail_json);
        detail["configuration"] = twin.configuration;
        for (const char* field : {"median_us", "low_us", "high_us", "min_us"}) {
          if (detail.contains(field)) detail[field] = detail[field].get<double>() * (waves == 1 ? 0.999 : 1.001);
        }
        twin.detail_json = base::dump_json(detail);
        twin.median_us *= waves == 1 ? 0.999 : 1.001;
        database.put(twin);
      }
    }
    database.forget_best({kernel.content_hash, std::nullopt, spec::to_text(request.problems[0]), first.device().hard_key(), "cold/graph"});
    REQUIRE(database.records({}).size() == 33);
  }
  auto again = gpu();
  const auto result = tune(again);
  CHECK(again.submitted.empty());
  REQUIRE(result.best.has_value());
  const auto asked = base::parse_json(result.best->detail_json)["asked"].get<std::vector<std::string>>();
  CHECK(asked.size() >= 6);
  CHECK(waves_of(asked) == std::set<int>{2});
  CHECK(std::set<std::string>(asked.begin(), asked.end()).size() == asked.size());
}

TEST_CASE_FIXTURE(OneLaunch, "a recording that has a launch under another name answers for it") {
  session::Recording recording;
  {
    auto first = gpu();
    (void)tune(first);
    auto database = open();
    recording = session::extract_recording(database, kernel, request.problems, first.device().hard_key(), "cold/graph", "measured");
    CHECK(recording.coverage == "whole space");
  }
  for (auto& measurement : recording.problems.at(0).measurements) measurement.configuration = with_waves(measurement.configuration, 4);
  for (auto& finalist : recording.problems.at(0).finalists) finalist = with_waves(finalist, 4);
  for (auto& left : recording.problems.at(0).left) left.configuration = with_waves(left.configuration, 4);
  session::ReplayBackend replay(recording, "made-up.json", kernel);
  auto database = db::Database::open(folder / "replayed.db", db::OpenMode::ReadWrite);
  const auto result = session::tune(kernel, request, replay, database, observer).problems.at(0);
  CHECK(result.measured == 11);
  CHECK(result.not_recorded == 0);
  REQUIRE(result.best.has_value());
  CHECK(base::parse_json(result.best->configuration)["waves"] == 4);
}

TEST_CASE_FIXTURE(OneLaunch,
                  "when the table of defaults changes the new default is known by the name under which its launches were measured") {
  request.finalists.fewest = 1;
  auto first = gpu();
  const auto before = tune(first);
  REQUIRE(before.best.has_value());
  CHECK(before.best->default_us > 0);
  // The same launches by another name; the version of the template stays.
  auto files = kernel.parts();
  files[spec::kDefaultsFile] = R"({"attune_defaults": 1, "rows": [{"use": {"waves": 4}}]})";
  const auto tabled = spec::KernelTemplate::parse(kernel.spec_text, files, kernel.spec_path);
  REQUIRE(tabled.content_hash == kernel.content_hash);
  auto again = gpu();
  auto database = open();
  database.forget_best({kernel.content_hash, std::nullopt, spec::to_text(request.problems[0]), first.device().hard_key(), "cold/graph"});
  const auto after = session::tune(tabled, request, again, database, observer).problems.at(0);
  CHECK(again.submitted.empty());
  REQUIRE(after.best.has_value());
  CHECK(after.best->default_us == before.best->default_us);
}

TEST_CASE_FIXTURE(OneLaunch, "a budget of time is spent on measuring, and a budget above the launches ends with them") {
  request.budget = session::Budget::parse("30");
  std::uint64_t done = 0, total = 0;
  observer.progress = [&](const session::Progress& progress) { done = progress.done, total = progress.total; };
  auto first = gpu();
  CHECK(tune(first).measured == 11);
  CHECK(done == 11);
  CHECK(total == 11);
  request.problems = {test::small_problem(2000)};
  request.budget = session::Budget::parse("60s");
  auto second = gpu();
  const auto result = tune(second);
  CHECK(result.measured == 11);
  CHECK(result.different_launches == 0);  // not counted
}

TEST_CASE_FIXTURE(OneLaunch,
                  "of a launch that works by one name and failed by another, as older versions stored it, the working one counts") {
  auto first = gpu();
  (void)tune(first);
  {
    auto database = open();
    auto row = database.records({}).front();
    auto twin = row;
    twin.configuration = with_waves(row.configuration, 4);
    auto detail = base::parse_json(row.detail_json);
    detail["configuration"] = twin.configuration;
    twin.detail_json = base::dump_json(detail);
    database.put(twin);
    row.outcome = "timed_out";
    detail["configuration"] = row.configuration;
    detail["outcome"] = "timed_out";
    row.detail_json = base::dump_json(detail);
    database.replace(row);
  }
  auto again = gpu();
  const auto result = tune(again);
  CHECK(again.submitted.empty());
  CHECK(result.failed.empty());
  CHECK(result.reused == 11);
}

TEST_CASE_FIXTURE(OneLaunch, "a configuration whose launches cannot be worked out is alone, and stops no search that leaves it out") {
  std::string text = kernel.spec_text;
  const std::string from = R"x("args": ["in", "out", "n"]}],)x";
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), R"x("shared": "16 * (3 - waves)", "args": ["in", "out", "n"]}],)x");
  kernel = spec::KernelTemplate::parse(text, kernel.files, kernel.spec_path);
  request.where = {spec::parse_condition(kernel, "waves < 4", {"--where", 1, 1})};
  auto part = gpu();
  const auto result = tune(part);
  CHECK(result.measured == 22);
  CHECK(result.best.has_value());
}

TEST_CASE_FIXTURE(OneLaunch, "of more launch-bound values than can be tried each configuration is by itself") {
  std::string text = kernel.spec_text;
  const std::string from = R"("waves": {"values": [1, 2, 4])";
  std::string many = R"("waves": {"values": [1, 2)";
  for (int i = 3; i <= 600; ++i) many += ", " + std::to_string(i);
  text.replace(text.find(from), from.size(), many + "]");
  const auto wide = spec::KernelTemplate::parse(text, kernel.files, kernel.spec_path);
  const auto device = gpu().device();
  const auto space = space::SearchSpace::build(wide, request.problems[0], device);
  space::LaunchClasses classes(wide, request.problems[0], device, space);
  CHECK(classes.count() == space.size());
}

TEST_CASE_FIXTURE(OneLaunch, "rungs whose winners make the same launches run off once, and share a time") {
  MadeUpGpu counting([](const std::string& text) {
    const auto configuration = base::parse_json(text);
    return test::works(text, 1000.0 / configuration["block_size"].get<double>() + 0.001 * configuration["waves"].get<double>(), 0.0001);
  });
  const auto ladder = spec::VariantLadder::parse(kernel, R"({"attune_ladder": 1, "summary": "s", "rungs": [
      {"name": "one", "why": "w", "where": "waves == 1"}, {"name": "four", "why": "w", "where": "waves == 4"},
      {"name": "small", "why": "w", "where": "block_size == 64"}]})",
                                                 "ladder.json");
  auto database = open();
  session::LadderRequest asked;
  asked.tune = request;
  const auto run = session::run_ladder(kernel, ladder, asked, counting, database, {});
  const auto& rungs = run.problems.at(0).rungs;
  REQUIRE(rungs.size() == 3);
  REQUIRE(!counting.run_offs.empty());
  CHECK(counting.run_offs.back().finalists == 2);
  CHECK(base::parse_json(rungs[0].configuration)["waves"] == 1);
  CHECK(base::parse_json(rungs[1].configuration)["waves"] == 4);
  CHECK(rungs[0].median_us == rungs[1].median_us);
  CHECK(rungs[2].median_us > rungs[1].median_us);
}

}  // namespace test_one_launch
