#include "bench/support/generated_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tools/fleet/manifest.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/session/tune/store.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::bench {
namespace {

constexpr std::uint64_t kOfProblem = 1000;
constexpr std::int64_t kLeastSize = (1 << 20) + 1;  // all sizes are odd, so that all have the same configurations
constexpr const char* kDate = "2026-11-20T15:17:01.000001Z";

class FleetGenerator {
 public:
  FleetGenerator(std::filesystem::path folder, std::uint64_t records)
      : folder_(std::move(folder)),
        problems_(std::max<std::uint64_t>(records / kOfProblem, 1)),
        kernel_(spec::TemplateLibrary().find("reduce")),
        device_(spec::DeviceInfo::of_architecture("sm_90")) {
    const auto space = space::SearchSpace::build(kernel_, problem(kLeastSize), device_);
    for (std::uint64_t i = 0; i < kOfProblem; ++i)
      configurations_.push_back(spec::to_text(kernel_, space.at(i * space.size() / kOfProblem)));
    device_.name = "made up";
    device_.driver = "580.159.04";
  }

  /// Returns what the manifest says of it.
  tools::ShardEntry shard(std::size_t number) {
    std::string lines;
    auto database = db::Database::open(tools::finished_path(folder_, number), db::OpenMode::ReadWrite);
    {
      db::Database::Batch batch(database);
      device_.uuid = fmt::format("GPU-{:08}", number);
      database.put(db::DeviceRow{device_.hard_key(), device_.hard_json(), base::dump_json(device_.to_json())});
      database.put(db::TemplateRow{kernel_.content_hash, kernel_.name, kernel_.spec_text, kernel_.files});
      for (std::uint64_t i = 0; i < problems_; ++i) {
        const auto n = kLeastSize + static_cast<std::int64_t>(i == 0 ? 0 : 2 * (number * problems_ + i));
        lines += spec::to_text(problem(n)) + "\n";
        tuned(database, problem(n), 1 + 0.01 * static_cast<double>(number % 3) / 2);
      }
      batch.commit();
    }
    const std::string file = fmt::format("shards/{:04}.jsonl", number);
    base::write_output(folder_ / file, lines);
    return {file, base::content_key(lines), problems_, 60.0 * static_cast<double>(problems_)};
  }

  [[nodiscard]] const spec::KernelTemplate& kernel() const { return kernel_; }
  [[nodiscard]] std::uint64_t problems() const { return problems_; }

 private:
  static spec::Problem problem(std::int64_t n) { return {{{"T", "f32"}, {"op", "sum"}}, {{"n", n}}}; }

  void tuned(db::Database& database, const spec::Problem& problem, double slowness) {
    session::RowContext context{kernel_.content_hash, kernel_.name, problem, device_.hard_key(), "cold/graph", device_.driver, "13.0.88",
                                "measured",           kDate};
    session::Decided decided;
    session::RunOffSamples samples;
    for (std::uint64_t i = 0; i < kOfProblem; ++i) {
      const auto measured = measurement(i, slowness);
      database.put(session::to_row(context, measured));
      if (i >= 7) continue;
      session::Placed placed;
      placed.configuration = measured.configuration;
      placed.median_us = measured.timing.median_us;
      decided.placed.push_back(placed);
      samples.configurations.push_back(measured.configuration);
    }
    samples.rounds_us.assign(168, std::vector<double>(7, 2.5));
    database.put(session::to_best_row(context, decided, samples, {}, std::nullopt, configurations_.front(), samples.configurations));
    db::SessionRow session;
    session.template_hash = kernel_.content_hash;
    session.problem = spec::to_text(problem);
    session.device_key = context.device_key;
    session.policy = context.policy;
    session.strategy = "auto";
    session.state = "finished";
    session.space_size = kOfProblem;
    session.started_at = session.finished_at = "2026-11-20T15:17:01Z";
    session.summary_json = "{}";
    session.key = base::content_key(session.problem + device_.uuid);
    database.put(session);
  }

  [[nodiscard]] measure::Measurement measurement(std::uint64_t i, double slowness) const {
    measure::Measurement one;
    one.configuration = configurations_[i];
    one.stage = i < 7 ? measure::Stage::RunOff : measure::Stage::Measured;
    one.verified = true;
    const double us = (2 + 0.001 * static_cast<double>(i)) * slowness;
    one.timing = {us, us * 0.99, us * 1.01, us * 0.98, 0.00434, 0.00195, 12, 3, 271};
    one.resources = {38, 4097, 0, 0, 0.75, 41.5};
    one.sm_clock_mhz = 1980;
    return one;
  }

  std::filesystem::path folder_;
  std::uint64_t problems_;
  spec::KernelTemplate kernel_;
  spec::DeviceInfo device_;
  std::vector<std::string> configurations_;
};

}  // namespace

void generate_fleet(const std::filesystem::path& folder, std::size_t shards, std::uint64_t records) {
  for (const char* name : {"shards", "results"}) std::filesystem::create_directories(folder / name);
  FleetGenerator generator(folder, records);
  tools::Manifest manifest;
  manifest.attune_version = "bench";
  manifest.template_hash = generator.kernel().content_hash;
  manifest.options.template_name = generator.kernel().name;
  manifest.controls = 1;
  manifest.problems = 1 + shards * (generator.problems() - 1);
  for (std::size_t i = 0; i < shards; ++i) manifest.shards.push_back(generator.shard(i));
  base::write_output(tools::manifest_path(folder), manifest.text());
}

}  // namespace attune::bench
