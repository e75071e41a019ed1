// What transposing a matrix takes beside copying as many bytes: both tuned, one after the other, by the real command on one device.
#include <fmt/core.h>

#include <cstdio>

#include "attune/error.hpp"
#include "bench/support/attune_run.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "db/database.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/spec/value.hpp"

namespace attune::bench {
namespace {

struct Settings {
  std::string output;
  std::string templates = ATTUNE_BENCH_SOURCES "/templates";
  std::vector<std::string> types = {"i8", "f16", "f32", "f64"};
  std::vector<std::string> shapes = {"16384x16384", "4194304x64", "64x4194304", "16381x16387", "4194301x63", "63x4194301"};
  int configurations = 40;
};

struct Shape {
  std::int64_t rows, columns;
};

/// Throws: UsageError.
Shape shape_of(const std::string& text) {
  Shape shape{};
  int read = 0;
  const bool whole =
      std::sscanf(text.c_str(), "%ldx%ld%n", &shape.rows, &shape.columns, &read) == 2 && read == static_cast<int>(text.size());
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // elements; no device holds them
  if (!whole || shape.rows < 1 || shape.columns < 1 || shape.rows > kMost / shape.columns)
    throw UsageError(fmt::format("failed reading the shape '{}': write ROWSxCOLUMNS, e.g. 16384x64", text));
  return shape;
}

class TransposeBesideCopy {
 public:
  explicit TransposeBesideCopy(const Settings& settings) : settings_(settings), executable_(attune_executable()) {}

  [[nodiscard]] Json row(const std::string& type, const Shape& shape) {
    const std::int64_t bytes = shape.rows * shape.columns * spec::size_bytes(spec::element_type(type));
    const auto copy = tuned({settings_.templates + "/copy", "--bytes", std::to_string(bytes)});
    const auto transpose =
        tuned({"transpose", "--T", type, "--rows", std::to_string(shape.rows), "--columns", std::to_string(shape.columns)});
    return {{"problem", {{"T", type}, {"rows", shape.rows}, {"columns", shape.columns}}},
            {"policy", "cold/graph"},
            {"bytes", 2 * bytes},
            {"attune_us", transpose.best.median_us},
            {"default_us", transpose.best.default_us},
            {"peer_us", copy.best.median_us},
            {"ratio", copy.best.median_us / transpose.best.median_us},
            {"spread", {{"attune", transpose.spread}, {"peer", copy.spread}}},
            {"configuration", parse_json(transpose.best.configuration)},
            {"peer_configuration", parse_json(copy.best.configuration)},
            {"measured", transpose.measured},
            {"wrong", transpose.wrong}};
  }

 private:
  struct Tuned {
    db::BestRow best;
    double spread = 0;
    std::uint64_t measured = 0, wrong = 0;
  };

  [[nodiscard]] Tuned tuned(std::vector<std::string> words) {
    const auto path = scratch_ / fmt::format("{}.db", ++commands_);
    words.insert(words.begin(), "tune");
    words.insert(words.end(), {"--strategy", "random", "--budget", std::to_string(settings_.configurations), "--db", path.string()});
    const AttuneRun run = run_attune(executable_, words, scratch_.path(), Cache::Kept);
    const auto& problem = run.event("problem");
    Tuned tuned;
    tuned.measured = problem.at("measured");
    tuned.wrong = problem.at("failed").value("wrong_result", std::uint64_t{0});
    const auto database = db::Database::open(path, db::OpenMode::ReadOnly);
    const auto rows = database.best({});
    if (rows.size() != 1 || !(rows.front().median_us > 0)) throw Error("failed tuning " + words[1] + ": nothing runs");
    tuned.best = rows.front();
    for (const auto& record : database.records({})) {
      if (record.configuration == tuned.best.configuration) tuned.spread = relative_half(record.low_us, record.high_us, record.median_us);
    }
    std::filesystem::remove(path);
    return tuned;
  }

  const Settings& settings_;
  std::filesystem::path executable_;
  test::TempFolder scratch_;
  int commands_ = 0;
};

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);
  const auto device = gpu::read_device(0);
  std::vector<Shape> shapes;
  for (const auto& text : settings.shapes) shapes.push_back(shape_of(text));
  TransposeBesideCopy bench(settings);
  std::vector<Json> rows;
  for (const auto& type : settings.types) {
    for (const auto& shape : shapes) {
      rows.push_back(bench.row(type, shape));
      fmt::print(stderr, "{}\n", dump_json(rows.back()));
    }
  }
  const Json fields{{"peer", "copy"}, {"configurations", settings.configurations}};
  const auto path = write_results(folder, "transpose_vs_copy", device, fields, rows);
  fmt::print(stderr, "written to {}\n", path.string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Tunes transposes and copies of as many bytes and writes <output>/<device>/transpose_vs_copy.json"};
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--templates", settings.templates, "Folder of the benchmark's templates").with_default();
  line.option("--types", settings.types, "Element types").with_default().separated_by(',');
  line.option("--shapes", settings.shapes, "Rows and columns").with_default().separated_by(',');
  line.option("--configurations", settings.configurations, "Random ones of each problem, beside the default")
      .with_default()
      .within(1, 100000);
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
