// attune fleet: problems divided among tasks that may be killed at any time and go on elsewhere, and what they merge to.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>

#include "tests/integration/fake_gpu/fleet_fixture.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/write_bytes.hpp"

namespace test_fleet {

using namespace attune;
using nlohmann::json;
using test::FleetWorld;
using test::mentions;
namespace fs = std::filesystem;

TEST_CASE_FIXTURE(FleetWorld,
                  "a plan has every problem in one shard and the control in all; the same command finds it, another is refused") {
  make_plan();
  std::map<std::string, int> shards_of;
  for (int shard = 0; shard < 3; ++shard) {
    for (const auto& line : lines_in(fs::path(plan) / ("shards/000" + std::to_string(shard) + ".jsonl"))) ++shards_of[line];
  }
  CHECK(shards_of.size() == 6);
  CHECK(std::count_if(shards_of.begin(), shards_of.end(), [](const auto& one) { return one.second == 3; }) == 1);
  CHECK(std::count_if(shards_of.begin(), shards_of.end(), [](const auto& one) { return one.second == 1; }) == 5);
  const auto again = attune(plan_words());
  CHECK(again.exit_code == 0);
  CHECK(mentions(again.out, "the plan was there already"));
  const auto other = attune(plan_words({"--seed", "2"}));
  CHECK(other.exit_code == 2);
  CHECK(mentions(other.err, "another plan is there"));
  CHECK(attune(plan_words()).exit_code == 0);
}

TEST_CASE_FIXTURE(FleetWorld, "more shards than problems are refused with the number that fits, and so is what a node decides") {
  auto words = plan_words();
  std::replace(words.begin(), words.end(), std::string("3"), std::string("7"));
  const auto refused = attune(words);
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, "give --shards 5 or less"));
  CHECK(attune(plan_words({"--device", "0"})).exit_code == 2);
  CHECK_FALSE(fs::exists(fs::path(plan) / "manifest.json"));
}

TEST_CASE_FIXTURE(FleetWorld, "shards merge to what one machine measures, whatever the order and however often they are merged") {
  make_plan();
  run_shard(2);
  const auto early = merge((folder / "in-parts.db").string());
  CHECK(early["shards"][2]["state"] == "finished");
  CHECK(early["shards"][0]["state"] == "missing");
  run_shard(0);
  run_shard(1);
  const auto report = merge((folder / "all.db").string(), {"--strict"});
  CHECK(report["complete"] == true);
  CHECK(report["rows"]["records"] == (6 + 2) * kSpace);
  CHECK(report["stored"]["best"].get<int>() >= 6);
  for (const auto& shard : report["shards"]) {
    CHECK(shard["devices"][0]["name"] == "Fake GPU");
    CHECK_FALSE(shard["devices"][0]["uuid"].get<std::string>().empty());
    CHECK(shard["controls"][0]["compared"] == kSpace);
    CHECK(shard["controls"][0]["disagrees"] == false);
  }
  (void)merge((folder / "in-parts.db").string());
  CHECK(exported((folder / "in-parts.db").string()) == exported((folder / "all.db").string()));
  REQUIRE(attune({"db", "merge", "--db", (folder / "by-hand.db").string(), result(1, ".db").string(), result(2, ".db").string(),
                  result(0, ".db").string()})
              .exit_code == 0);
  CHECK(exported((folder / "by-hand.db").string()) == exported((folder / "all.db").string()));
  auto one = tune_words("none");
  std::replace(one.begin(), one.end(), std::string("1000"), std::string(kSizes));
  REQUIRE(attune(one).exit_code == 0);
  CHECK(measured_in(database) == measured_in(folder / "all.db"));
}

TEST_CASE_FIXTURE(FleetWorld, "a shard is the task's number in a Slurm array or an Indexed Job, and a finished one is left as it is") {
  make_plan();
  const std::vector<std::string> words = {"fleet", "run", plan, "--compile-workers", "2"};
  const auto none = attune(words);
  CHECK(none.exit_code == 2);
  CHECK(mentions(none.err, "give --shard"));
  environment["JOB_COMPLETION_INDEX"] = "1";
  CHECK(attune(words).exit_code == 0);
  CHECK(is_there(1, ".db"));
  environment["SLURM_ARRAY_TASK_ID"] = "1";
  environment["JOB_COMPLETION_INDEX"] = "2";
  const auto again = attune(words);
  CHECK(again.exit_code == 0);
  CHECK(mentions(again.out, "shard 1: was finished before"));
  CHECK_FALSE(is_there(2, ".db"));
  environment["SLURM_ARRAY_TASK_ID"] = "3";
  CHECK(attune(words).exit_code == 2);
  CHECK(lines_in(result(1, ".runs.jsonl")).size() == 1);
}

