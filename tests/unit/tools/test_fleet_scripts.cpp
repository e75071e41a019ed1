// What schedulers are given: names and texts come out as they were, or are refused.
#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tools/fleet/scripts.hpp"

namespace test_fleet_scripts {

using namespace attune;
using tools::KubernetesOptions;

namespace {

/// The job of a plan of so many shards, or what it is refused with.
std::string job(const KubernetesOptions& options, std::size_t shards = 3) {
  tools::Manifest manifest;
  manifest.shards.resize(shards);
  try {
    return tools::kubernetes_job(manifest, options);
  } catch (const UsageError& error) {
    return std::string("refused: ") + error.what();
  }
}

KubernetesOptions options_of(const std::string& folder = "/shared/plan") {
  KubernetesOptions options;
  options.folder = folder;
  options.image = "registry/attune:1";
  options.claim = "fleet";
  return options;
}

/// The script for Slurm, or what it is refused with.
std::string slurm(const std::string& time, int grace_s = 60, const std::vector<std::string>& more = {}) {
  tools::Manifest manifest;
  manifest.shards.resize(3);
  tools::SlurmOptions options;
  options.folder = "/shared/plan";
  options.executable = "/usr/bin/attune";
  options.time = time;
  options.grace_s = grace_s;
  options.more = more;
  try {
    return tools::slurm_script(manifest, options);
  } catch (const UsageError& error) {
    return std::string("refused: ") + error.what();
  }
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a job's name is a label with the pod's index behind it, and is a text whatever it looks like") {
  auto options = options_of();
  options.name = "123";
  CHECK(has(job(options), "name: \"123\"\n"));
  options.name = std::string(61, 'a');
  CHECK(has(job(options, 10), "name: \"aaa"));
  CHECK(has(job(options, 11), "at most 60"));
  for (const char* name : {"", "-a", "a-", "A", "a_b", "a.b", "a\nb", "\xc3\xa9"}) {
    CAPTURE(name);
    options.name = name;
    CHECK(has(job(options), "refused: --name"));
  }
}

TEST_CASE("a claim is a name of Kubernetes too") {
  auto options = options_of();
  options.claim = "data.v2-a";
  CHECK(has(job(options), "claimName: \"data.v2-a\"\n"));
  for (const char* claim : {"", "a b", "A", ".a"}) {
    options.claim = claim;
    CHECK(has(job(options), "refused: --claim"));
  }
}

TEST_CASE("a folder or an image with what some readers take for the end of a line, or that is no UTF-8, is refused and shown by numbers") {
  CHECK(has(job(options_of("/shared/o'brien \"x\"/plan")), R"("/shared/o'brien \"x\"/plan")"));
  CHECK(has(job(options_of("/shared/\xc3\xa9/plan")), "\"/shared/\xc3\xa9/plan\""));
  for (const char* folder : {"/shared/a\xe2\x80\xa8"
                             "b/plan",
                             "/shared/a\xe2\x80\xa9/plan", "/shared/a\xc2\x85/plan", "/shared/a\nb/plan", "/shared/\xff/plan"}) {
    CAPTURE(folder);
    CHECK(has(job(options_of(folder)), "refused: the folder has a character"));
  }
  CHECK(has(job(options_of("/shared/a\xe2\x80\xa8"
                           "b/plan")),
            "\\u2028"));
  auto options = options_of();
  options.image =
      "a\xe2\x80\xa9"
      "b";
  CHECK(has(job(options), "refused: --image"));
}

TEST_CASE("a dollar in a folder's name is no variable of Kubernetes in the pod's command, and stands alone everywhere else") {
  const std::string text = job(options_of("/shared/$(HOME)/a$$b/plan$"));
  CHECK(has(text, R"(command: ["attune", "fleet", "run", "/shared/$$(HOME)/a$$$$b/plan$$", "--scratch", "/scratch"])"));
  CHECK(has(text, R"(mountPath: "/shared/$(HOME)/a$$b")"));
  CHECK(has(text, "attune fleet merge '/shared/$(HOME)/a$$b/plan$' --db all.db"));
}

TEST_CASE("a pod's shard fails for good with the exit codes that no retry mends, and a disruption comes first and is no failure") {
  CHECK(has(job(options_of()), R"(  podFailurePolicy:
    rules:
    - action: Ignore  # a pod that makes way for another is no failure of its shard
      onPodConditions:
      - type: DisruptionTarget
    - action: FailIndex )"));
  CHECK(has(job(options_of()), R"(
      onExitCodes:
        containerName: shard
        operator: In
        values: [2, 3]
  template:
)"));
  CHECK(has(job(options_of()), "      containers:\n      - name: shard\n"));
}

TEST_CASE("a time is what Slurm documents: every form of it, and no other") {
  for (const char* time : {"5", "90:30", "04:00:00", "1-12", "1-12:30", "1-12:30:15", "0", "0-1"}) {
    CAPTURE(time);
    CHECK(has(slurm(time), std::string("#SBATCH --time=") + time + "\n"));
  }
  for (const char* time : {"", "foo", "5m", " 5", "-5", "1-", "-1", "1:", ":1", "1::2", "1:2:3:4", "1-2:3:4:5", "1:2-3", "1-2-3", "1.5",
                           "+5", "99999999999999999999"}) {
    CAPTURE(time);
    const std::string refused = slurm(time);
    CHECK(has(refused, std::string("refused: --time '") + time + "'"));
    CHECK(has(refused, "minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or days-hours:minutes:seconds"));
  }
}

TEST_CASE("the grace is shorter than the time, in whatever form that is, unless there is no limit") {
  struct Case {
    const char* time;
    int seconds;
  };
  for (const auto& [time, seconds] : {Case{"5", 300}, {"1:30", 90}, {"00:00:30", 30}, {"0-1", 3600}, {"0-0:2", 120}, {"0-0:2:3", 123}}) {
    CAPTURE(time);
    CHECK(has(slurm(time, seconds - 1), "#SBATCH --signal=B:USR1@" + std::to_string(seconds - 1) + "\n"));
    CHECK(has(slurm(time, seconds), "refused: --grace " + std::to_string(seconds)));
    CHECK(has(slurm(time, seconds), std::string("--time ") + time));
  }
  CHECK(has(slurm("0", 3600), "#SBATCH --time=0\n"));
}

TEST_CASE("an option that sbatch would pass over is refused with the form that it reads") {
  CHECK(has(slurm("5", 60, {"--account=abc", "-p gpu"}), "#SBATCH --account=abc\n#SBATCH -p gpu\n"));
  for (const char* option : {"account=abc", "", "-", "--", " --account=abc"}) {
    CAPTURE(option);
    const std::string refused = slurm("5", 60, {option});
    CHECK(has(refused, std::string("refused: --option '") + option + "'"));
    CHECK(has(refused, "--option=--account=abc"));
  }
}

}  // namespace test_fleet_scripts
