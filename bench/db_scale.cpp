// How opening and looking up depend on the number of records: generated databases, the dispatcher over each of them.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "attune/runtime.hpp"
#include "bench/support/command_line.hpp"
#include "bench/support/generated_database.hpp"
#include "bench/support/json.hpp"
#include "bench/support/result_file.hpp"
#include "db/database.hpp"
#include "tuner/base/median.hpp"
#include "tuner/base/standard_descriptors.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/runtime/lookup.hpp"

namespace attune::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

struct Settings {
  fs::path output;
  fs::path folder = fs::temp_directory_path();
  std::vector<std::uint64_t> records{1'000, 100'000, 10'000'000};
  int repetitions = 21;
  bool keep = false;
};

/// Milliseconds of `work`, the median of several. `before` runs outside of the time.
template <class Work, class Before>
double median_ms(int repetitions, Work&& work, Before&& before) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    before();
    const auto start = Clock::now();
    [[maybe_unused]] const auto kept = work();  // destroyed after the clock was read
    times.push_back(Milliseconds(Clock::now() - start).count());
  }
  return base::median(std::move(times));
}

template <class Work>
double median_ms(int repetitions, Work&& work) {
  return median_ms(repetitions, std::forward<Work>(work), [] {});
}

/// Asks the kernel to forget what it holds of the file. It may decline: then cold is as warm.
void drop_from_memory(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::fdatasync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

class Row {
 public:
  Row(const Settings& settings, const spec::DeviceInfo& here, bool has_driver, const fs::path& path)
      : settings_(settings), has_driver_(has_driver), path_(path), here_(here) {}

  Json measure(std::uint64_t records) {
    const auto start = Clock::now();
    made_ = generate_database(path_, records, here_);
    row_["records"] = made_.records;
    row_["best"] = made_.best;
    row_["family_sizes"] = made_.sizes.size();
    row_["file_bytes"] = fs::file_size(path_);
    row_["generated_s"] = std::chrono::duration<double>(Clock::now() - start).count();
    opening();
    choice();
    lookup();
    tools();
    return row_;
  }

 private:
  [[nodiscard]] std::unique_ptr<Runtime> named_runtime() const {
    Options options;
    options.databases = {path_};
    return std::make_unique<Runtime>(options);
  }

  void opening() {
    const auto drop = [&] { drop_from_memory(path_); };
    ::setenv("ATTUNE_DB", path_.c_str(), 1);
    row_["open_ms"] = median_ms(settings_.repetitions, [] { return std::make_unique<Runtime>(); });
    row_["open_named_ms"] = median_ms(settings_.repetitions, [&] { return named_runtime(); });
    row_["open_cold_ms"] = median_ms(
        5, [] { return std::make_unique<Runtime>(); }, drop);
  }

  /// The slow path of new sizes, in the largest family: a tuned size, and one between two.
  void choice() {
    const auto layers = runtime::open_layers({path_}).layers;
    spec::Problem problem = made_.smallest;
    const auto walk = [&] { return runtime::choose(made_.kernel, problem, made_.device, layers, {"cold/graph"}); };
    problem.sizes["n"] = made_.sizes[made_.sizes.size() / 2];
    if (walk().decision.tier != Tier::ExactSize) throw Error("failed looking up a generated row: it was not found");
    row_["choice_exact_us"] = 1e3 * median_ms(settings_.repetitions, walk);
    ++problem.sizes["n"];
    row_["choice_between_us"] = 1e3 * median_ms(settings_.repetitions, walk);
    problem.choices["op"] = "max";
    row_["choice_small_family_us"] = 1e3 * median_ms(settings_.repetitions, walk);
  }

  /// A plan that exists. Needs a driver, also the one without a GPU that tests use: finding a plan runs nothing on a
  /// device.
  void lookup() {
    constexpr int kLookups = 20'000;
    row_["lookup_ns"] = nullptr;
    if (!has_driver_) {
      row_["lookup_ns_missing"] = "no CUDA driver here";
      return;
    }
    const gpu::Context context(0);
    const auto runtime = named_runtime();
    const auto kernel = runtime->kernel("reduce", {{"T", "f32"}, {"op", "sum"}});
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < made_.sizes.size(); i += std::max<std::size_t>(made_.sizes.size() / 32, 1)) sizes.push_back(made_.sizes[i]);
    for (const std::int64_t n : sizes) kernel.prepare({n});
    const auto reads = runtime->counters().database_reads;
    std::vector<double> times;
    for (int repetition = 0; repetition < settings_.repetitions; ++repetition) {
      const auto start = Clock::now();
      for (int i = 0; i < kLookups; ++i) static_cast<void>(kernel.plan({sizes[static_cast<std::size_t>(i) % sizes.size()]}));
      times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kLookups);
    }
    if (runtime->counters().database_reads != reads) throw Error("failed measuring the lookup: it read the database");
    row_["lookup_ns"] = base::median(std::move(times));
    row_["lookup_driver"] = here_.name + ", driver " + here_.driver;
  }

  void tools() {
    const auto read_only = [&] { return std::make_unique<db::Database>(db::Database::open(path_, db::OpenMode::ReadOnly)); };
    const auto writable = [&] { return std::make_unique<db::Database>(db::Database::open(path_, db::OpenMode::ReadWrite)); };
    const auto reader = read_only();
    row_["info_ms"] = median_ms(3, [&] { return reader->info(); });
    db::Query query;
    query.template_hash = made_.kernel.content_hash;
    query.problem = spec::to_text(made_.smallest);
    query.device_key = made_.device.hard_key();
    query.policy = "cold/graph";
    row_["problem_records_ms"] = median_ms(3, [&] { return reader->records(query); });
    row_["open_for_writing_ms"] = median_ms(5, writable);
    row_["open_for_writing_cold_ms"] = median_ms(3, writable, [&] { drop_from_memory(path_); });
    db::RecordRow record = reader->records(query).at(0);
    const auto writer = writable();
    row_["store_record_us"] = 1e3 * median_ms(101, [&] {
                                record.configuration += ' ';
                                writer->put(record);
                                return 0;
                              });
  }

  const Settings& settings_;
  bool has_driver_;
  fs::path path_;
  spec::DeviceInfo here_;
  GeneratedDatabase made_;
  Json row_;
};