TEST_CASE_FIXTURE(FleetWorld, "a task that is killed goes on, on another node, from what was published, and measures nothing of it again") {
  make_plan();
  const std::size_t before = run_and_kill(0);
  CHECK(before >= kSpace);
  environment["TMPDIR"] = node("b");
  const auto next = attune(run_words(0, {"--json"}));
  CHECK(next.exit_code == 0);
  CHECK(measured_by(next) + before == records_in(result(0, ".db")));
  CHECK(records_in(result(0, ".db")) == 3 * kSpace);
  CHECK_FALSE(is_there(0, ".part.db"));
  CHECK(lines_in(result(0, ".runs.jsonl")).size() == 2);
}

TEST_CASE_FIXTURE(FleetWorld, "SIGTERM ends a task with 130, what it measured of a problem half done is published, and the next goes on") {
  make_plan();
  slow();
  const int pid = start(run_words(1));
  REQUIRE(test::wait_until([&] {
    const auto run = fs::path(node("a"));
    for (const auto& entry : fs::recursive_directory_iterator(run)) {
      if (entry.path().filename() == "shard-0001.db" && fs::file_size(entry.path()) > 0) {
        try {
          return records_in(entry.path()) > 3;
        } catch (const Error&) {
          return false;  // it is being made
        }
      }
    }
    return false;
  }));
  ::kill(pid, SIGTERM);
  CHECK(test::wait_for(pid) == 130);
  REQUIRE(is_there(1, ".part.db"));
  CHECK(records_in(result(1, ".part.db")) > 3);
  const auto report = merge((folder / "all.db").string());
  CHECK(report["shards"][1]["state"] == "partial");
  CHECK(report["shards"][1]["left"].get<int>() > 0);
  fast();
  run_shard(1);
  CHECK(is_there(1, ".db"));
}

TEST_CASE_FIXTURE(FleetWorld, "a second task of a shard on one node is told so; on two nodes both may end, and the result is whole") {
  make_plan();
  slow();
  const int first = start(run_words(0));
  REQUIRE(test::wait_until([&] { return is_there(0, ".runs.jsonl"); }));
  const auto second = attune(run_words(0));
  CHECK(second.exit_code == 4);
  CHECK(mentions(second.err, "another task on this node works at shard 0"));
  environment["TMPDIR"] = node("b");
  fast();
  CHECK(attune(run_words(0)).exit_code == 0);
  CHECK(test::wait_for(first) == 0);
  CHECK(records_in(result(0, ".db")) == 3 * kSpace);
  CHECK_FALSE(is_there(0, ".part.db"));
  CHECK(attune({"db", "check", "--db", result(0, ".db").string()}).exit_code == 0);
}

TEST_CASE_FIXTURE(FleetWorld, "a shard that cannot be read costs itself alone, is named with the reason, and fails a strict merge") {
  make_plan();
  for (int shard = 0; shard < 3; ++shard) run_shard(shard);
  test::write_bytes(result(1, ".db"), std::string(8192, 'x'));
  const auto report = merge((folder / "all.db").string());
  CHECK(report["shards"][1]["state"] == "unreadable");
  CHECK(mentions(report["shards"][1]["why"].get<std::string>(), "shard-0001.db"));
  CHECK(report["shards"][1]["may_pass"] == false);
  CHECK(report["shards"][0]["state"] == "finished");
  CHECK(report["complete"] == false);
  const auto strict = attune({"fleet", "merge", plan, "--db", (folder / "all.db").string(), "--strict"});
  CHECK(strict.exit_code == 1);
  CHECK(mentions(strict.out, "cannot be read: shard 1"));
}

TEST_CASE_FIXTURE(FleetWorld, "what an earlier task left damaged is set aside and told, and measured again") {
  make_plan();
  test::write_bytes(result(0, ".part.db"), "SQLite format 3" + std::string(8192, 'x'));
  const auto run = attune(run_words(0));
  CAPTURE(run.err);
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, "cannot be used"));
  CHECK(records_in(result(0, ".db")) == 3 * kSpace);
  std::size_t aside = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(plan) / "results"))
    aside += mentions(entry.path().string(), ".damaged-") ? 1 : 0;
  CHECK(aside == 1);
}

