// Operations that a template states, on their way into rows, messages and layers.
#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tests/unit/session/replay_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/fleet/fleet_messages.hpp"
#include "tuner/session/tune/exchange_rules.hpp"
#include "tuner/session/tune/layer.hpp"

namespace test_stated_work {

using namespace attune;
using nlohmann::json;
using test::kFast;
using test::times;

namespace {

/// double_it with "work" of its own.
spec::KernelTemplate stating(const std::string& work) {
  std::string text = test::small_template_json();
  const auto begin = text.find("\"work\": {") + 9;
  text.replace(begin, text.find('}', begin) - begin, work);
  return spec::KernelTemplate::parse(text, {{"double_it.cu", test::small_template_source()}}, "double_it/template.json");
}

struct Computing : test::ReplayFixture {
  Computing() { kernel = stating(R"json("bytes": "2 * n * sizeof(T)", "operations": "n * 50.5")json"); }

  json best_detail() const { return base::parse_json(database.best({}).front().detail_json); }
};

}  // namespace

TEST_CASE_FIXTURE(Computing, "what a template states of operations is kept with the result, the best row and the session, rounded") {
  problems = {test::small_problem(1001)};
  auto replay = backend();
  const auto result = session::tune(kernel, request(), replay, database, {});
  CHECK(result.problems.at(0).work.bytes == 8008);
  CHECK(result.problems[0].work.operations == 50551);  // 50550.5
  CHECK(best_detail().at("work_operations") == 50551);
  CHECK(best_detail().at("work_bytes") == 8008);
  CHECK(base::parse_json(database.sessions({}).at(0).summary_json).at("work_operations") == 50551);
}

TEST_CASE_FIXTURE(Computing, "a template that states no operations leaves rows as older versions wrote them") {
  kernel = test::small_template();
  auto replay = backend();
  (void)session::tune(kernel, request(), replay, database, {});
  CHECK_FALSE(best_detail().contains("work_operations"));
  for (const auto& session : database.sessions({})) CHECK_FALSE(base::parse_json(session.summary_json).contains("work_operations"));
}

TEST_CASE_FIXTURE(Computing, "a layer takes the operations from the template, since recordings hold none") {
  const auto layer = session::layer_rows({{test::synthetic_recording(kernel, problems, times(kFast)), "synthetic.json.zst", kernel}});
  REQUIRE(layer.best.size() == 1);
  for (const auto& row : layer.best.front()) {
    const auto n = spec::problem_from_text(row.problem).sizes.at("n");
    CHECK(base::parse_json(row.detail_json).at("work_operations") == n * 101 / 2);
  }
}

TEST_CASE_FIXTURE(Computing, "a device process tells what was stated") {
  session::ProblemResult result;
  result.problem = problems[0];
  result.work = {8000, 50500};
  const auto told = session::messages::result_from(session::messages::result("finished", result));
  CHECK(told.work.bytes == 8000);
  CHECK(told.work.operations == 50500);
}

TEST_CASE_FIXTURE(Computing, "an import takes operations that are a count and nothing else") {
  auto replay = backend();
  (void)session::tune(kernel, request(), replay, database, {});
  session::ExchangeRules rules;
  for (const auto& row : database.devices()) rules.take(row);
  for (const auto& row : database.templates()) rules.take(row);
  auto row = database.best({}).front();
  CHECK_NOTHROW(rules.take(row));
  json detail = best_detail();
  detail["work_operations"] = "many";
  row.detail_json = base::dump_json(detail);
  CHECK_THROWS_WITH_AS(rules.take(row), doctest::Contains("'work_operations' in detail_json is not a count"), Error);
  detail["work_operations"] = 1e300;
  row.detail_json = base::dump_json(detail);
  CHECK_THROWS_WITH_AS(rules.take(row), doctest::Contains("is not a count"), Error);
  row = database.best({}).front();
  row.objective = db::kUnverifiedTime;
  CHECK_THROWS_WITH_AS(rules.take(row), doctest::Contains("only verified times are exchanged"), Error);
}

}  // namespace test_stated_work