spec::DeviceInfo device_here(bool has_driver) {
  if (has_driver) return gpu::read_device(0);
  auto stand_in = spec::DeviceInfo::of_architecture("sm_90");
  stand_in.name = "no GPU";
  return stand_in;
}

int run(const Settings& settings) {
  const bool has_driver = gpu::Driver::unavailable_reason().empty();
  const spec::DeviceInfo here = device_here(has_driver);
  ::setenv("ATTUNE_SHIPPED_DB", (settings.folder / "none.db").c_str(), 1);
  const fs::path results = results_folder(settings.output);
  std::vector<Json> rows;
  for (const std::uint64_t records : settings.records) {
    const fs::path folder = settings.folder / fmt::format("attune-db-scale-{}", ::getpid());
    fs::create_directories(folder);
    rows.push_back(Row(settings, here, has_driver, folder / "scale.db").measure(records));
    if (settings.keep) {
      fs::rename(folder, settings.folder / fmt::format("attune-db-scale-{}", records));
    } else {
      fs::remove_all(folder);
    }
    fmt::print("{}\n", dump_json(rows.back()));
    std::fflush(stdout);
  }
  const Json fields{{"units",
                     "ms, us and ns are medians; cold: the file was dropped from memory before, lookup_ns: a plan that "
                     "exists, choice_*: the slow path of new sizes"}};
  fmt::print("{}\n", write_results(results, "db_scale", here, fields, rows).string());
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::base::occupy_standard_descriptors();
  attune::bench::Settings settings;
  attune::bench::CommandLine line{"Opening and looking up in generated databases of several sizes"};
  line.option("--records", settings.records, "Numbers of records").with_default();
  line.option("--folder", settings.folder, "Where the databases are made: 13 GB for ten million records").with_default();
  line.option("--output", settings.output, "Results folder (default: bench/results of the source tree)");
  line.option("--repetitions", settings.repetitions, "Of each timing").with_default();
  line.flag("--keep", settings.keep, "Leave the databases behind");
  return line.run(argc, argv, [&] { return attune::bench::run(settings); });
}