TEST_CASE_FIXTURE(FleetWorld, "a node's own database that cannot be read is set aside there, and the fleet's copy is gone on from") {
  make_plan();
  const std::size_t before = run_and_kill(0);
  std::size_t spoilt = 0;
  for (const auto& entry : fs::recursive_directory_iterator(node("a"))) {
    if (entry.path().filename().string().starts_with("shard-0000.db-")) fs::remove(entry.path());
    if (entry.path().filename() != "shard-0000.db") continue;
    test::write_bytes(entry.path(), "no database at all, but more than nothing");
    ++spoilt;
  }
  REQUIRE(spoilt == 1);
  const auto run = attune(run_words(0, {"--json"}));
  CAPTURE(run.err);
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, "left on this node cannot be read"));
  for (const auto& entry : fs::directory_iterator(fs::path(plan) / "results")) CHECK_FALSE(mentions(entry.path().string(), ".damaged-"));
  CHECK(measured_by(run) + before == records_in(result(0, ".db")));
}

TEST_CASE_FIXTURE(FleetWorld, "results of a plan that is gone are not taken for another plan's") {
  make_plan();
  test::write_bytes(result(0, ".db"), "whatever");
  fs::remove(fs::path(plan) / "manifest.json");
  const auto again = attune(plan_words());
  CHECK(again.exit_code == 2);
  CHECK(mentions(again.err, "shard-0000.db"));
  CHECK_FALSE(fs::exists(fs::path(plan) / "manifest.json"));
  CHECK(
      attune({"fleet", "plan", template_folder, "--T", "i32", "--faults", "none", "--size", kSizes, "--shards", "3", "-o", ""}).exit_code ==
      2);
}

TEST_CASE_FIXTURE(FleetWorld, "a folder that tasks cannot write is told before anything is measured") {
  make_plan();
  fs::remove_all(fs::path(plan) / "results");
  test::write_bytes(fs::path(plan) / "results", "");
  const auto run = attune(run_words(0));
  CHECK(run.exit_code == 4);
  CHECK(mentions(run.err, "shard-0000.runs.jsonl"));
  CHECK_FALSE(mentions(run.out, "configurations measured"));
}

TEST_CASE_FIXTURE(FleetWorld, "a template of another content than was planned is refused with what to do, and so are changed problems") {
  const auto copy = folder / "synthetic";
  fs::copy(template_folder, copy, fs::copy_options::recursive);
  template_folder = copy.string();
  make_plan();
  std::ofstream(copy / "synthetic.cu", std::ios::app) << "// changed\n";
  const auto run = attune(run_words(0));
  CHECK(run.exit_code == 2);
  CHECK(mentions(run.err, "another content"));
  CHECK(mentions(run.err, "plan into a new folder"));
  CHECK_FALSE(is_there(0, ".runs.jsonl"));
  fs::remove_all(copy);
  fs::copy(ATTUNE_SOURCE_DIR "/tests/support/fake_templates/synthetic", copy, fs::copy_options::recursive);
  std::ofstream(fs::path(plan) / "shards/0000.jsonl", std::ios::app) << "\n";
  const auto changed = attune(run_words(0));
  CHECK(changed.exit_code == 4);  // no fault of the plan: once the file is mended, another try succeeds
  CHECK(mentions(changed.err, "shards/0000.jsonl: "));
  make_plan();
  run_shard(0);
}

TEST_CASE_FIXTURE(FleetWorld, "a device that is slower than the others of its kind is named by the control problem") {
  make_plan();
  run_shard(0);
  run_shard(1);
  settings["devices"] = json::array({{{"speed", 0.8}}});
  run_shard(2);
  const auto report = merge((folder / "all.db").string());
  CHECK(report["shards"][0]["controls"][0]["disagrees"] == false);
  CHECK(report["shards"][1]["controls"][0]["disagrees"] == false);
  CHECK(report["shards"][2]["controls"][0]["disagrees"] == true);
  CHECK(report["shards"][2]["controls"][0]["ratio"].get<double>() == doctest::Approx(1.25).epsilon(0.02));
  const auto strict = attune({"fleet", "merge", plan, "--db", (folder / "all.db").string(), "--strict"});
  CHECK(strict.exit_code == 1);
  CHECK(mentions(strict.out, "disagrees: shard 2"));
  CHECK(attune({"fleet", "merge", plan, "--db", (folder / "all.db").string(), "--strict", "--tolerance", "30%"}).exit_code == 0);
}

