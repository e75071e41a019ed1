// attune renew that ends before everything is renewed: by its budget, by a signal, by configurations that all fail, without a database.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>

#include <filesystem>

#include "tests/integration/fake_gpu/processes.hpp"
#include "tests/integration/fake_gpu/renew_fixture.hpp"
#include "tests/support/skip.hpp"
#include "tuner/base/json.hpp"

namespace test_unfinished_renewals {

using namespace attune;
using nlohmann::json;
using test::RenewFixture;
namespace fs = std::filesystem;

TEST_CASE_FIXTURE(RenewFixture, "a budget that ends before what had won is measured leaves it in its place") {
  if (fs::exists("/proc/driver/nvidia/version")) return test::skip("the machine's own driver stands for the fake one's version");
  tune("1000");
  const auto before = best().front();
  settings["driver_version"] = 13020;
  const auto result = renew({"--budget", "1"});  // the default alone, which is slower
  CHECK(best().front().configuration == before.configuration);
  CHECK(best().front().driver == before.driver);
  CHECK(result.err.find("stays as it was") != std::string::npos);
  CHECK(result.out.find("Renewed 0 of 1") != std::string::npos);
  CHECK(plan()["renewals"][0]["problems"] == 1);
  REQUIRE(renew({"--budget", "2"}).exit_code == 0);  // and then what had won
  CHECK(best().front().configuration == before.configuration);
  CHECK(best().front().driver != before.driver);
}

TEST_CASE_FIXTURE(RenewFixture,
                  "of another version of the template, too, nothing takes the place of what had won before that was measured") {
  tune("1000,2000");
  change_template("a copy with few", "a copy of few");
  for (const std::vector<std::string>& devices : {std::vector<std::string>{}, {"--device", "all"}}) {
    if (!devices.empty()) settings["devices"] = {json::object(), json::object()};
    std::vector<std::string> words = {"--budget", "1", "--json"};  // the default alone, which is slower
    words.insert(words.end(), devices.begin(), devices.end());
    const auto result = renew(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(event(result, "renewed")["problems"] == 0);
    CHECK(event(result, "renewed")["not_reached"] == 2);
    CHECK(event(result, "renewed")["time_is_up"] == false);
    CHECK(best().size() == 2);
    CHECK(plan()["renewals"][0]["problems"] == 2);
  }
  CHECK(renew({"--budget", "1"}).out.find("until a larger --budget measures what had won there") != std::string::npos);
  REQUIRE(renew({"--budget", "2"}).exit_code == 0);
  for (const char* n : {"1000", "2000"})
    CHECK(base::parse_json(newest(fmt::format(R"({{"T":"i32","end":"well","n":{}}})", n)).configuration) == configuration(256, 2));
  CHECK(plan()["current"] == 2);
}

TEST_CASE_FIXTURE(RenewFixture, "time that is up within a template is told once, and is no failure") {
  tune("1000,2000,3000,4000,5000,6000");
  change_template("a copy with few", "a copy of few");
  const auto told = renew({"--budget", "20ms"});  // starting the process of the GPU takes longer
  CAPTURE(told.err);
  CHECK(told.exit_code == 0);
  CHECK(told.out.find("The time is up: the same command continues.") != std::string::npos);
  CHECK(told.err.find("has no new result") == std::string::npos);
  const auto result = renew({"--budget", "20ms", "--json"});
  CHECK(result.exit_code == 0);
  const json renewed = event(result, "renewed");
  CHECK(renewed["time_is_up"] == true);
  CHECK(renewed["problems"].get<int>() + renewed["not_reached"].get<int>() == renewed["of"].get<int>());
  REQUIRE(renew().exit_code == 0);
  CHECK(plan()["current"] == 6);
}

TEST_CASE_FIXTURE(RenewFixture,
                  "where all fails under the new version each run says so and fails, also when nothing is measured any more") {
  tune("1000");
  change_template("1 * (end == 'crash')", "1 * (end == 'well')");
  for (int run = 0; run < 2; ++run) {
    const auto result = renew();
    CAPTURE(result.err);
    CHECK(result.exit_code == 6);
    CHECK(result.err.find("has no new result") != std::string::npos);
    CHECK(result.out.find("Renewed 0 of 1") != std::string::npos);
    CHECK(result.out.find("budget") == std::string::npos);
  }
  CHECK(best().size() == 1);
}

TEST_CASE_FIXTURE(RenewFixture, "Ctrl-C ends a renewal with 130, and the same command renews the rest") {
  tune("1000,2000,3000,4000,5000,6000");
  change_template("a copy with few", "a copy of few");
  settings["real_time"] = 10;
  const int pid = start({"renew", "--template-folder", templates, "--compile-workers", "2"});
  REQUIRE(test::wait_until([&] { return records().size() > 6 * 6; }));
  REQUIRE(::kill(pid, SIGINT) == 0);
  CHECK(test::wait_for(pid) == 130);
  const auto left = plan()["renewals"];
  REQUIRE(left.size() == 1);
  CHECK(left[0]["problems"].get<int>() > 0);
  CHECK(best().size() >= 6);
  settings["real_time"] = 0;
  REQUIRE(renew().exit_code == 0);
  CHECK(plan()["current"] == 6);
  CHECK(best().size() == 12);
}

TEST_CASE_FIXTURE(RenewFixture, "without a database, or without time, nothing is renewed and nothing is lost") {
  const auto none = renew();
  CHECK(none.exit_code == 5);
  CHECK(none.err.find("there is no such file") != std::string::npos);
  CHECK_FALSE(fs::exists(database));
  tune("1000");
  change_template("a copy with few", "a copy of few");
  CHECK(renew({"--budget", "nonsense"}).exit_code == 2);
  CHECK(best().size() == 1);
}

}  // namespace test_unfinished_renewals
