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
#include "bench/support/histogram_input.hpp"
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
  int most = 0;  ///< winners; 0: all
  int device = 0;
  int rounds = 31;
};

struct Winner {
  std::string template_name;
  std::map<std::string, std::string> choices;
  std::map<std::string, std::int64_t> sizes;  ///< n, and bins of a histogram
  spec::Configuration configuration;

  [[nodiscard]] std::int64_t n() const { return sizes.at("n"); }
  [[nodiscard]] bool counts() const { return template_name == "histogram"; }
  [[nodiscard]] spec::Problem at(int more) const {
    spec::Problem problem{choices, sizes};
    problem.sizes.at("n") += more;
    return problem;
  }
};

/// What a winner is measured at.
struct Case {
  const char* name;
  int more;             ///< elements
  std::size_t shifted;  ///< elements that the input begins behind an aligned address
};
constexpr std::array<Case, 4> kCases{{{"whole", 0, 0}, {"one_more", 1, 0}, {"one_less", -1, 0}, {"misaligned", 0, 1}}};

std::optional<Element> element_of(const std::string& type) {
  constexpr std::pair<const char*, Element> kNames[] = {{"f32", Element::F32},   {"f64", Element::F64}, {"f16", Element::F16},
                                                        {"bf16", Element::Bf16}, {"i32", Element::I32}, {"i8", Element::I8}};
  for (const auto& [name, element] : kNames)
    if (type == name) return element;
  return std::nullopt;
}

/// Whether the inputs below stand for it.
bool is_known(const std::string& template_name, const spec::Problem& problem) {
  if (template_name == "histogram") {
    return !problem.choices.contains("Counter") && !problem.choices.contains("channels") &&
           has_plain_histogram(problem.choices.at("mapping"), problem.choices.at("T"));
  }
  return (template_name == "reduce" || template_name == "argreduce") && !problem.choices.contains("transform") &&
         element_of(problem.choices.at("T"));
}

/// What its input takes, with room for one element more and for the shift by one.
std::size_t input_bytes(const Winner& winner) {
  const std::string& type = winner.choices.at("T");
  const auto element = element_of(type);
  return (static_cast<std::size_t>(winner.n()) + 2) * (element ? size_bytes(*element) : 1);
}

/// At most so many, evenly out of all.
std::vector<Winner> spread(std::vector<Winner> all, std::size_t most) {
  if (most == 0 || all.size() <= most) return all;
  std::vector<Winner> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(std::move(all[i * all.size() / most]));
  return some;
}

/// The size that it won, without what its last tile lacks; below one tile without what lacks to 64 elements.
std::int64_t whole_tiles(const spec::KernelTemplate& kernel, const Winner& winner, const spec::DeviceInfo& device) {
  constexpr std::int64_t kFew = 64;
  const auto tile = spec::make_scope(kernel, winner.at(0), winner.configuration, device)("tile");
  const std::int64_t elements = tile ? std::get<std::int64_t>(*tile) : kFew;
  const std::int64_t whole = winner.n() >= elements ? elements : kFew;
  return std::max(whole, winner.n() / whole * whole);
}

/// The winners of the templates that reduce an array or count one, in the general form of their code, once each, at a whole number of
/// tiles.
std::vector<Winner> winners_of(const Settings& settings, const spec::TemplateLibrary& library, const spec::DeviceInfo& device) {
  const auto database = db::Database::open(settings.database, db::OpenMode::ReadOnly);
  std::vector<Winner> winners;
  std::set<std::string> known;
  for (const db::BestRow& row : database.best({.policy = "cold/graph"})) {
    const auto problem = spec::problem_from_text(row.problem);
    if (!is_known(row.template_name, problem) || (row.template_name + " " + row.family).find(settings.only) == std::string::npos) continue;
    const auto kernel = library.find(row.template_name);
    Winner winner{row.template_name, problem.choices, problem.sizes,
                  spec::for_any_size(kernel, spec::configuration_from_text(kernel, row.configuration))};
    winner.sizes.at("n") = whole_tiles(kernel, winner, device);
    if (known.insert(winner.template_name + spec::to_text(winner.at(0)) + spec::to_text(kernel, winner.configuration)).second)
      winners.push_back(std::move(winner));
  }
  return winners;
}

