// What a ragged size costs: every winner of a database, in its general form, at the size that it won and at one element more, one
// element less, and with the input one element behind an aligned address; beside each other, sample by sample in random order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "attune/error.hpp"
#include "attune/runtime.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/contender.hpp"
#include "bench/support/json.hpp"
#include "bench/support/launch_arguments.hpp"
#include "bench/support/reduction_problem.hpp"
#include "bench/support/result_file.hpp"
#include "bench/support/window_pool.hpp"
#include "db/database.hpp"
#include "tests/support/best_row.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::bench {
namespace {

namespace fs = std::filesystem;

struct Settings {
  fs::path database, output;
  std::string only;
  int device = 0;
  int rounds = 31;
};

struct Winner {
  std::string template_name;
  std::map<std::string, std::string> choices;
  std::int64_t n = 0;
  spec::Configuration configuration;
};

/// What a winner is measured at.
struct Case {
  const char* name;
  int more;             ///< elements
  std::size_t shifted;  ///< elements that the input begins behind an aligned address
};
constexpr std::array<Case, 4> kCases{{{"whole", 0, 0}, {"one_more", 1, 0}, {"one_less", -1, 0}, {"misaligned", 0, 1}}};

std::optional<Element> element_of(const std::string& type) {
  constexpr std::pair<const char*, Element> kNames[] = {{"f32", Element::F32}, {"f64", Element::F64}, {"f16", Element::F16},
                                                        {"bf16", Element::Bf16}, {"i32", Element::I32}, {"i8", Element::I8}};
  for (const auto& [name, element] : kNames)
    if (type == name) return element;
  return std::nullopt;
}

/// Of the templates that reduce an array, in the general form of their code, once each.
std::vector<Winner> winners_of(const Settings& settings, const spec::TemplateLibrary& library) {
  const auto database = db::Database::open(settings.database, db::OpenMode::ReadOnly);
  std::vector<Winner> winners;
  std::set<std::string> known;
  for (const db::BestRow& row : database.best({.policy = "cold/graph"})) {
    const auto problem = spec::problem_from_text(row.problem);
    if ((row.template_name != "reduce" && row.template_name != "argreduce") || problem.choices.contains("transform")) continue;
    if (!element_of(problem.choices.at("T")) || (row.template_name + " " + row.family).find(settings.only) == std::string::npos) continue;
    const auto kernel = library.find(row.template_name);
    auto configuration = spec::for_any_size(kernel, spec::configuration_from_text(kernel, row.configuration));
    if (!known.insert(row.problem + spec::to_text(kernel, configuration)).second) continue;
    winners.push_back({row.template_name, problem.choices, problem.sizes.at("n"), std::move(configuration)});
  }
  return winners;
}

/// A database that names this configuration at all of the winner's sizes.
void write_database(const fs::path& path, const spec::KernelTemplate& kernel, const Winner& winner, const spec::DeviceInfo& device) {
  auto database = db::Database::open(path, db::OpenMode::ReadWrite);
  database.put(test::device_row(device));
  for (const Case& at : kCases) {
    database.put(test::best_row(kernel, {winner.choices, {{"n", winner.n + at.more}}}, device, spec::to_text(kernel, winner.configuration)));
  }
}

struct Measured {
  Plan plan;
  gpu::Buffer scratch;
  Contender contender;
};

std::uint32_t blocks_of(const spec::KernelTemplate& kernel, const Winner& winner, int more, const spec::DeviceInfo& device) {
  const auto plan = spec::resolve(kernel, {winner.choices, {{"n", winner.n + more}}}, winner.configuration, device);
  for (const auto& step : plan.steps)
    if (const auto* const launch = std::get_if<spec::ResolvedLaunch>(&step)) return launch->grid[0];
  return 0;
}

Json measure(const Settings& settings, const spec::KernelTemplate& kernel, const Winner& winner, const spec::DeviceInfo& device, const Sampler& sampler,
             const WindowPool& pool, std::mt19937& random) {
  const gpu::Stream& stream = sampler.stream();
  const test::TempFolder folder;
  write_database(folder / "one.db", kernel, winner, device);
  Options options;
  options.databases = {folder / "one.db"};
  Runtime runtime(options);
  const Element element = *element_of(winner.choices.at("T"));
  const std::size_t bytes = (static_cast<std::size_t>(winner.n) + 2) * size_bytes(element);
  std::vector<std::unique_ptr<Measured>> all;
  std::vector<Contender*> contenders;
  for (const Case& at : kCases) {
    const Plan plan = runtime.kernel(winner.template_name, winner.choices).plan({winner.n + at.more});
    if (plan.decision().tier != Tier::ExactSize) throw Error("failed measuring: " + describe(plan.decision()));
    all.push_back(std::make_unique<Measured>(Measured{plan, zeroed(plan.workspace_bytes(), stream), Contender{at.name, gpu::Buffer(256), std::nullopt, {}, {}}}));
    Measured& one = *all.back();
    one.contender.batch.emplace(sampler, measure::CachePolicy::Cold, pool.windows(bytes), [&, shift = at.shifted * size_bytes(element)](std::int64_t window) {
      const char* const in = static_cast<const char*>(pool.window(window, bytes)) + shift;
      auto arguments = launch_arguments(winner.template_name, element == Element::F64 ? 8 : 4, in, one.contender.out());
      if (winner.template_name == "argreduce") arguments.push_back(Argument::pointer(static_cast<char*>(one.contender.out()) + 8));
      one.plan.launch(arguments.data(), arguments.size(), reinterpret_cast<void*>(one.scratch.address()), stream.get());
    });
    contenders.push_back(&one.contender);
  }
  measure_rounds(contenders, settings.rounds, random);
  Json row{{"template", winner.template_name}, {"choices", winner.choices}, {"n", winner.n}, {"configuration", parse_json(spec::to_text(kernel, winner.configuration))},
           {"same_blocks", blocks_of(kernel, winner, 0, device) == blocks_of(kernel, winner, 1, device)}};
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    const auto ratio = ratio_to(all.front()->contender, all[i]->contender);
    row[std::string(kCases[i].name) + "_us"] = measure::summarise({all[i]->contender.samples_us}, all[i]->contender.calls()).median_us;
    if (i > 0) row[std::string(kCases[i].name) + "_ratio"] = ratio.median_ratio;
  }
  return row;
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);  // before minutes of measuring
  const auto device = gpu::read_device(settings.device);
  const spec::TemplateLibrary library;
  const auto winners = winners_of(settings, library);
  const gpu::Context context(settings.device);
  const gpu::Stream stream;
  const Sampler sampler(stream, device);
  WindowPool pool(stream);
  std::mt19937 random{1};
  std::optional<Element> filled;
  std::vector<Json> rows;
  for (const Winner& winner : winners) {
    const Element element = *element_of(winner.choices.at("T"));
    if (filled != element) pool.fill(element, stream);
    filled = element;
    try {
      rows.push_back(measure(settings, library.find(winner.template_name), winner, device, sampler, pool, random));
    } catch (const CudaError&) {
      throw;  // the context is lost
    } catch (const Error& error) {
      rows.push_back({{"template", winner.template_name}, {"choices", winner.choices}, {"n", winner.n}, {"error", error.what()}});
    }
    fmt::print(stderr, "{}\n", dump_json(rows.back()));
  }
  const Json fields{{"rounds", settings.rounds}, {"ratio_is", "median of the rounds' time at the other size over that at the size that was won"}};
  fmt::print(stderr, "written to {}\n", write_results(folder, "ragged_sizes", device, fields, rows).string());
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.contains("error"); }) ? 1 : 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Measures what the last, ragged tile costs the winners of a database, and writes <output>/<device>/ragged_sizes.json"};
  line.option("--db", settings.database, "Database whose winners are measured");
  line.option("--only", settings.only, "Only winners with this in their template's name and family");
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--device", settings.device, "Ordinal of the device").with_default();
  line.option("--rounds", settings.rounds, "Interleaved samples of each").within(1, 10001).with_default();
  if (const auto ended = line.parse(argc, argv)) return *ended;
  try {
    return attune::bench::run(settings);
  } catch (const attune::Error& error) {
    attune::base::tell("ragged_sizes: {}\n", attune::base::Lines{error.what()});
    return static_cast<int>(error.exit_code());
  }
}
