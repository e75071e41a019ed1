// Ranks that meet: threads of this process stand for them.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "attune/runtime.hpp"
#include "tests/unit/runtime/environment.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tests/unit/runtime/ranks_fixture.hpp"
#include "tuner/runtime/agreement.hpp"

namespace test_agreement {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

namespace {

const spec::DeviceInfo kHere = device("sm_90", "NVIDIA H200", 132);

/// Three ranks; the second has a local result.
struct Three {
  spec::KernelTemplate kernel = twice_template();
  Meeting meeting{3};
  std::vector<std::unique_ptr<runtime::Agreement>> ranks;

  Three() {
    for (std::size_t rank = 0; rank < 3; ++rank) ranks.push_back(std::make_unique<runtime::Agreement>(meeting.seat(rank), OnMiss::Default));
    Meeting::run(3, [&](std::size_t rank) { ranks[rank]->open({.attune = "0.2.0"}); });
  }
  [[nodiscard]] runtime::RankPlan own(std::size_t rank, std::int64_t n) const {
    if (rank == 1) return rank_plan(kernel.content_hash, kHere, Tier::ExactSize, configuration(64), 3.5, spec::to_text(twice_problem(n)));
    return rank_plan(kernel.content_hash, kHere, Tier::Default, configuration(256));
  }
  [[nodiscard]] std::vector<runtime::Settled> settle(std::int64_t n) {
    std::vector<runtime::Settled> settled(3);
    Meeting::run(3, [&](std::size_t rank) {
      const runtime::Agreement::Turn turn(*ranks[rank]);
      settled[rank] = ranks[rank]->settle(kernel, twice_problem(n), own(rank, n)).value();
    });
    return settled;
  }
};

/// A folder with the template `twice` and no default databases.
struct Program {
  TempFolder folder;
  Variable user{"ATTUNE_DB", (folder / "user.db").string()};
  Variable shipped{"ATTUNE_SHIPPED_DB", (folder / "shipped.db").string()};
  Options options;

