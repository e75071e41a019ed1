#include "bench/support/generated_database.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "db/tables.hpp"
#include "tuner/base/json.hpp"

namespace attune::bench {
namespace {

constexpr std::uint64_t kRecordsOfProblem = 1000;
constexpr std::uint64_t kMostBest = 100'000;
constexpr std::uint64_t kMostSizesOfFamily = 1000;
constexpr std::uint64_t kSizesOfOtherFamilies = 50;
constexpr std::uint64_t kTransaction = 500'000;  ///< records
constexpr const char* kPolicy = "cold/graph";
constexpr const char* kDate = "2026-11-20T15:17:01Z";

/// A template with its types and choices fixed, on one device.
struct Family {
  std::string hash;
  std::string name;
  std::string text;    ///< canonical JSON without sizes
  std::string prefix;  ///< of a problem's text, up to the size
  std::string suffix;
  std::string device_key;
};

std::string problem_text(const Family& family, std::int64_t n) { return fmt::format("{}{}{}", family.prefix, n, family.suffix); }

/// Configurations of reduce's declared space; the first eight need few compilations, and dispatch uses those.
std::vector<std::string> configurations() {
  std::vector<std::string> texts;
  for (const int vector_bytes : {16, 8, 4}) {
    for (const char* grid_stage : {"ticket", "last_block", "two_pass", "block_atomic"}) {
      for (const int items : {4, 1, 2, 8}) {
        for (const char* block_stage : {"shuffle", "column_tree"}) {
          for (const int block_size : {256, 64, 128}) {
            for (const int blocks_per_sm : {1, 2, 4, 8}) {
              texts.push_back(fmt::format(
                  R"({{"block_size":{},"block_stage":"{}","blocks_per_sm":{},"cluster_blocks":1,"exact_n":false,"grid_stage":"{}","items":{},"load":"tiles","vector_bytes":{}}})",
                  block_size, block_stage, blocks_per_sm, grid_stage, items, vector_bytes));
            }
          }
        }
      }
    }
  }
  return texts;
}

/// As long as a measured configuration's.
std::string record_detail(const std::string& configuration, double us) {
  return nlohmann::json{
      {"configuration", configuration},
      {"detail", ""},
      {"outcome", "ok"},
      {"resources",
       {{"compile_ms", 41.5}, {"occupancy", 0.75}, {"registers", 38}, {"shared_bytes", 4097}, {"spill_bytes", 0}, {"stack_bytes", 0}}},
      {"sm_clock_mhz", 1980},
      {"stage", "measured"},
      {"throttle", ""},
      {"timing",
       {{"between_spread", 0.00195},
        {"calls_per_sample", 271},
        {"high_us", us * 1.01},
        {"low_us", us * 0.99},
        {"median_us", us},
        {"min_us", us * 0.98},
        {"samples", 12},
        {"visits", 3},
        {"within_spread", 0.00434}}},
      {"verified", true}}
      .dump();
}

/// As long as a run-off's: seven finalists with their paired rounds.
std::string best_detail(const std::vector<std::string>& all, double us) {
  nlohmann::json finalists = nlohmann::json::array(), names = nlohmann::json::array(), rounds = nlohmann::json::array();
  for (std::size_t i = 0; i < 7; ++i) {
    names.push_back(all[i]);
    finalists.push_back({{"configuration", all[i]},
                         {"median_us", us},
                         {"low_us", us * 0.99},
                         {"high_us", us * 1.01},
                         {"ratio", 1.0},
                         {"low", 1.0},
                         {"high", 1.0},
                         {"tied", i < 2},
                         {"observations", 31}});
    rounds.push_back(std::vector<double>(31, std::round(us * 1e4) / 1e4));
  }
  return nlohmann::json{{"asked", names},        {"finalists", finalists},          {"round_configurations", names}, {"rounds_us", rounds},
                        {"rounds_per_epoch", 8}, {"left", nlohmann::json::array()}, {"work_bytes", 1 << 20}}
      .dump();
}

class Generator {
 public:
  Generator(const std::filesystem::path& path, std::uint64_t records, const spec::DeviceInfo& here)
      : sqlite_(path.string(), SQLite::OPEN_READWRITE), configurations_(configurations()) {
    made_.kernel = spec::TemplateLibrary().find("reduce");
    made_.device = here;
    made_.records = std::max(records, kRecordsOfProblem);
    made_.best = std::min(made_.records / 100, kMostBest);
    // Nothing but this process knows the file yet: a crash leaves something to be thrown away.
    for (const char* pragma : {"locking_mode = EXCLUSIVE", "journal_mode = OFF", "synchronous = OFF", "cache_size = -2500000"}) {
      SQLite::Statement(sqlite_, std::string("PRAGMA ") + pragma).executeStep();
    }
  }

