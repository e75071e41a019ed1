// What a budget of time buys where kernels or compilers are slow: each kernel tuned by the real command, from an empty database and an
// empty cache, and how long the whole command took.
#include <fmt/core.h>

#include "attune/error.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "db/database.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/gpu/handles.hpp"

namespace attune::bench {
namespace {

struct Settings {
  std::string output;
  std::string examples = ATTUNE_BENCH_SOURCES "/../examples/templates";
  std::string templates = ATTUNE_BENCH_SOURCES "/templates";
  std::vector<std::string> kernels = {"gemm", "nbody", "convolution"};
  int budget_s = 15;
  int repetitions = 1;
};

/// The words of the tune command that say what is tuned. Throws: UsageError.
std::vector<std::string> words_of(const Settings& settings, const std::string& kernel) {
  if (kernel == "gemm") return {settings.examples + "/gemm", "--m", "4096", "--n", "4096", "--k", "4096"};
  if (kernel == "nbody") return {settings.examples + "/nbody", "--n", "131072"};
  if (kernel == "convolution") return {settings.templates + "/convolution", "--width", "4096", "--height", "4096"};
  throw UsageError(fmt::format("failed choosing kernels: there is no '{}'; known: gemm, nbody, convolution", kernel));
}

Json measure(const Settings& settings, const std::string& kernel, int seed) {
  const test::TempFolder scratch;
  const auto path = scratch / "tune.db";
  std::vector<std::string> words = words_of(settings, kernel);
  words.insert(words.begin(), "tune");
  words.insert(words.end(), {"--strategy", "random", "--seed", std::to_string(seed), "--budget", fmt::format("{}s", settings.budget_s),
                             "--db", path.string()});
  const AttuneRun run = run_attune(attune_executable(), words, scratch.path());
  const auto& problem = run.event("problem");
  const auto database = db::Database::open(path, db::OpenMode::ReadOnly);
  std::uint64_t verified = 0;
  for (const auto& record : database.records({})) verified += record.verified ? 1 : 0;
  const auto best = database.best({});
  Json row{{"kernel", kernel},
           {"peer", "attune"},
           {"seed", seed},
           {"budget_s", settings.budget_s},
           {"command_s", run.wall_s},
           {"decided", problem.at("measured").get<std::uint64_t>()},
           {"space", problem.at("space_size").get<std::uint64_t>()},
           {"best_us", best.empty() ? Json(nullptr) : Json(best.front().median_us)},
           {"verified", verified},
           {"failed", parse_json(base::dump_json(problem.at("failed")))},
           {"utilisation", parse_json(base::dump_json(problem.at("utilisation")))}};
  if (!best.empty()) row["configuration"] = parse_json(best.front().configuration);
  return row;
}

/// Another tuner's part of an earlier file, which bench/costly_kernels_peer.py measured: `peer` says when. It stays.
struct PeerPart {
  Json fields = Json::object();
  std::vector<Json> rows;
};

PeerPart peer_part(const std::filesystem::path& file) {
  PeerPart part;
  if (!std::filesystem::exists(file)) return part;
  const Json old = parse_json(base::read_file(file));
  if (!old.contains("peer")) return part;
  part.fields["peer"] = old.at("peer");
  for (const auto& row : old.at("rows"))
    if (row.at("peer") != "attune") part.rows.push_back(row);
  return part;
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  const auto device = gpu::read_device(0);
  for (const auto& kernel : settings.kernels) (void)words_of(settings, kernel);
  const PeerPart peer = peer_part(results_path(folder, "costly_kernels", device));  // read first: a file that is damaged ends it now
  std::vector<Json> rows;
  for (const auto& kernel : settings.kernels) {
    for (int seed = 1; seed <= settings.repetitions; ++seed) {
      rows.push_back(measure(settings, kernel, seed));
      fmt::print(stderr, "{}\n", dump_json(rows.back()));
    }
  }
  rows.insert(rows.end(), peer.rows.begin(), peer.rows.end());
  const auto path = write_results(folder, "costly_kernels", device, peer.fields, rows);
  fmt::print(stderr, "written to {}\n", path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Tunes costly kernels under a budget of time and writes <output>/<device>/costly_kernels.json"};
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--examples", settings.examples, "Folder of the examples' templates").with_default();
  line.option("--templates", settings.templates, "Folder of the benchmark's templates").with_default();
  line.option("--kernels", settings.kernels, "gemm, nbody, convolution").with_default().separated_by(',');
  line.option("--budget-seconds", settings.budget_s, "Of each command").with_default().within(1, 3600);
  line.option("--repetitions", settings.repetitions, "Of each kernel, with other seeds").with_default().within(1, 1000);
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
