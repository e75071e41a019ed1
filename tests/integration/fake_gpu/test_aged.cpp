// Results that have aged, and results that nobody wants any more, while runs go on: renew --aged, doctor, explain, db prune.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/integration/fake_gpu/renew_fixture.hpp"
#include "tests/support/skip.hpp"
#include "tuner/base/json.hpp"

namespace test_aged {

using namespace attune;
using nlohmann::json;
using test::RenewFixture;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(
    RenewFixture,
    "what is under an older driver is renewed with --aged; under a newer one it has not aged; older versions are left alone") {
  if (fs::exists("/proc/driver/nvidia/version")) return test::skip("the machine's own driver stands for the fake one's version");
  tune("1000");
  settings["driver_version"] = 13020;
  const json newer = event(renew({"--aged", "--dry-run", "--json"}), "renewal");
  REQUIRE(newer["renewals"].size() == 1);
  CHECK(newer["renewals"][0]["of_another_driver"] == 1);
  CHECK(newer["out_of_scope"] == 0);
  const json young = event(renew({"--aged", "--older-than", "1d", "--dry-run", "--json"}), "renewal");
  CHECK(young["renewals"].empty());
  CHECK(young["out_of_scope"] == 1);
  environment["ATTUNE_TEMPLATES"] = templates.string();
  const auto looked = attune({"doctor", "--db", database});
  CHECK(mentions(looked.out, "1 problems are of another template, driver or compiler, 1 of them only aged"));
  CHECK(mentions(looked.out, "attune renew --db " + database + " --aged --dry-run"));
  environment.erase("ATTUNE_TEMPLATES");
  const auto explained =
      attune({"explain", (templates / "brief").string(), "--T", "i32", "--end", "well", "--size", "1000", "--db", database});
  CAPTURE(explained.err);
  CHECK(mentions(explained.out, "aged"));
  CHECK(mentions(explained.out, "attune renew --aged --dry-run"));
  settings["driver_version"] = 12040;
  const json older = event(renew({"--aged", "--dry-run", "--json"}), "renewal");
  CHECK(older["renewals"].empty());
  CHECK(older["out_of_scope"] == 1);
  const auto told = renew({"--aged", "--dry-run"});
  CHECK(mentions(told.out, "not asked for: 1 problems"));
  settings["driver_version"] = 13020;
  change_template("a copy with few", "another copy with few");
  CHECK(event(renew({"--aged", "--dry-run", "--json"}), "renewal")["renewals"].empty());
  change_template("another copy with few", "a copy with few");
  const auto result = renew({"--aged", "--json", "--budget", "2"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(event(result, "renewed")["problems"] == 1);
  CHECK(plan()["renewals"].empty());
}

TEST_CASE_FIXTURE(RenewFixture, "an age that is none is a usage error before anything is opened") {
  for (const char* age : {"90", "soon", "-1d", ""}) {
    const auto result = renew({std::string("--older-than=") + age, "--dry-run"});
    CHECK(result.exit_code == 2);
    CHECK(mentions(result.err, "expected an age from 1h to 100y"));
  }
}

TEST_CASE_FIXTURE(RenewFixture, "what a run is tuning stays while everything else is pruned, and the run ends as if nobody had") {
  tune("1000,2000");
  const int running =
      start({"tune", "brief", "--template-folder", templates, "--T", "i32", "--end", "well", "--size", "4000", "--compile-workers", "2"});
  while (!on_device()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  // The worker holds no lock of the database, and its parent waits for it.
  const auto workers = processes("worker-gpu");
  REQUIRE_FALSE(workers.empty());
  for (const int worker : workers) ::kill(worker, SIGSTOP);
  const auto pruned = attune({"db", "prune", "--template", "brief", "--yes", "--json"});
  CAPTURE(pruned.err);
  for (const int worker : workers) ::kill(worker, SIGCONT);
  CHECK(pruned.exit_code == 0);
  const json told = base::parse_json(pruned.out);
  CHECK(told["total"]["best"] == 2);
  CHECK(told["others_write"] == true);
  CHECK(told["problems_in_use"] == 1);
  CHECK(test::wait_for(running) == 0);
  const auto rows = best();
  REQUIRE(rows.size() == 1);
  CHECK(mentions(rows[0].problem, "4000"));
  const auto exported = attune({"db", "export", (folder / "rows.jsonl").string()});
  CHECK_FALSE(mentions(exported.err, "left out"));
  CHECK(attune({"db", "check"}).exit_code == 0);
}

TEST_CASE_FIXTURE(RenewFixture, "a run that was killed holds nothing back") {
  const int running =
      start({"tune", "brief", "--template-folder", templates, "--T", "i32", "--end", "well", "--size", "4000", "--compile-workers", "2"});
  while (!on_device()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ::kill(running, SIGKILL);
  (void)test::wait_for(running);
  const auto pruned = attune({"db", "prune", "--template", "brief", "--yes", "--json"});
  CAPTURE(pruned.err);
  CHECK(pruned.exit_code == 0);
  CHECK(base::parse_json(pruned.out)["total"]["sessions"] == 1);
  CHECK(db::Database::open(database, db::OpenMode::ReadOnly).info().sessions == 0);
}

}  // namespace test_aged