  GeneratedDatabase run() {
    sqlite_.exec("BEGIN");
    devices_and_templates();
    for (const std::string& text : configurations_) insert("configurations (key, text)", base::content_key(text), text);
    choose_sizes();
    best_rows();
    records();
    sqlite_.exec("COMMIT");
    return std::move(made_);
  }

 private:
  void devices_and_templates() {
    std::vector<spec::DeviceInfo> devices{made_.device};
    for (const char* architecture : {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100"}) {
      devices.push_back(spec::DeviceInfo::of_architecture(architecture));
      devices.back().sm_count -= 2;  // never the first one
      devices.back().name += " (made up)";
    }
    for (const spec::DeviceInfo& device : devices) {
      const db::DeviceRow row{device.hard_key(), device.hard_json(), base::dump_json(device.to_json())};
      insert("devices (hard_key, checksum, hard_json, info_json)", row.hard_key, db::checksum(row.hard_key, row), row.hard_json,
             row.info_json);
    }
    add_template({made_.kernel.content_hash, made_.kernel.name, made_.kernel.spec_text, {}});
    for (const char* type : {"f32", "f64", "i32", "i8"}) {
      for (const char* op : {"sum", "max", "min"}) add_families(made_.kernel.content_hash, made_.kernel.name, type, op, devices);
    }
    for (int i = 0; i < 20; ++i) {
      const std::string name = fmt::format("made_up_{}", i);
      add_template({base::content_key(name), name, made_.kernel.spec_text, {}});
      for (const char* type : {"f32", "f64"}) add_families(base::content_key(name), name, type, "sum", devices);
    }
  }

  void add_template(const db::TemplateRow& row) {
    insert("templates (hash, checksum, name, spec_json)", row.hash, db::checksum(row.hash, row), row.name, row.spec_json);
  }

  void add_families(const std::string& hash, const std::string& name, const std::string& type, const std::string& op,
                    const std::vector<spec::DeviceInfo>& devices) {
    for (const spec::DeviceInfo& device : devices) {
      families_.push_back({hash, name, fmt::format(R"({{"T":"{}","op":"{}"}})", type, op), fmt::format(R"({{"T":"{}","n":)", type),
                           fmt::format(R"(,"op":"{}"}})", op), device.hard_key()});
    }
  }

  /// Spread over the logarithms of 2^10 to 2^32, no two alike.
  void choose_sizes() {
    const std::uint64_t wanted = std::clamp<std::uint64_t>(made_.best, 1, kMostSizesOfFamily);
    std::set<std::int64_t> sizes;
    for (std::uint64_t i = 0; i < wanted; ++i)
      sizes.insert(static_cast<std::int64_t>(std::exp2(10 + 22.0 * static_cast<double>(i) / static_cast<double>(wanted))) +
                   static_cast<std::int64_t>(i));
    made_.sizes.assign(sizes.begin(), sizes.end());
    made_.smallest = {{{"T", "f32"}, {"op", "sum"}}, {{"n", made_.sizes.front()}}};
  }

  /// Problems that have a best row: (family, size), the large family first. Records beyond them go to the same
  /// problems' successors, as searches that were never finished.
  [[nodiscard]] std::pair<std::size_t, std::int64_t> problem(std::uint64_t index) const {
    if (index < made_.sizes.size()) return {0, made_.sizes[index]};
    const std::uint64_t other = index - made_.sizes.size();
    const std::uint64_t family = 1 + other / kSizesOfOtherFamilies % (families_.size() - 1);
    const std::uint64_t round = other / kSizesOfOtherFamilies / (families_.size() - 1);
    return {family, static_cast<std::int64_t>(1000 + 1000 * (round * kSizesOfOtherFamilies + other % kSizesOfOtherFamilies))};
  }

  std::string add_problem(std::uint64_t index) {
    const auto [family, n] = problem(index);
    std::string text = problem_text(families_[family], n);
    insert_new("problems (key, text)", base::content_key(text), text);  // families of other devices have the same
    return text;
  }

  void best_rows() {
    for (std::uint64_t i = 0; i < made_.best; ++i) {
      const auto [family_index, n] = problem(i);
      const Family& family = families_[family_index];
      db::BestRow row;
      row.template_hash = family.hash;
      row.template_name = family.name;
      row.family = family.text;
      row.problem = add_problem(i);
      row.sizes_json = fmt::format(R"({{"n":{}}})", n);
      row.device_key = family.device_key;
      row.policy = kPolicy;
      row.configuration = configurations_[i % 8];
      row.median_us = 1 + static_cast<double>(n) * 1e-6;
      row.default_us = row.median_us * 1.25;
      row.driver = made_.device.driver;
      row.recorded_at = kDate;
      row.detail_json = best_detail(configurations_, row.median_us);
      const std::string key = db::Table<db::BestRow>::key(row);
      insert(
          "best (key, checksum, template_hash, template_name, family, problem_key, sizes_json, device_key, policy, "
          "objective, configuration_key,"
          " median_us, default_us, tie, cubin_key, driver, recorded_at, detail_json)",
          key, db::checksum(key, row), row.template_hash, row.template_name, row.family, base::content_key(row.problem), row.sizes_json,
          row.device_key, row.policy, row.objective, base::content_key(row.configuration), row.median_us, row.default_us, 0, row.cubin_key,
          row.driver, row.recorded_at, row.detail_json);
    }
  }

  void records() {
    db::RecordRow row;
    std::string problem_key;
    for (std::uint64_t i = 0; i < made_.records; ++i) {
      if (i % kRecordsOfProblem == 0) {
        const Family& family = families_[problem(i / kRecordsOfProblem).first];
        row.template_hash = family.hash;
        row.device_key = family.device_key;
        row.problem = add_problem(i / kRecordsOfProblem);
        problem_key = base::content_key(row.problem);
      }
      add_record(row, problem_key, i % kRecordsOfProblem);
      if ((i + 1) % kTransaction == 0) sqlite_.exec("COMMIT; BEGIN");
    }
  }

  void add_record(db::RecordRow& row, const std::string& problem_key, std::uint64_t number) {
    row.policy = kPolicy;
    row.configuration = configurations_.at(number);
    row.outcome = "ok";
    row.stage = "measured";
    row.verified = true;
    row.median_us = 2 + 0.001 * static_cast<double>(number);
    row.low_us = row.median_us * 0.99;
    row.high_us = row.median_us * 1.01;
    row.samples = 12;
    if (number >= details_.size()) details_.push_back(record_detail(row.configuration, row.median_us));
    row.detail_json = details_[number];
    row.driver = "580.159.04";
    row.nvrtc = "13.0.88 CL-36424714";
    row.recorded_at = kDate;
    row.origin = "measured";
    const std::string key = db::Table<db::RecordRow>::key(row);
    insert(
        "records (key, checksum, template_hash, problem_key, device_key, policy, configuration_key, outcome, stage, "
        "verified, detail_json, driver, nvrtc,"
        " recorded_at, origin)",
        key, db::checksum(key, row), row.template_hash, problem_key, row.device_key, row.policy, base::content_key(row.configuration),
        row.outcome, row.stage, 1, row.detail_json, row.driver, row.nvrtc, row.recorded_at, row.origin);
    insert("metrics (record_key, name, value, low, high, samples)", key, "time_us", row.median_us, row.low_us, row.high_us, row.samples);
  }

  template <class... Values>
  void insert(const char* columns, const Values&... values) {
    run("INSERT INTO ", columns, values...);
  }
  template <class... Values>
  void insert_new(const char* columns, const Values&... values) {
    run("INSERT OR IGNORE INTO ", columns, values...);
  }
  template <class... Values>
  void run(const char* verb, const char* columns, const Values&... values) {
    auto& statement = statements_[columns];
    if (!statement) {
      std::string marks;
      for (std::size_t i = 0; i < sizeof...(Values); ++i) marks += i == 0 ? "?" : ", ?";
      statement = std::make_unique<SQLite::Statement>(sqlite_, fmt::format("{}{} VALUES ({})", verb, columns, marks));
    }
    statement->reset();
    int column = 0;
    (statement->bind(++column, values), ...);
    statement->exec();
  }

  SQLite::Database sqlite_;
  std::map<const char*, std::unique_ptr<SQLite::Statement>> statements_;  ///< by the literal's address
  std::vector<std::string> configurations_;
  std::vector<std::string> details_;
  std::vector<Family> families_;
  GeneratedDatabase made_;
};

}  // namespace

GeneratedDatabase generate_database(const std::filesystem::path& path, std::uint64_t records, const spec::DeviceInfo& here) {
  if (std::filesystem::exists(path))
    throw DatabaseError(path.string(), fmt::format("failed generating '{}': the file exists", path.string()));
  { const auto schema = db::Database::open(path, db::OpenMode::ReadWrite); }
  GeneratedDatabase made = Generator(path, records, here).run();
  // Back to WAL, as a database in use is.
  { const auto settled = db::Database::open(path, db::OpenMode::ReadWrite); }
  return made;
}

}  // namespace attune::bench