  Program() { options.templates = {write_twice(folder / "templates")}; }
};

template <class Act>
std::string usage_error(Act&& act) {
  try {
    act();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE_FIXTURE(Three,
                  "ranks take one configuration, and those that would have taken another say so with both, their places and a remedy") {
  const auto settled = settle(1000);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CAPTURE(rank);
    CHECK(settled[rank].configuration == configuration(64));
    CHECK(settled[rank].rank == 1);
    CHECK(ranks[rank]->exchanges() == 2);
    CHECK(ranks[rank]->diverged() == 1);
  }
  CHECK(ranks[1]->notices().empty());
  CHECK(settled[1].agreement == "2 of 3 ranks would have taken another configuration, and take this one");
  for (const std::size_t rank : {0, 2}) {
    REQUIRE(ranks[rank]->notices().size() == 1);
    const std::string notice = ranks[rank]->notices()[0];
    CAPTURE(notice);
    for (const auto& part : {"kernel 'twice' at {\"T\":\"f32\",\"n\":1000}: rank " + std::to_string(rank) + " would have taken " +
                                 configuration(256) + " (default)",
                             "all ranks take " + configuration(64) + " of rank 1 (exact size, /data/local.db)",
                             std::string("give all ranks the same databases")}) {
      CHECK(notice.find(part) != std::string::npos);
    }
  }
}

TEST_CASE_FIXTURE(Three, "a problem is exchanged once, whether or not its plan came to be") {
  static_cast<void>(settle(1000));
  CHECK(settle(1000)[0].configuration == configuration(64));
  for (const auto& rank : ranks) {
    CHECK(rank->exchanges() == 2);
    CHECK(rank->notices().size() <= 1);
  }
}

TEST_CASE_FIXTURE(Three, "ranks that are at different problems are told so, each with both problems") {
  std::atomic<int> told{0};
  Meeting::run(3, [&](std::size_t rank) {
    const std::int64_t n = rank == 2 ? 2000 : 1000;
    const runtime::Agreement::Turn turn(*ranks[rank]);
    try {
      static_cast<void>(ranks[rank]->settle(kernel, twice_problem(n), own(rank, n)));
    } catch (const AgreementError& error) {
      const std::string why = error.what();
      told += why.find("\"n\":1000") != std::string::npos && why.find("\"n\":2000") != std::string::npos ? 1 : 0;
    }
  });
  CHECK(told == 3);
}

TEST_CASE_FIXTURE(Program, "a Runtime of which all ranks have the same calls the exchange once, and has no notice of it") {
  Meeting meeting(2);
  std::vector<std::unique_ptr<Runtime>> runtimes(2);
  Meeting::run(2, [&](std::size_t rank) {
    Options mine = options;
    mine.agree = meeting.seat(rank);
    runtimes[rank] = std::make_unique<Runtime>(mine);
  });
  for (const auto& one : runtimes) {
    CHECK(one->counters().exchanges == 1);
    CHECK(one->notices().size() == 2);  // of the two databases that are missing
  }
}

TEST_CASE_FIXTURE(Program, "a rank with a local layer says so when its Runtime is made") {
  LayerFile(folder / "local.db").add(twice_template(), 1000, kHere, configuration(64));
  Meeting meeting(3);
  std::vector<std::vector<std::string>> notices(3);
  Meeting::run(3, [&](std::size_t rank) {
    Options mine = options;
    mine.agree = meeting.seat(rank);
    if (rank == 2) mine.databases = {folder / "local.db"};
    notices[rank] = Runtime(mine).notices();
  });
  REQUIRE(notices[2].size() == 1);
  CHECK(notices[2][0].find("rank 2 differs from rank 0 in what decides plans: databases: 1 result(s) in") != std::string::npos);
  CHECK(notices[0].size() == 2);  // of the two databases that are missing
}

TEST_CASE_FIXTURE(Three, "notices of diverged problems are bounded, and what counts the others is told") {
  constexpr int kProblems = static_cast<int>(runtime::Agreement::kMostNotices) + 20;
  for (int n = 1; n <= kProblems; ++n) static_cast<void>(settle(n));
  const auto notices = ranks[0]->notices();
  CHECK(notices.size() == runtime::Agreement::kMostNotices);
  CHECK(notices.back().find("RuntimeCounters::plans_diverged") != std::string::npos);
  CHECK(ranks[0]->diverged() == kProblems);
}

TEST_CASE_FIXTURE(Three, "on devices of several architectures the notice says so, and does not ask for other databases") {
  std::vector<std::string> notices(3);
  Meeting::run(3, [&](std::size_t rank) {
    auto mine = own(rank, 1000);
    if (rank == 2) mine.device = device("sm_80", "NVIDIA A100", 108);
    const runtime::Agreement::Turn turn(*ranks[rank]);
    CHECK(ranks[rank]->settle(kernel, twice_problem(1000), mine)->configuration == configuration(256));
    for (const auto& notice : ranks[rank]->notices()) notices[rank] += notice;
  });
  CHECK(notices[1].find("several architectures") != std::string::npos);
  CHECK(notices[1].find("databases") == std::string::npos);
}

TEST_CASE("ranks with different Options cannot agree: what they would take is not of one kind") {
  Meeting meeting(2);
  std::vector<std::string> errors(2);
  Meeting::run(2, [&](std::size_t rank) {
    runtime::Agreement agreement(meeting.seat(rank), OnMiss::Default);
    errors[rank] =
        usage_error([&] { agreement.open({.attune = "0.2.0", .options = rank == 0 ? "policy hot/graph" : "policy cold/graph"}); });
  });
  for (const auto& error : errors)
    CHECK(error.find("rank 0 has Options of policy hot/graph, rank 1 of policy cold/graph") != std::string::npos);
}

TEST_CASE_FIXTURE(Program, "where the Runtime of one rank cannot be made, for whatever reason, all ranks are told, and none waits") {
  std::string why, told;
  Options odd = options;
  SUBCASE("a database that is not there") {
    odd.databases = {folder / "absent.db"};
    why = "there is no such file";
    told = "that of rank 1 could not be made: failed opening database layer";
  }
  SUBCASE("a folder whose name the system refuses") {
    odd.templates = {std::string(300, 'x')};
    why = "which is no folder";
    told = "that of rank 1 could not be made";
  }
  Meeting meeting(2);
  std::vector<std::string> errors(2);
  Meeting::run(2, [&](std::size_t rank) {
    Options mine = rank == 1 ? odd : options;
    mine.agree = meeting.seat(rank);
    errors[rank] = usage_error([&] { Runtime runtime(mine); });
  });
  CHECK(errors[1].find(why) != std::string::npos);
  CHECK(errors[0].find(told) != std::string::npos);
}

TEST_CASE_FIXTURE(Program, "tuning on a miss and preparing what happens to be tuned are refused: ranks would diverge") {
  options.agree = [](const std::string& text) { return std::vector<std::string>{text}; };
  for (const auto on_miss : {OnMiss::TuneNow, OnMiss::TuneInBackground}) {
    options.on_miss = on_miss;
    CHECK(usage_error([&] { Runtime runtime(options); }).find("exclude each other") != std::string::npos);
  }
  options.on_miss = OnMiss::Error;
  Runtime runtime(options);
  CHECK(usage_error([&] { runtime.kernel("twice", {{"T", "f32"}}).prepare(); }).find("call prepare with sizes") != std::string::npos);
}

TEST_CASE("ranks with different versions of attune cannot agree") {
  Meeting meeting(2);
  std::vector<std::string> errors(2);
  Meeting::run(2, [&](std::size_t rank) {
    runtime::Agreement agreement(meeting.seat(rank), OnMiss::Default);
    errors[rank] = usage_error([&] { agreement.open({.attune = rank == 0 ? "0.2.0" : "0.3.0"}); });
  });
  for (const auto& error : errors) CHECK(error.find("rank 0 has attune 0.2.0, rank 1 has attune 0.3.0") != std::string::npos);
}

TEST_CASE("notices and counters are to be had while ranks talk, and an exchange that asks for a plan is refused") {
  spec::KernelTemplate kernel = twice_template();
  runtime::Agreement* self = nullptr;
  bool asked = false;
  runtime::Agreement agreement(
      [&](const std::string& text) {
        if (self != nullptr) {
          CHECK(self->notices().empty());
          CHECK(self->exchanges() == 2);
          CHECK_THROWS_AS(runtime::Agreement::Turn{*self}, UsageError);
          asked = true;
        }
        return std::vector<std::string>{text};
      },
      OnMiss::Default);
  agreement.open({.attune = "0.2.0"});
  self = &agreement;
  const runtime::Agreement::Turn turn(agreement);
  CHECK(agreement.settle(kernel, twice_problem(10), rank_plan(kernel.content_hash, kHere, Tier::Default, configuration(256))).has_value());
  CHECK(asked);
}

}  // namespace test_agreement
