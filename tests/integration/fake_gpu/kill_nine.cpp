// kill -9 at random moments: `attune tune --json` on the fake driver is killed and started again until it finishes, over and
// over, until it has been killed often enough. Every finished database must hold what was acknowledged on standard output,
// be sound, and equal an undisturbed run's. Exits with 1 and says what is wrong when one does not.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "bench/support/command_line.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/integration/fake_gpu/processes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"

namespace {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

/// What must be equal however a run came about: times may differ, outcomes may not.
std::set<json> decided(const FakeGpu& gpu) {
  std::set<json> found;
  for (const auto& record : gpu.records()) {
    found.insert(json::object({{"problem", base::parse_json(record.problem)},
                               {"configuration", test::configuration_of(record)},
                               {"outcome", record.outcome},
                               {"verified", record.verified}}));
  }
  return found;
}

/// A host with so many equal GPUs.
struct Host : FakeGpu {
  explicit Host(int gpus) {
    settings["devices"] = json::array();
    for (int i = 0; i < gpus; ++i) settings["devices"].push_back(json::object());
  }
};

std::vector<std::string> words(const FakeGpu& gpu) {
  auto tune = gpu.tune_words("quick", {"--json", "--device", "all"});
  std::replace(tune.begin(), tune.end(), std::string("1000"), std::string("1000,3000"));  // kills between two problems, too
  return tune;
}

/// What a record said of its configuration; the same time to the last bit.
struct Told {
  std::string outcome;
  double median_us = 0;
  bool operator==(const Told&) const = default;
};

/// The outcome told for each (problem, configuration).
std::map<std::pair<json, json>, Told> acknowledged(const std::string& path) {
  std::map<std::pair<json, json>, Told> told;
  for (const auto& event : test::json_lines(base::read_file(path))) {
    if (event["event"] != "record") continue;
    const bool ok = event["outcome"] == "ok";
    told[std::make_pair(event["problem"], event["configuration"])] = {event["outcome"], ok ? event["median_us"].get<double>() : 0};
  }
  return told;
}

struct Tally {
  int kills = 0;
  int runs = 0;
  int finished = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t lost = 0;
  int unsound = 0;
  int different = 0;
};

/// Everything told on standard output is in the database, whether the run was killed or not.
void count_lost(const FakeGpu& gpu, Tally& tally) {
  std::map<std::pair<json, json>, Told> stored;
  for (const auto& record : gpu.records()) {
    stored[std::make_pair(base::parse_json(record.problem), test::configuration_of(record))] = {record.outcome, record.median_us};
  }
  for (const auto& [key, told] : acknowledged(gpu.output())) {
    const auto found = stored.find(key);
    if (found != stored.end() && found->second == told) continue;
    ++tally.lost;
    std::fprintf(stderr, "kill_nine: acknowledged, and lost or replaced: %s %s\n", base::dump_json(key.first).c_str(),
                 base::dump_json(key.second).c_str());
  }
}

/// One database, from nothing to a finished run, killed up to `most` times on the way. `duration`: of a run, about; kept up
/// to date, because the machine has other work at times.
void run_to_the_end(int gpus, int most, std::chrono::duration<double>& duration, std::mt19937_64& random, const std::set<json>& expected,
                    Tally& tally) {
  const Host gpu(gpus);
  for (int killed = 0;;) {
    const auto begin = std::chrono::steady_clock::now();
    const int pid = gpu.start(words(gpu));
    ++tally.runs;
    std::optional<int> code;
    if (killed < most) {
      code = test::wait_for(pid, duration * std::uniform_real_distribution<double>(0, 1)(random));
      if (!code) ::kill(pid, SIGKILL);
    }
    if (!code) code = test::wait_for(pid);
    if (*code != 0 && *code != 128 + SIGKILL) {
      throw std::runtime_error("attune tune ended with exit code " + std::to_string(*code) + ", having said:\n" +
                               base::read_file(gpu.output() + ".err"));
    }
    count_lost(gpu, tally);
    if (*code == 0 && killed == 0) duration = std::chrono::steady_clock::now() - begin;
    if (*code == 0) break;
    ++killed;
    ++tally.kills;
  }
  ++tally.finished;
  tally.acknowledged += acknowledged(gpu.output()).size();
  const auto checked = gpu.attune({"db", "check"});
  if (checked.exit_code != 0) {
    ++tally.unsound;
    std::fprintf(stderr, "kill_nine: attune db check: %s%s\n", checked.out.c_str(), checked.err.c_str());
  }
  if (decided(gpu) != expected) {
    ++tally.different;
    std::fprintf(stderr, "kill_nine: a finished run holds other records than an undisturbed one\n");
  }
  if (!test::wait_until([&] { return gpu.processes("").empty(); }, std::chrono::seconds(10)))
    throw std::runtime_error("a worker outlived its parent");
}

int run(int gpus, int kills, std::uint64_t seed, const std::string& output) {
  const Host undisturbed(gpus);
  static_cast<void>(undisturbed.attune(words(undisturbed)));  // fills the cache of cubins
  const Host timed(gpus);
  const auto begin = std::chrono::steady_clock::now();
  const auto result = timed.attune(words(timed));
  std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin;
  if (result.exit_code != 0) throw std::runtime_error("the undisturbed run failed: " + result.err);
  const auto expected = decided(timed);
  std::mt19937_64 random(seed);
  Tally tally;
  while (tally.kills < kills) run_to_the_end(gpus, kills - tally.kills, duration, random, expected, tally);
  const json summary = {{"gpus", gpus},
                        {"kills", tally.kills},
                        {"runs", tally.runs},
                        {"finished", tally.finished},
                        {"records", expected.size()},
                        {"acknowledged", tally.acknowledged},
                        {"lost", tally.lost},
                        {"unsound", tally.unsound},
                        {"different", tally.different},
                        {"seed", seed}};
  std::printf("%s\n", base::dump_json(summary).c_str());
  if (!output.empty()) std::ofstream(output) << base::dump_json(summary, 1) << "\n";
  return tally.lost == 0 && tally.unsound == 0 && tally.different == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  attune::bench::CommandLine line{"Kills attune tune with -9 at random moments and checks that nothing acknowledged is ever lost"};
  int kills = 30;
  int gpus = 1;
  std::uint64_t seed = 1;
  std::string output;
  line.option("--kills", kills, "How often").with_default().within(1, 1000000);
  line.option("--gpus", gpus, "Of the host").with_default().within(1, 1000000);
  line.option("--seed", seed, "Of the moments").with_default();
  line.option("--output", output, "File for the result, as JSON");
  if (const auto ended = line.parse(argc, argv)) return *ended;
  try {
    return run(gpus, kills, seed, output);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kill_nine: %s\n", error.what());
    return 1;
  }
}
