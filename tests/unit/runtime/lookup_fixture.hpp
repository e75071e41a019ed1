#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "db/database.hpp"
#include "tests/support/best_row.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/json.hpp"
#include "tuner/runtime/layers.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::test {

/// y = 2 x. block_size 32 is allowed up to n = 4096, style "fancy" from sm_90 on, and nothing at all beyond n = 500000.
inline constexpr const char* kTwiceJson = R"json({
  "attune": 1, "name": "twice", "summary": "y = 2 x", "sources": ["twice.cu"],
  "problem": {"T": {"type": ["f32", "f64"]}, "n": {"size": {"min": 0, "max": 1000000}}},
  "parameters": {"block_size": {"values": [32, 64, 256], "default": 256},
                 "style": {"values": ["plain", "fancy"], "default": "plain"},
                 "blocks_per_sm": {"values": [1, 4], "default": 4, "bind": "launch"}},
  "constraints": ["block_size > 32 or n <= 4096",
                  "style != 'fancy' or device.compute_capability >= 90",
                  "n <= 500000"],
  "let": {"grid": "clamp(ceil_div(n, block_size), 1, device.sm_count * blocks_per_sm)"},
  "buffers": {"x": {"type": "T", "count": "n"}, "y": {"type": "T", "count": "n", "output": true}},
  "launches": [{"kernel": "twice", "grid": "grid", "block": "block_size", "args": ["x", "n", "y"]}],
  "reference": {"launches": [{"kernel": "twice", "grid": 1, "block": 256, "args": ["x", "n", "y"]}]}
})json";
inline constexpr const char* kTwiceSource = R"(
extern "C" __global__ void twice(const ATTUNE_T* x, long long n, ATTUNE_T* y) {
  for (long long i = blockIdx.x * (long long)ATTUNE_BLOCK_SIZE + threadIdx.x; i < n; i += gridDim.x * (long long)ATTUNE_BLOCK_SIZE)
    y[i] = 2 * x[i];
}
)";

inline spec::KernelTemplate twice_template() {
  return spec::KernelTemplate::parse(kTwiceJson, {{"twice.cu", kTwiceSource}}, "twice/template.json");
}
/// The same as a folder of its own below `templates`, which is returned.
inline std::filesystem::path write_twice(const std::filesystem::path& templates) {
  std::filesystem::create_directories(templates / "twice");
  std::ofstream(templates / "twice/template.json") << kTwiceJson;
  std::ofstream(templates / "twice/twice.cu") << kTwiceSource;
  return templates;
}

inline spec::Problem twice_problem(std::int64_t n) { return {{{"T", "f32"}}, {{"n", n}}}; }

/// An imaginary device of an architecture; `sm_count` tells siblings apart.
inline spec::DeviceInfo device(const std::string& architecture, const std::string& name, int sm_count) {
  auto info = spec::DeviceInfo::of_architecture(architecture);
  info.name = name;
  info.sm_count = sm_count;
  info.driver = "580.10";
  return info;
}

inline std::string configuration(int block_size, const std::string& style = "plain", int blocks_per_sm = 4) {
  return base::dump_json(nlohmann::json{{"block_size", block_size}, {"style", style}, {"blocks_per_sm", blocks_per_sm}});
}

/// A database file in the making; every `add` also describes the donor device.
class LayerFile {
 public:
  explicit LayerFile(std::filesystem::path path) : path_(std::move(path)), database_(db::Database::open(path_, db::OpenMode::ReadWrite)) {}
  void add(const db::BestRow& row, const spec::DeviceInfo& donor) {
    database_.put(device_row(donor));
    database_.put(row);
  }
  void add(const spec::KernelTemplate& kernel, std::int64_t n, const spec::DeviceInfo& donor, const std::string& chosen) {
    add(best_row(kernel, twice_problem(n), donor, chosen), donor);
  }
  /// What the search of that row's problem measured, in microseconds; 0: a wrong result.
  void add_measured(const db::BestRow& row, const std::map<std::string, double>& medians_us) {
    for (const auto& [chosen, us] : medians_us) {
      db::RecordRow record;
      record.template_hash = row.template_hash;
      record.problem = row.problem;
      record.device_key = row.device_key;
      record.policy = row.policy;
      record.configuration = chosen;
      record.outcome = us > 0 ? "ok" : "wrong_result";
      record.stage = "measured";
      record.median_us = us;
      database_.put(record);
    }
  }
  [[nodiscard]] db::Database& database() { return database_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  db::Database database_;
};

}  // namespace attune::test
