// The shipped segmented_reduce over its types, operations and row stages. Verification itself plants elements that decide
// at the edges of rows and tiles, and runs ragged, misaligned and empty matrices beside each shape.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "tests/gpu/lab.hpp"
#include "tests/support/row_stages.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_segmented_reduce {

using namespace attune;
using measure::Outcome;

namespace {

constexpr const char* kTypes[] = {"i8", "u8", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"};
constexpr const char* kOperators[] = {"sum", "product", "min", "max"};

const spec::KernelTemplate& segmented() {
  static const auto kernel = spec::TemplateLibrary().find("segmented_reduce");
  return kernel;
}

spec::Problem problem_of(const char* type, const char* op, std::int64_t rows, std::int64_t columns) {
  return {{{"T", type}, {"op", op}}, {{"rows", rows}, {"columns", columns}}};
}

spec::Configuration configured(const std::map<std::string, std::string>& changes) {
  auto configuration = spec::default_configuration(segmented());
  for (const auto& [parameter, value] : changes) {
    const auto chosen = test::with(segmented(), parameter, value);
    for (std::size_t i = 0; i < segmented().parameters.size(); ++i)
      if (segmented().parameters[i].name == parameter) configuration.index[i] = chosen.index[i];
  }
  return configuration;
}

/// Compiles all first, so that the compile workers work side by side. Returns how many were valid and run.
int check_all(const spec::Problem& problem, const std::vector<spec::Configuration>& configurations) {
  auto& lab = test::Lab::get();
  const auto& device = lab.executor().device();
  std::vector<spec::Configuration> valid;
  for (const auto& configuration : configurations)
    if (spec::satisfies(segmented(), problem, configuration, device)) valid.push_back(configuration);
  for (const auto& configuration : valid) {
    lab.compilers().submit({spec::make_source(segmented(), problem, configuration, device), "segmented_reduce.cu", device.architecture,
                            spec::compiler_options(segmented(), problem, configuration, device)});
  }
  while (!lab.compilers().collect(std::chrono::milliseconds(-1)).empty()) {
  }
  lab.prepare(lab.executor(), segmented(), problem);
  for (const auto& configuration : valid) {
    auto request = lab.request(segmented(), problem, configuration);
    request.max_samples = 1;
    const auto reply = test::Lab::visit(lab.executor(), request);
    INFO(spec::to_text(problem), " ", request.configuration, ": ", reply.detail);
    CHECK(reply.outcome == Outcome::Ok);
    CHECK(reply.verified);
  }
  return static_cast<int>(valid.size());
}

/// The default and some others.
void check_sample(const spec::Problem& problem, std::uint64_t count, std::uint64_t seed) {
  const auto space = space::SearchSpace::build(segmented(), problem, test::Lab::get().executor().device());
  REQUIRE(space.size() > 0);
  std::mt19937_64 random(seed);
  std::vector<spec::Configuration> configurations{spec::default_configuration(segmented())};
  for (const auto ordinal : space.sample(count, random)) configurations.push_back(space.at(ordinal));
  check_all(problem, configurations);
}

}  // namespace

TEST_CASE("segmented_reduce is right for every type and operation") {
  std::uint64_t seed = 1;
  for (const char* type : kTypes) {
    for (const char* op : kOperators) {
      check_sample(problem_of(type, op, 7, 100003), 2, seed++);
      check_sample(problem_of(type, op, 1000, 333), 2, seed++);
    }
  }
}

TEST_CASE("segmented_reduce is right at shapes from one long row to many short ones") {
  struct Shape {
    std::int64_t rows, columns;
  };
  std::uint64_t seed = 100;
  for (const auto& [rows, columns] :
       {Shape{1, 1}, Shape{1, 31}, Shape{1, 1 << 24}, Shape{7, 1000}, Shape{7, 1023}, Shape{65537, 1}, Shape{65537, 3}, Shape{65537, 31},
        Shape{65537, 33}, Shape{65537, 1000}, Shape{1 << 20, 64}, Shape{129, 65537}}) {
    for (const char* type : {"f32", "u8"}) check_sample(problem_of(type, "sum", rows, columns), 3, seed++);
    check_sample(problem_of("f16", "min", rows, columns), 2, seed++);
  }
}

TEST_CASE("segmented_reduce is right in every row stage, with narrow and wide loads") {
  for (const char* type : {"i8", "bf16", "f32", "i64"}) {
    for (const char* op : {"sum", "max"}) {
      std::vector<spec::Configuration> configurations;
      for (auto stage : test::kRowStages) {
        const bool lanes = stage["row_stage"] == "thread" || stage["row_stage"] == "sub_warp" || stage["row_stage"] == "warp";
        configurations.push_back(configured(stage));
        if (stage["row_stage"] == "adaptive") continue;
        stage["vector_bytes"] = "8";
        stage["items"] = "2";
        if (lanes) stage["rows_in_flight"] = "4";
        configurations.push_back(configured(stage));
      }
      // Rows start anywhere between vectors. Narrow types leave out four whose tile is longer than a row.
      CHECK(check_all(problem_of(type, op, 100, 8191), configurations) >= 17);
    }
  }
}

TEST_CASE("segmented_reduce is right beyond 2^32 elements") { check_sample(problem_of("u8", "max", 3, (std::int64_t{1} << 31) + 5), 1, 7); }

}  // namespace test_segmented_reduce
