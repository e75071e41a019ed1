// A budget of time is a promise, whatever kernels and compilers take: the search ends by then, its run-off has a share of its own, and what
// was verified has a winner.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/integration/fake_gpu/costly_fixture.hpp"
#include "tuner/measure/gpu_executor.hpp"

namespace test_budgets {

using namespace attune;
using test::Costly;
using test::kMore_s;
using test::kRunOff_s;
using test::replaced;

TEST_CASE_FIXTURE(Costly, "a search of slow kernels ends by its budget, keeps what was sampled, and names a winner") {
  make_slow_kernels();
  const auto begin = std::chrono::steady_clock::now();
  const auto result = attune(words({"--budget", "4s"}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(took.count() < 4 + kRunOff_s + kMore_s);
  const auto stored = records();
  CHECK(stored.size() >= 2);
  // Who is far behind the best after a single call is let go unverified, and never a best.
  for (const auto& record : stored) CHECK((record.verified || record.stage == "screened"));
  CHECK(result.err.find(std::to_string(stored.size()) + " of the 400 configurations of") != std::string::npos);
  REQUIRE(best().size() == 1);
  for (const auto& record : stored) {
    CHECK(best().front().median_us <= record.median_us * 1.05);
    if (record.configuration == best().front().configuration) CHECK(record.verified);
  }
}

TEST_CASE_FIXTURE(Costly, "a ladder of slow kernels ends by its budget, with a time for every rung") {
  make_slow_kernels();
  test::write_bytes(folder / "brief/ladder.json", R"({"attune_ladder": 1, "defaults": {"T": "i32", "end": "well"}, "rungs": [
    {"name": "small blocks", "why": "30 % too slow", "where": "block_size == 64"}, {"name": "all", "why": "whole", "where": "True"}]})");
  const auto begin = std::chrono::steady_clock::now();
  const auto result = attune({"ladder", (folder / "brief").string(), "--size", "1000", "--strategy", "random", "--compile-workers", "2",
                              "--budget", "6s", "--json"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(took.count() < 6 + kRunOff_s + kMore_s);
  REQUIRE(best().size() == 1);
  nlohmann::json ladder;
  for (const auto& event : test::json_lines(result.out))
    if (event.at("event") == "ladder") ladder = event;
  REQUIRE(ladder.at("rungs").size() == 2);
  CHECK(ladder.at("complete") == true);
  CHECK(ladder.at("ran_off") == true);
  for (const auto& rung : ladder.at("rungs")) CHECK(rung.at("ratio").get<double>() >= 1);
}

TEST_CASE_FIXTURE(Costly, "compiles that would outlast the budget are ended, and what was compiled wins") {
  make_slow_compiles("ATTUNE_WAVES > 1");  // all but the default
  const auto begin = std::chrono::steady_clock::now();
  const auto result = attune(words({"--budget", "3s", "--compile-workers", "2"}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(took.count() < 3 + kRunOff_s + kMore_s);
  CHECK(processes("worker-compile").empty());
  REQUIRE(best().size() == 1);
  CHECK(best().front().configuration.find("\"waves\":1}") != std::string::npos);
  for (const auto& record : records()) CHECK(record.outcome == "ok");  // nothing is blamed for what was ended
}

TEST_CASE_FIXTURE(Costly, "compiles that take far longer than others make way for them, and keep no worker from those that are short") {
  make_slow_compiles("ATTUNE_WAVES == 10 || ATTUNE_WAVES == 11");
  const auto result = attune(words({"--where", "waves <= 12", "--budget", "10s", "--compile-workers", "2"}, "exhaustive"));
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(records().size() == 2 * 10);  // of 24, four of which would hold both workers to the end
  REQUIRE(best().size() == 1);
}

TEST_CASE_FIXTURE(Costly,
                  "a search that is interrupted keeps what was sampled and a best by that, and the same command decides it by a run-off") {
  make_slow_kernels();
  const int pid = start(words({"--budget", "60s"}));
  REQUIRE(test::wait_until([&] { return on_device(); }));
  std::this_thread::sleep_for(std::chrono::seconds(4));  // some are sampled, none as often as it would be
  REQUIRE(::kill(pid, SIGINT) == 0);
  CHECK(test::wait_for(pid) == 130);
  const auto stored = records();
  CHECK(!stored.empty());
  REQUIRE(best().size() == 1);
  CHECK(best().front().detail_json.find("\"asked\":[]") != std::string::npos);
  const auto again = attune(words({"--budget", "2s"}));
  CAPTURE(again.err);
  CHECK(again.exit_code == 0);
  CHECK(records().size() >= stored.size());
  REQUIRE(best().size() == 1);
  CHECK(best().front().detail_json.find("\"asked\":[]") == std::string::npos);
}

TEST_CASE_FIXTURE(Costly, "a reference that compiles for longer than the budget is ended with it, which is told, and nothing is stored") {
  make_slow_compiles("1");  // what the reference's program holds too
  auto command = words({"--budget", "3s", "--compile-workers", "2"});
  SUBCASE("one device") {}
  SUBCASE("several devices") {
    settings["devices"].push_back(settings["devices"].front());
    command.insert(command.end(), {"--device", "all"});
  }
  SUBCASE("a ladder") {
    test::write_bytes(folder / "brief/ladder.json", R"({"attune_ladder": 1, "defaults": {"T": "i32", "end": "well"}, "rungs": [
      {"name": "small blocks", "why": "slow", "where": "block_size == 64"}, {"name": "all", "why": "whole", "where": "True"}]})");
    command = {"ladder", (folder / "brief").string(), "--size", "1000", "--budget", "3s", "--compile-workers", "2"};
  }
  const auto result = keep_promise(3, command, 0);
  CAPTURE(result.err);
  CHECK(result.exit_code == 6);
  CHECK(
      result.err.find("the time of the budget ended while compiling the reference of template \"brief\" with its default configuration") !=
      std::string::npos);
  CHECK(result.err.find("fit into the time") == std::string::npos);
  CHECK(result.out.find("Nothing is left to do") == std::string::npos);
  CHECK(records().empty());
  CHECK(best().empty());
}

TEST_CASE_FIXTURE(Costly, "a run that compiles its reference says so, and an interruption ends that compilation") {
  make_slow_compiles("1");
  auto command = words({"--budget", "300s", "--json"});
  SUBCASE("one device") {}
  SUBCASE("several devices") {
    settings["devices"].push_back(settings["devices"].front());
    command.insert(command.end(), {"--device", "all"});
  }
  const int pid = start(command);
  CHECK(says_that_it_waits_for("compiling the reference of template \"brief\" with its default configuration"));
  CHECK(interrupt(pid) < kMore_s);
  CHECK(records().empty());
}

TEST_CASE_FIXTURE(Costly, "a reference that computes for longer than the budget is ended with it, or by an interruption") {
  make_slow_reference("30000000000");
  make_slow_kernels();
  SUBCASE("the budget") {
    const auto result = keep_promise(10, words({"--budget", "10s"}), 0);  // enough to compile, also on a loaded machine
    CAPTURE(result.err);
    CHECK(result.exit_code == 6);
    CHECK(result.err.find("the time of the budget ended while preparing inputs and what is expected of them") != std::string::npos);
  }
  SUBCASE("an interruption") {
    const int pid = start(words({"--budget", "300s", "--json"}));
    CHECK(says_that_it_waits_for("preparing inputs and what is expected of them"));
    CHECK(interrupt(pid) < kMore_s);
  }
  CHECK(records().empty());
  CHECK(best().empty());
}

TEST_CASE_FIXTURE(Costly, "an interruption while finalists are verified leaves the best to the search's medians") {
  make_slow_kernels(100);  // verifying one of them takes seconds
  const auto command = words({"--budget", "6"});
  const int pid = start(command);
  CHECK(test::wait_until([&] { return records().size() == 6; }, std::chrono::seconds(60)));
  CHECK(interrupt(pid) < kMore_s);
  CHECK(detail_of_best().at("asked").empty());
  settings["real_time"] = 0;
  CHECK(attune(command).exit_code == 0);
  CHECK_FALSE(detail_of_best().at("asked").empty());
}

TEST_CASE_FIXTURE(Costly, "an interruption ends a run-off, whose epochs decide with their code until the same command goes on with it") {
  make_slow_kernels(60);
  const auto command = words({"--budget", "6"});
  const int pid = start(command);
  std::size_t most = 0, now = 0;
  const auto somebody_left = [&] {  // the default, which is far behind: an epoch is over
    now = running_off();
    most = std::max(most, now);
    return most > measure::GpuExecutor::kQueueLength && now > 0 && now < most;  // a search has as many in hand
  };
  REQUIRE(test::wait_until(somebody_left, std::chrono::seconds(60)));
  CHECK(interrupt(pid) < kMore_s);
  const auto stopped = detail_of_best();
  CHECK_FALSE(stopped.at("asked").empty());
  CHECK_FALSE(best().front().cubin_key.empty());
  settings["real_time"] = 0;
  CHECK(attune(command).exit_code == 0);
  CHECK(detail_of_best().at("asked") == stopped.at("asked"));
  CHECK(detail_of_best().at("rounds") > stopped.at("rounds"));
}

TEST_CASE_FIXTURE(Costly, "finalists of an earlier run are verified again only where that ends in the run-off's share") {
  make_slow_kernels(200);  // verifying one of them takes seconds
  for (const int budget_s : {10, 6, 3}) {
    CAPTURE(budget_s);
    const auto result = keep_promise(budget_s, words({"--budget", std::to_string(budget_s) + "s"}));
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    REQUIRE(best().size() == 1);
    for (const auto& record : records())
      if (record.configuration == best().front().configuration) CHECK(record.verified);
  }
}

TEST_CASE_FIXTURE(Costly, "a search that its time ended says nothing of all that was decided before, and one that knows all does") {
  make_slow_compiles("ATTUNE_WAVES > 1");
  const auto nothing_left = [&](const std::vector<std::string>& more) {
    auto command = words({"--compile-workers", "1", "--json"});
    command.insert(command.end(), more.begin(), more.end());
    for (const auto& event : test::json_lines(attune(command).out))
      if (event.at("event") == "problem") return event.at("nothing_left").get<bool>();
    FAIL("no problem was done");
    return false;
  };
  const std::string fast = "waves == 1 and block_size == 64";
  CHECK_FALSE(nothing_left({"--budget", "60s", "--where", fast}));  // it is measured
  CHECK(nothing_left({"--budget", "60s", "--where", fast}));
  CHECK_FALSE(nothing_left({"--budget", "2s", "--where", "waves <= 2 and block_size == 64"}));
  CHECK(records().size() == 1);
  const auto told = attune(words({"--compile-workers", "1", "--budget", "2s"}));
  CHECK(told.out.find("Nothing is left to do") == std::string::npos);
}

}  // namespace test_budgets
