// A budget of time is a promise, whatever kernels and compilers take: the search ends by then, its run-off has a share of its own, and what
// was verified has a winner.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/integration/fake_gpu/processes.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/measure/gpu_executor.hpp"

namespace test_budgets {

using namespace attune;
using test::FakeGpu;
using test::replaced;

namespace {

constexpr double kRunOff_s = 3;  // of budgets below 15 s
constexpr double kMore_s = 2;    // for starting, preparing and storing

/// The template `brief` with 2 x 200 configurations.
struct Costly : FakeGpu {
  Costly() {
    const std::string source = std::string(ATTUNE_SOURCE_DIR) + "/tests/support/fake_templates/brief/";
    std::string waves = "[1";
    for (int wave = 2; wave <= 200; ++wave) waves += ", " + std::to_string(wave);
    text =
        replaced(base::read_file(source + "template.json"), "[1, 2, 4], \"default\": 1, \"bind\": \"launch\"", waves + "], \"default\": 1");
    code = base::read_file(source + "brief.cu");
    settings["devices"] = {{{"memory_bytes", 4000000000}}};
  }

  void write_template() const {
    std::filesystem::create_directory(folder / "brief");
    test::write_bytes(folder / "brief/template.json", text);
    test::write_bytes(folder / "brief/brief.cu", code);
  }
  /// Kernels of 40 ms and more, which really take that long.
  void make_slow_kernels(int fastest_ms = 40) {
    settings["real_time"] = 1;
    text = replaced(text, "int((20000 + n / 100) * slowdown)",
                    "int(" + std::to_string(fastest_ms) + "000000 * (1 + 0.3 * (block_size == 64) + 0.01 * abs(waves - 100)))");
    write_template();
  }
  /// The reference takes as long, for each set of data and size.
  void make_slow_reference(const std::string& ns) {
    text = replaced(text, R"("fault_code": )", R"("reference_ns": ")" + ns + R"(", "no_fault": "0", "fault_code": )");
    text = replaced(
        text, R"x("synthetic_plain", "grid": "max(1, ceil_div(n, 256))", "block": 256, "args": ["in", "out", "n"])x",
        R"x("synthetic", "grid": "max(1, ceil_div(n, 64))", "block": 64, "args": ["in", "out", "n", "reference_ns", "no_fault"])x");
  }
  /// Those of which the preprocessor's `condition` holds take NVRTC longer than any test lasts.
  void make_slow_compiles(const std::string& condition) {
    code = replaced(code, "  if (time_ns < 0", "#if " + condition + R"(
  float y = static_cast<float>(i);
#pragma unroll
  for (int k = 0; k < 600; ++k) y = sinf(y * static_cast<float>(k)) / (1.0f + cosf(y));
  if (y == 12345.0f) out[0] = 0;
#endif
  if (time_ns < 0)");
    write_template();
  }
  [[nodiscard]] std::vector<std::string> words(const std::vector<std::string>& more, const std::string& strategy = "random") const {
    std::vector<std::string> all{"tune",  (folder / "brief").string(), "--T", "i32", "--end", "well", "--size", "1000", "--strategy",
                                 strategy};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// Runs the command, which keeps the promise: `run_offs` of them may follow the searches.
  [[nodiscard]] test::CommandResult keep_promise(double budget_s, const std::vector<std::string>& words, int run_offs = 1) const {
    const auto begin = std::chrono::steady_clock::now();
    auto result = attune(words);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    CHECK(took.count() < budget_s + run_offs * kRunOff_s + kMore_s);
    CHECK(processes("worker").empty());
    return result;
  }
  /// Whether the command that was started tells so on the way, as what it waits for.
  [[nodiscard]] bool says_that_it_waits_for(const std::string& what) const {
    const auto says_so = [&] {
      if (!std::filesystem::exists(output())) return false;
      const auto events = test::json_lines(base::read_file(output()));
      return std::any_of(events.begin(), events.end(), [&](const auto& event) {
        return event.at("event") == "progress" && event.at("waits_for") == what && event.at("budget_s") == 300 && event.at("elapsed_s") > 0;
      });
    };
    return test::wait_until(says_so, std::chrono::seconds(20));
  }
  /// Interrupts the command, which ends with 130 and all of its processes; returns the seconds that it takes.
  [[nodiscard]] double interrupt(int pid) const {
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(::kill(pid, SIGINT) == 0);
    CHECK(test::wait_for(pid) == 130);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    CHECK(test::wait_until([&] { return processes("").empty(); }, std::chrono::seconds(10)));
    return took.count();
  }
  [[nodiscard]] std::vector<db::BestRow> best() const { return db::Database::open(database, db::OpenMode::ReadOnly).best({}); }

  [[nodiscard]] nlohmann::json detail_of_best() const {
    const auto rows = best();
    REQUIRE(rows.size() == 1);
    return base::parse_json(rows.front().detail_json);
  }
  /// How many configurations run off together at this moment.
  [[nodiscard]] std::size_t running_off() const {
    if (!on_device()) return 0;
    for (const auto& [session, configurations] : db::Database::open(database, db::OpenMode::ReadOnly).in_flight())
      return static_cast<std::size_t>(std::count(configurations.begin(), configurations.end(), '\n')) + 1;
    return 0;
  }

  std::string text, code;  ///< of the template
};

}  // namespace

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

TEST_CASE_FIXTURE(Costly,
                  "what prepares anew after a worker's death ends with the budget, or by an interruption, and what was measured stays") {
  make_slow_reference("700000000");  // several of them: 5 s and more
  text = replaced(text, "1 * (end == 'crash')", "1 * (block_size == 256)");
  make_slow_kernels(1);
  SUBCASE("the budget") {
    const auto result = keep_promise(9, words({"--budget", "9s"}));
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.err.find("fit into the time of the budget") != std::string::npos);
    CHECK(result.err.find("nothing more of") == std::string::npos);
  }
  SUBCASE("an interruption") {
    const int pid = start(words({"--budget", "300s", "--json"}));
    CHECK(test::wait_until([&] { return !records().empty(); }, std::chrono::seconds(60)));
    std::this_thread::sleep_for(std::chrono::seconds(1));  // some worker has died by then, and the next prepares for seconds
    CHECK(interrupt(pid) < kMore_s);
  }
  CHECK_FALSE(records().empty());
  REQUIRE(best().size() == 1);
  CHECK(detail_of_best().at("asked").empty());
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