/// The data that a winner reads, with room for one element more.
class Input {
 public:
  virtual ~Input() = default;
  [[nodiscard]] virtual std::int64_t windows() const = 0;
  [[nodiscard]] virtual std::size_t element_bytes() const = 0;
  [[nodiscard]] virtual std::size_t output_bytes() const = 0;
  /// The arguments of a launch that reads the window from this many bytes on.
  [[nodiscard]] virtual std::vector<Argument> arguments(std::int64_t window, std::size_t shift, const void* out) const = 0;
};

class ReductionInput : public Input {
 public:
  ReductionInput(WindowPool& pool, const Winner& winner, const gpu::Stream& stream)
      : pool_(pool), template_name_(winner.template_name), element_(*element_of(winner.choices.at("T"))), bytes_(input_bytes(winner)) {
    pool.fill(element_, stream);
  }
  [[nodiscard]] std::int64_t windows() const override { return pool_.windows(bytes_); }
  [[nodiscard]] std::size_t element_bytes() const override { return size_bytes(element_); }
  [[nodiscard]] std::size_t output_bytes() const override { return 256; }
  [[nodiscard]] std::vector<Argument> arguments(std::int64_t window, std::size_t shift, const void* out) const override {
    auto arguments = launch_arguments(template_name_, element_ == Element::F64 ? 8 : 4,
                                      static_cast<const char*>(pool_.window(window, bytes_)) + shift, out);
    if (template_name_ == "argreduce") arguments.push_back(Argument::pointer(static_cast<const char*>(out) + 8));
    return arguments;
  }

 private:
  const WindowPool& pool_;
  std::string template_name_;
  Element element_;
  std::size_t bytes_;
};

/// Samples of the stated skew; where none is stated, of even ones.
class CountedInput : public Input {
 public:
  CountedInput(WindowPool& pool, const Winner& winner, const gpu::Stream& stream)
      : pool_(pool), input_(pool, problem_of(winner), measure::CachePolicy::Cold, stream) {}
  [[nodiscard]] std::int64_t windows() const override { return input_.windows; }
  [[nodiscard]] std::size_t element_bytes() const override { return input_.problem.sample_bytes(); }
  [[nodiscard]] std::size_t output_bytes() const override { return input_.problem.output_bytes(); }
  [[nodiscard]] std::vector<Argument> arguments(std::int64_t window, std::size_t shift, const void* out) const override {
    return input_.arguments(static_cast<const char*>(pool_.window(window, input_.bytes)) + shift, out);
  }

 private:
  static HistogramProblem problem_of(const Winner& winner) {
    const auto stated = winner.choices.find("skew");
    const Skew skew = stated == winner.choices.end() ? Skew::Uniform : skew_named(stated->second).value_or(Skew::Uniform);
    return plain_histogram(winner.choices.at("mapping"), winner.choices.at("T"), winner.n() + 2, static_cast<int>(winner.sizes.at("bins")),
                           skew);
  }

  const WindowPool& pool_;
  HistogramInput input_;
};

std::unique_ptr<Input> input_of(WindowPool& pool, const Winner& winner, const gpu::Stream& stream) {
  if (winner.counts()) return std::make_unique<CountedInput>(pool, winner, stream);
  return std::make_unique<ReductionInput>(pool, winner, stream);
}

/// A database that names this configuration at all of the winner's sizes.
void write_database(const fs::path& path, const spec::KernelTemplate& kernel, const Winner& winner, const spec::DeviceInfo& device) {
  auto database = db::Database::open(path, db::OpenMode::ReadWrite);
  database.put(test::device_row(device));
  for (const Case& at : kCases) {
    database.put(test::best_row(kernel, winner.at(at.more), device, spec::to_text(kernel, winner.configuration)));
  }
}

struct Measured {
  Plan plan;
  gpu::Buffer scratch;
  Contender contender;
};

/// The grids of its launches.
std::vector<std::array<std::uint32_t, 3>> grids_of(const spec::KernelTemplate& kernel, const Winner& winner, int more,
                                                   const spec::DeviceInfo& device) {
  std::vector<std::array<std::uint32_t, 3>> grids;
  const auto plan = spec::resolve(kernel, winner.at(more), winner.configuration, device);
  for (const auto* const launch : spec::launches_of(plan)) grids.push_back(launch->grid);
  return grids;
}

