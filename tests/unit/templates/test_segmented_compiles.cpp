#include <doctest/doctest.h>

#include <random>
#include <set>

#include "tests/support/row_stages.hpp"
#include "tests/unit/templates/segmented_fixture.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/space/search_space.hpp"

namespace test_segmented_compiles {

using namespace attune;
using namespace attune::templates::segmented;

namespace {

compile::CompileResult compile_for(const std::string& architecture, const std::string& source) {
  static compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);  // for those of the 16-bit types
  return nvrtc.compile({source, "segmented_reduce.cu", architecture, {}});
}

std::string source_of(const spec::Problem& of, const spec::Configuration& chosen) {
  return spec::make_source(kernel(), of, chosen, device());
}

/// The kernels of a configuration that compiles without a warning, a spill or a stack.
std::set<std::string> clean_kernels(const spec::Problem& of, const spec::Configuration& chosen, const std::string& architecture) {
  CAPTURE(spec::to_text(kernel(), chosen));
  CAPTURE(spec::to_text(of));
  CAPTURE(architecture);
  const auto result = compile_for(architecture, source_of(of, chosen));
  REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  CHECK(result.log.empty());
  std::set<std::string> names;
  for (const auto& compiled : result.kernels) {
    CHECK(compiled.spill_store_bytes == 0);
    CHECK(compiled.stack_bytes == 0);
    names.insert(compiled.kernel);
  }
  return names;
}

}  // namespace

TEST_CASE("the segmented_reduce template compiles without a warning or a spill for every type and operator") {
  std::mt19937_64 random(17);
  bool older = false;
  for (const auto& type : kTypes) {
    for (const auto& op : kOperators) {
      // Few rows and long ones have the stages of blocks, many and shorter ones those of lanes and of a block. One
      // configuration, drawn at random; shapes and architectures take turns.
      const bool few = (op == "sum") != older;
      const auto shape = few ? problem(type, op, 3, 1 << 22) : problem(type, op, 65537, 1000);
      const auto space = space::SearchSpace::build(kernel(), shape, device());
      for (const auto ordinal : space.sample(1, random))
        static_cast<void>(clean_kernels(shape, space.at(ordinal), older ? "sm_80" : "sm_90"));
      older = !older;
    }
    static_cast<void>(clean_kernels(problem(type, "min", 7, 7), spec::default_configuration(kernel()), older ? "sm_80" : "sm_90"));
    older = !older;
  }
}

TEST_CASE("every row stage of the segmented_reduce template has the kernels that its launches name") {
  const std::map<std::string, std::set<std::string>> of_stage = {
      {"thread", {"segmented_by_lanes"}},
      {"sub_warp", {"segmented_by_lanes"}},
      {"warp", {"segmented_by_lanes"}},
      {"block", {"segmented_by_block"}},
      {"two_pass", {"segmented_by_blocks", "segmented_partials"}},
      {"last_block", {"segmented_by_blocks"}},
      {"ticket", {"segmented_by_blocks"}},
      {"adaptive", {"segmented_by_lanes", "segmented_by_block", "segmented_by_blocks"}}};
  for (const auto& stage : attune::test::kRowStages) {
    const auto names = clean_kernels(problem("f32", "sum", 100, 100000), configuration(stage), "sm_90");
    CHECK(names == of_stage.at(stage.at("row_stage")));
  }
}

TEST_CASE("segmented_reduce compiles at the edges of its space: the most registers and the largest blocks") {
  const std::vector<std::map<std::string, std::string>> edges = {
      {{"row_stage", "sub_warp"}, {"lanes", "16"}, {"rows_in_flight", "8"}, {"items", "1"}, {"block_size", "256"}},
      {{"row_stage", "warp"}, {"rows_in_flight", "2"}, {"items", "4"}, {"block_size", "512"}},
      {{"row_stage", "warp"}, {"items", "8"}, {"block_size", "1024"}},
      {{"row_stage", "block"}, {"items", "8"}, {"block_size", "1024"}},
      {{"row_stage", "ticket"}, {"items", "8"}, {"block_size", "1024"}}};
  for (const char* const type : {"i8", "f16", "f64"})
    for (const auto& edge : edges) static_cast<void>(clean_kernels(problem(type, "max", 100, 100000), configuration(edge), "sm_90"));
}

TEST_CASE("older and newer architectures compile the default of segmented_reduce") {
  for (const char* const architecture : {"sm_75", "sm_86", "sm_100", "sm_120"}) {
    CAPTURE(architecture);
    const auto result = compile_for(architecture, source_of(problem("f32", "sum", 1, 1), spec::default_configuration(kernel())));
    CHECK_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  }
}

TEST_CASE("neither the sizes nor blocks_per_sm enter the source of segmented_reduce") {
  std::set<std::string> sources;
  for (const char* const blocks : {"1", "2", "4"})
    sources.insert(source_of(problem("f32", "max", 1 << 20, 7), configuration({{"blocks_per_sm", blocks}})));
  sources.insert(source_of(problem("f32", "max", 3, std::int64_t{1} << 33), configuration({})));
  CHECK(sources.size() == 1);
}

}  // namespace test_segmented_compiles
