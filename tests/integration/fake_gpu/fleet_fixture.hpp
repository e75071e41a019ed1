#pragma once
#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/integration/fake_gpu/processes.hpp"
#include "tuner/base/json.hpp"

namespace attune::test {

inline bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A plan of six problems in three shards, with one control problem, and nodes that are folders for scratch.
struct FleetWorld : FakeGpu {
  FleetWorld() : plan((folder / "plan").string()) {
    environment["TMPDIR"] = node("a");
    for (const char* name : {"SLURM_TMPDIR", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}) environment[name] = "";
  }

  static constexpr const char* kSizes = "1000,2000,3000,4000,5000,6000";
  static constexpr std::size_t kSpace = 4 * 3 * 4;

  [[nodiscard]] std::string node(const std::string& name) const {
    const auto path = folder / ("node-" + name);
    std::filesystem::create_directories(path);
    return path.string();
  }
  [[nodiscard]] std::vector<std::string> plan_words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"fleet",  "plan", template_folder, "--T", "i32", "--faults", "none",
                                      "--size", kSizes, "--shards",      "3",   "-o",  plan};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void make_plan(const std::vector<std::string>& more = {}) const {
    const auto made = attune(plan_words(more));
    CAPTURE(made.err);
    REQUIRE(made.exit_code == 0);
  }
  [[nodiscard]] std::vector<std::string> run_words(int shard, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"fleet", "run", plan, "--shard", std::to_string(shard), "--compile-workers", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void run_shard(int shard) const {
    const auto run = attune(run_words(shard));
    CAPTURE(run.err);
    CHECK(run.exit_code == 0);
  }
  /// A task of the shard on a slow device, killed once it has published something. Returns the records that it has published.
  [[nodiscard]] std::size_t run_and_kill(int shard) {
    slow();
    const int pid = start(run_words(shard));
    REQUIRE(test::wait_until([&] { return is_there(shard, ".part.db"); }));
    ::kill(pid, SIGKILL);
    CHECK(test::wait_for(pid) == 128 + SIGKILL);
    fast();
    return records_in(result(shard, ".part.db"));
  }
  /// How many configurations a run with --json says that it has measured.
  [[nodiscard]] static std::size_t measured_by(const CommandResult& run) {
    std::size_t measured = 0;
    for (const auto& event : json_lines(run.out)) measured += event["event"] == "end" ? event["measured"].get<std::size_t>() : 0;
    return measured;
  }
  [[nodiscard]] nlohmann::json merge(const std::string& into, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"fleet", "merge", plan, "--db", into, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto merged = attune(words);
    CAPTURE(merged.err);
    CHECK(merged.exit_code == 0);
    return base::parse_json(merged.out);
  }
  [[nodiscard]] std::string exported(const std::string& file) const { return attune({"db", "export", "--db", file}).out; }
  [[nodiscard]] std::filesystem::path result(int shard, const std::string& suffix) const {
    return std::filesystem::path(plan) / "results" / ("shard-000" + std::to_string(shard) + suffix);
  }
  [[nodiscard]] bool is_there(int shard, const std::string& suffix) const { return std::filesystem::exists(result(shard, suffix)); }
  [[nodiscard]] static std::size_t records_in(const std::filesystem::path& file) {
    return db::Database::open(file, db::OpenMode::ReadOnly).info().records;
  }
  /// What was measured: problems and their configurations.
  [[nodiscard]] static std::set<std::pair<std::string, std::string>> measured_in(const std::filesystem::path& file) {
    std::set<std::pair<std::string, std::string>> found;
    for (const auto& row : db::Database::open(file, db::OpenMode::ReadOnly).records({})) found.emplace(row.problem, row.configuration);
    return found;
  }
  [[nodiscard]] static std::vector<std::string> lines_in(const std::filesystem::path& file) {
    std::vector<std::string> lines;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  /// Devices that take a half of the time that they say, so that there is time to stop what runs.
  void slow() { settings["real_time"] = 2; }
  void fast() { settings.erase("real_time"); }

  std::string plan;
  std::string template_folder = ATTUNE_SOURCE_DIR "/tests/support/fake_templates/synthetic";
};

}  // namespace attune::test