Json measure(const Settings& settings, const spec::KernelTemplate& kernel, const Winner& winner, const spec::DeviceInfo& device,
             const Sampler& sampler, WindowPool& pool, std::mt19937& random) {
  const gpu::Stream& stream = sampler.stream();
  const test::TempFolder folder;
  write_database(folder / "one.db", kernel, winner, device);
  Options options;
  options.databases = {folder / "one.db"};
  Runtime runtime(options);
  const auto input = input_of(pool, winner, stream);
  std::vector<std::unique_ptr<Measured>> all;
  std::vector<Contender*> contenders;
  for (const Case& at : kCases) {
    const auto tuned = runtime.kernel(winner.template_name, winner.choices);
    const std::int64_t n = winner.n() + at.more;
    const Plan plan = winner.counts() ? tuned.plan({n, winner.sizes.at("bins")}) : tuned.plan({n});
    if (plan.decision().tier != Tier::ExactSize) throw Error("failed measuring: " + describe(plan.decision()));
    all.push_back(std::make_unique<Measured>(Measured{plan, zeroed(plan.workspace_bytes(), stream),
                                                      Contender{at.name, gpu::Buffer(input->output_bytes()), std::nullopt, {}, {}}}));
    Measured& one = *all.back();
    one.contender.batch.emplace(
        sampler, measure::CachePolicy::Cold, input->windows(), [&, shift = at.shifted * input->element_bytes()](std::int64_t window) {
          const auto arguments = input->arguments(window, shift, one.contender.out());
          one.plan.launch(arguments.data(), arguments.size(), reinterpret_cast<void*>(one.scratch.address()), stream.get());
        });
    contenders.push_back(&one.contender);
  }
  measure_rounds(contenders, settings.rounds, random);
  Json row{{"template", winner.template_name},
           {"choices", winner.choices},
           {"sizes", winner.sizes},
           {"configuration", parse_json(spec::to_text(kernel, winner.configuration))}};
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    const auto ratio = ratio_to(all.front()->contender, all[i]->contender);
    row[std::string(kCases[i].name) + "_us"] = measure::summarise({all[i]->contender.samples_us}, all[i]->contender.calls()).median_us;
    if (i == 0) continue;
    row[std::string(kCases[i].name) + "_ratio"] = ratio.median_ratio;
    row[std::string(kCases[i].name) + "_same_blocks"] =
        grids_of(kernel, winner, kCases[i].more, device) == grids_of(kernel, winner, 0, device);
  }
  return row;
}

int run(const Settings& settings) {
  const auto folder = results_folder(settings.output);  // before minutes of measuring
  const auto device = gpu::read_device(settings.device);
  const spec::TemplateLibrary library;
  const gpu::Context context(settings.device);
  const gpu::Stream stream;
  const Sampler sampler(stream, device);
  WindowPool pool(stream);
  auto all = winners_of(settings, library, device);
  const std::size_t of = all.size();
  const std::size_t too_large = std::erase_if(all, [&](const Winner& winner) { return pool.windows(input_bytes(winner)) == 0; });
  const auto winners = spread(std::move(all), static_cast<std::size_t>(settings.most));
  std::mt19937 random{1};
  std::vector<Json> rows;
  for (const Winner& winner : winners) {
    try {
      rows.push_back(measure(settings, library.find(winner.template_name), winner, device, sampler, pool, random));
    } catch (const CudaError& error) {  // the context is lost
      const auto configuration = spec::to_text(library.find(winner.template_name), winner.configuration);
      throw CudaError(error.result(), error.call(),
                      fmt::format("{} {} {}: {}", winner.template_name, spec::to_text(winner.at(0)), configuration, error.what()));
    } catch (const Error& error) {
      rows.push_back({{"template", winner.template_name}, {"choices", winner.choices}, {"sizes", winner.sizes}, {"error", error.what()}});
    }
    fmt::print(stderr, "{}\n", dump_json(rows.back()));
  }
  const Json fields{{"rounds", settings.rounds},
                    {"winners_of", of},
                    {"too_large_to_measure", too_large},
                    {"ratio_is", "median of the rounds' time at the other size over that at a whole number of tiles"}};
  fmt::print(stderr, "written to {}\n", write_results(folder, "ragged_sizes", device, fields, rows).string());
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.contains("error"); }) ? 1 : 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{
      "Measures what the last, ragged tile costs the winners of a database, and writes <output>/<device>/ragged_sizes.json"};
  line.option("--db", settings.database, "Database whose winners are measured");
  line.option("--only", settings.only, "Only winners with this in their template's name and family");
  line.option("--winners", settings.most, "At most so many, spread evenly over all; 0: all").within(0, 1000000).with_default();
  line.option("--output", settings.output, "Folder of the results; default: bench/results of the source tree");
  line.option("--device", settings.device, "Ordinal of the device").with_default();
  line.option("--rounds", settings.rounds, "Interleaved samples of each").within(1, 10001).with_default();
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