TEST_CASE_FIXTURE(FleetWorld, "what --try names is carried to the nodes in one checked copy") {
  REQUIRE(attune(tune_words("none")).exit_code == 0);
  make_plan({"--try", database});
  fs::remove(database);
  run_shard(0);
  CHECK(attune(plan_words()).exit_code == 2);  // without what it carries it is another plan
  environment["TMPDIR"] = node("b");
  test::write_bytes(fs::path(plan) / "try/0.db", "no database");
  const auto run = attune(run_words(1));
  CHECK(run.exit_code == 4);
  CHECK(mentions(run.err, "try/0.db: "));
}

TEST_CASE_FIXTURE(FleetWorld, "a budget of time is each problem's, however many a task finds left") {
  make_plan({"--budget", "15s,3"});
  const auto run = attune(run_words(0, {"--json"}));
  CHECK(run.exit_code == 0);
  json start;
  for (const auto& event : test::json_lines(run.out)) {
    if (event["event"] == "start") start = event;
  }
  CHECK(start["budget"] == "45s,3");
  CHECK(records_in(result(0, ".db")) == 3 * 3);
}

TEST_CASE_FIXTURE(FleetWorld,
                  "a problem without a valid configuration is decided, and the shard that has it is finished with the exit code of tune") {
  make_plan({"--where", "block_size > 64", "--where", "n > 1000 or block_size > 512"});
  int of_empty = -1;
  for (int shard = 0; shard < 3; ++shard) {
    for (const auto& line : lines_in(fs::path(plan) / ("shards/000" + std::to_string(shard) + ".jsonl"))) {
      if (mentions(line, "\"n\":1000}")) of_empty = shard;
    }
  }
  REQUIRE(of_empty >= 0);
  const auto run = attune(run_words(of_empty));
  CAPTURE(run.err);
  CHECK(run.exit_code == 6);
  CHECK(is_there(of_empty, ".db"));
}

TEST_CASE_FIXTURE(FleetWorld, "nothing to merge, and a folder without a plan, are told with the command that comes first") {
  const auto no_plan = attune(run_words(0));
  CHECK(no_plan.exit_code == 2);
  CHECK(mentions(no_plan.err, "attune fleet plan"));
  make_plan();
  const auto nothing = attune({"fleet", "merge", plan, "--db", (folder / "all.db").string()});
  CHECK(nothing.exit_code == 2);
  CHECK(mentions(nothing.err, "no shard has a result yet"));
  CHECK_FALSE(fs::exists(folder / "all.db"));
}

TEST_CASE_FIXTURE(FleetWorld, "the printed scripts have an array or an Indexed Job of as many shards, and bash takes the one for Slurm") {
  make_plan();
  const auto slurm = attune({"fleet", "sbatch", plan, "--gpus", "2", "--partition", "h100", "--option=--account=abc"});
  CHECK(slurm.exit_code == 0);
  for (const char* line : {"#SBATCH --array=0-2\n", "#SBATCH --requeue\n", "#SBATCH --gpus-per-task=2\n", "#SBATCH --partition=h100\n",
                           "#SBATCH --account=abc\n", "#SBATCH --signal=B:USR1@60\n", "--dependency=\"afterany:$array\""}) {
    CAPTURE(line);
    CHECK(mentions(slurm.out, line));
  }
  test::write_bytes(folder / "script.sh", slurm.out);
  CHECK(test::run({"/bin/bash", "-n", (folder / "script.sh").string()}).exit_code == 0);
  CHECK_FALSE(mentions(attune({"fleet", "sbatch", plan, "--gpus", "0"}).out, "gpus-per-task"));
  CHECK(attune({"fleet", "sbatch", plan, "--partition", "a\nrm"}).exit_code == 2);
  CHECK(attune({"fleet", "sbatch", plan, "--db", "x\nATTUNE_SCRIPT\n)\ntouch y"}).exit_code == 2);
  CHECK(attune({"fleet", "sbatch", plan, "--partition", "o'brien"}).exit_code == 2);
  CHECK(attune({"fleet", "merge", plan, "--db", result(0, ".db").string()}).exit_code == 2);
  const auto job = attune({"fleet", "k8s", plan, "--image", "registry/attune:1", "--claim", "fleet"});
  CHECK(job.exit_code == 0);
  CHECK(attune({"fleet", "k8s", plan + "/", "--image", "registry/attune:1", "--claim", "fleet"}).out == job.out);
  for (const char* line : {"completions: 3\n", "completionMode: Indexed\n", "backoffLimitPerIndex: 20\n", "claimName: \"fleet\"\n"}) {
    CAPTURE(line);
    CHECK(mentions(job.out, line));
  }
  CHECK(attune({"fleet", "k8s", plan, "--image", "i", "--claim", "c", "--mount", "/elsewhere"}).exit_code == 2);
}

}  // namespace test_fleet
