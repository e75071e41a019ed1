// A search of a part of the space: what it tries, and what it leaves alone.
#include <doctest/doctest.h>

#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/fleet/fleet_messages.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/spec/condition.hpp"

namespace test_restricted {

using namespace attune;

namespace {

struct Fixture {
  test::TempFolder folder;
  spec::KernelTemplate kernel = test::small_template();
  db::Database database = db::Database::open(folder / "tune.db", db::OpenMode::ReadWrite);
  std::vector<std::string> notices;

  session::ReplayBackend backend() const {
    return {test::synthetic_recording(kernel, {test::small_problem(1000)},
                                      [](const std::string&, std::uint64_t i) { return 10.0 + static_cast<double>(i); }),
            "synthetic.json.zst", kernel};
  }
  session::TuneRequest request(const std::vector<std::string>& where) const {
    session::TuneRequest request;
    request.problems = {test::small_problem(1000)};
    for (const auto& text : where) request.where.push_back(spec::parse_condition(kernel, text, {"--where", 1, 1}));
    return request;
  }
  session::ProblemResult tune(const std::vector<std::string>& where) {
    auto replay = backend();
    session::Observer observer;
    observer.notice = [this](const std::string& text) { notices.push_back(text); };
    return session::tune(kernel, request(where), replay, database, observer).problems.at(0);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a best without a record of its own stays while a search of a part finds nothing faster") {
  // As an import of best rows alone leaves it.
  auto best = tune({}).best.value();
  test::TempFolder other;
  auto fresh = db::Database::open(other / "tune.db", db::OpenMode::ReadWrite);
  const auto device = backend().device();
  fresh.put(db::DeviceRow{device.hard_key(), device.hard_json(), base::dump_json(device.to_json())});
  fresh.put(db::TemplateRow{kernel.content_hash, kernel.name, kernel.spec_text, kernel.files});
  fresh.put(best);
  database = std::move(fresh);
  const auto slower = tune({"block_size == 512"});
  CHECK(slower.best->configuration == best.configuration);
  CHECK(database.best({}).at(0).median_us == best.median_us);
  REQUIRE(slower.restricted.has_value());
  CHECK(slower.restricted->size == 4);
  CHECK(slower.restricted->configuration != best.configuration);
  CHECK(slower.restricted->median_us > best.median_us);
  CHECK(notices.back().find("stays") != std::string::npos);
  // The part that holds it answers for it, and may replace it.
  const auto same = tune({"block_size == 64"});
  CHECK(same.best->configuration == best.configuration);
  CHECK(base::parse_json(same.best->detail_json).at("asked").size() > 0);
}

TEST_CASE_FIXTURE(Fixture, "a share of the budget is a share of the part that is searched") {
  auto half = request({"block_size <= 128"});  // 2 * 3 * 2 configurations
  half.budget = session::Budget::parse("50%");
  auto replay = backend();
  CHECK(session::tune(kernel, half, replay, database, {}).problems.at(0).measured == 6);
}

TEST_CASE_FIXTURE(Fixture, "a condition that is always true searches the whole space, one that is never true nothing") {
  const auto whole = tune({"True"});
  CHECK(whole.measured == whole.space_size);
  CHECK(whole.restricted->size == whole.space_size);
  const auto nothing = tune({"items > 4"});
  CHECK(nothing.measured == 0);
  CHECK(nothing.restricted->size == 0);
  CHECK(nothing.restricted->configuration.empty());
  CHECK(nothing.best.has_value());  // that of the search before
}

TEST_CASE_FIXTURE(Fixture, "device processes get the conditions with their places, and how many run off for how long") {
  auto sent = request({"items > 1", "waves == 2"});
  sent.finalists = session::FinalistRule::of_at_most(2);
  sent.race = session::Race::Options::of_at_most(6);
  const auto got = session::messages::hello_from(session::messages::hello(kernel, sent, {}, "tune.db")).request;
  REQUIRE(got.where.size() == 2);
  CHECK(got.where[1].expression.text() == "waves == 2");
  CHECK(got.where[1].expression.position().file == "--where");
  CHECK(got.where[1].expression.position().column == 1);
  CHECK(got.finalists.most == 2);
  CHECK(got.finalists.fewest == 2);
  CHECK(!got.finalists.grows);
  CHECK(got.race.most == 6);
  CHECK(got.race.fewest == 6);
  const session::FinalistRule standard,
      same = session::messages::hello_from(session::messages::hello(kernel, request({}), {}, "tune.db")).request.finalists;
  CHECK(same.grows);
  CHECK(same.most == standard.most);
  CHECK(same.fewest == standard.fewest);
}

}  // namespace test_restricted
