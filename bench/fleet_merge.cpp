// What merging a fleet costs: `attune fleet merge` of generated shards, its time and its greatest memory; beside it, where asked for,
// `attune db merge` of the same files in one command, which opens them all.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "attune/error.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/generated_fleet.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "tools/fleet/manifest.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/text.hpp"

namespace attune::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Settings {
  fs::path output, attune;
  fs::path folder = fs::temp_directory_path();
  std::vector<std::string> shapes{"10x10000", "100x10000", "1000x10000"};  ///< shards, records of each
  std::uint64_t all_open = 100;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); }

/// Runs a program to its end. Throws: Error when it fails.
Json cost_of(const std::vector<std::string>& words) {
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (std::freopen("/dev/null", "w", stdout) != nullptr) ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || ::wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(fmt::format("failed measuring: {} {} {} ended with status {}", words[0], words[1], words[2], status));
  return {{"wall_s", seconds_since(start)},
          {"cpu_s", seconds(used.ru_utime) + seconds(used.ru_stime)},
          {"peak_bytes", std::uint64_t{1024} * static_cast<std::uint64_t>(used.ru_maxrss)}};
}

/// "100x10000". Throws: UsageError.
std::pair<std::uint64_t, std::uint64_t> read_shape(const std::string& text) {
  const std::size_t times = text.find('x');
  if (times == std::string::npos) throw UsageError(fmt::format("--shape {}: give shards and records of each, for example 100x10000", text));
  return {static_cast<std::uint64_t>(base::parse_count(text.substr(0, times))),
          static_cast<std::uint64_t>(base::parse_count(text.substr(times + 1)))};
}

Json measure(const Settings& settings, std::uint64_t shards, std::uint64_t records) {
  const fs::path folder = settings.folder / fmt::format("attune-fleet-merge-{}", ::getpid());
  fs::create_directories(folder);
  const auto start = Clock::now();
  generate_fleet(folder / "plan", shards, records);
  Json row{{"shards", shards}, {"records", shards * records}, {"generated_s", seconds_since(start)}};
  std::uint64_t bytes = 0;
  std::vector<std::string> all = {settings.attune.string(), "db", "merge", "--db", (folder / "at_once.db").string()};
  for (std::uint64_t i = 0; i < shards; ++i) {
    all.push_back(tools::finished_path(folder / "plan", i).string());
    bytes += fs::file_size(all.back());
  }
  row["shard_bytes"] = bytes;
  const fs::path merged = folder / "merged.db";
  row["fleet_merge"] =
      cost_of({settings.attune.string(), "fleet", "merge", (folder / "plan").string(), "--db", merged.string(), "--strict"});
  row["merged_bytes"] = fs::file_size(merged);
  row["again"] = nullptr;
  if (shards <= settings.all_open) {
    row["again"] = cost_of({settings.attune.string(), "fleet", "merge", (folder / "plan").string(), "--db", merged.string(), "--strict"});
    row["db_merge"] = cost_of(all);
  }
  fs::remove_all(folder);
  return row;
}

int run(const Settings& settings) {
  const fs::path path = results_folder(settings.output) / "fleet_merge.json";
  fs::create_directories(path.parent_path());
  std::vector<Json> rows;
  for (const auto& shape : settings.shapes) {
    const auto [shards, records] = read_shape(shape);
    rows.push_back(measure(settings, shards, records));
    fmt::print("{}\n", dump_json(rows.back()));
    std::fflush(stdout);
    const Json file{{"bench", "fleet_merge"},
                    {"date", base::utc_now()},
                    {"content", content_hash()},
                    {"cores", base::available_cpus().size()},
                    {"rows", rows}};
    base::write_output(path, dump_json(file, 1) + "\n");  // the largest takes long
  }
  fmt::print("{}\n", path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"What merging the shards of a fleet costs"};
  line.option("--attune", settings.attune, "The attune command");
  line.option("--shape", settings.shapes, "Shards x records of each, 100x10000; may be repeated").one_at_a_time();
  line.option("--all-open", settings.all_open, "Merge up to so many shards by `attune db merge` as well").with_default();
  line.option("--folder", settings.folder, "Where databases are made");
  line.option("--output", settings.output, "Results folder (default: bench/results of the source tree)");
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
