#include <doctest/doctest.h>

#include <random>
#include <set>

#include "tests/unit/templates/reduce_fixture.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/space/search_space.hpp"

using namespace attune;
using namespace attune::templates::test;

namespace {

constexpr std::size_t kSampled = 4;  // configurations of each type and operator, besides the default

compile::CompileResult compile_for(const std::string& architecture, const std::string& source) {
  static compile::Nvrtc nvrtc;
  return nvrtc.compile({source, "reduce.cu", architecture, {}});
}

std::string source_of(const spec::Problem& of, const spec::Configuration& chosen) {
  return spec::make_source(reduce_template(), of, chosen, device());
}

const compile::KernelResources* kernel_named(const compile::CompileResult& result, const std::string& name) {
  for (const auto& kernel : result.kernels) {
    if (kernel.kernel == name) return &kernel;
  }
  return nullptr;
}

/// A number that the sources give to a constant.
std::int64_t constant(const std::string& name) {
  const std::string& values = reduce_template().files.at("values.cu");
  const auto at = values.find(name + " = ");
  REQUIRE(at != std::string::npos);
  return std::stoll(values.substr(at + name.size() + 3));
}

}  // namespace

TEST_CASE("the reduce template compiles without a warning or a spill for every type and operator") {
  std::mt19937_64 random(7);
  for (const auto& type : kTypes) {
    for (const auto& op : kOperators) {
      const auto small = problem(type, op, 1024);  // single_block is part of the space
      const auto space = space::SearchSpace::build(reduce_template(), small, device());
      std::vector<spec::Configuration> chosen{spec::default_configuration(reduce_template())};
      for (const auto ordinal : space.sample(kSampled, random)) chosen.push_back(space.at(ordinal));
      for (const auto& configuration : chosen) {
        for (const char* const architecture : {"sm_80", "sm_90"}) {
          CAPTURE(spec::to_text(reduce_template(), configuration));
          CAPTURE(spec::to_text(small));
          CAPTURE(architecture);
          const auto result = compile_for(architecture, source_of(small, configuration));
          REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
          CHECK(result.log.empty());
          for (const auto& kernel : result.kernels) {
            CHECK(kernel.spill_store_bytes == 0);
            CHECK(kernel.stack_bytes == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("every grid stage of the reduce template has the kernels that its launches name") {
  for (const char* const stage : {"two_pass", "block_atomic", "last_block", "ticket", "single_block"}) {
    CAPTURE(stage);
    const auto result =
        compile_for("sm_90", source_of(problem("f32", "sum", 1 << 20), configuration({{"grid_stage", text(stage)}})));
    REQUIRE(result.status == compile::CompileStatus::Ok);
    CHECK(kernel_named(result, "reduce_blocks") != nullptr);
    CHECK((kernel_named(result, "reduce_partials") != nullptr) == (std::string(stage) == "two_pass"));
  }
}

TEST_CASE("older and newer architectures compile the default") {
  for (const char* const architecture : {"sm_75", "sm_86", "sm_89", "sm_100", "sm_120"}) {
    CAPTURE(architecture);
    const auto result =
        compile_for(architecture, source_of(problem("f32", "sum", 1), spec::default_configuration(reduce_template())));
    CHECK_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  }
}

TEST_CASE("configurations that differ only in blocks_per_sm share one source") {
  const auto of = problem("f32", "sum", 1 << 20);
  std::set<std::string> sources;
  for (const std::int64_t blocks : {1, 2, 4, 8})
    sources.insert(source_of(of, configuration({{"blocks_per_sm", number(blocks)}})));
  CHECK(sources.size() == 1);
  CHECK(source_of(of, configuration({{"items", number(1)}})) != *sources.begin());
}

TEST_CASE("the size does not enter the source, so that one cubin serves all sizes") {
  const auto chosen = spec::default_configuration(reduce_template());
  CHECK(source_of(problem("f32", "sum", 1), chosen) == source_of(problem("f32", "sum", std::int64_t{1} << 33), chosen));
}

TEST_CASE("the reduce template includes no header") {
  CHECK(source_of(problem("f32", "sum", 1), spec::default_configuration(reduce_template())).find("#include") ==
        std::string::npos);
}

TEST_CASE("constants that stand in the sources and in template.json agree") {
  const auto plan_of = [](const char* stage) {
    return spec::resolve(reduce_template(), problem("f32", "sum", 1 << 20),
                         configuration({{"grid_stage", text(stage)}}), device());
  };
  const auto two_pass = plan_of("two_pass");
  CHECK(std::get<spec::ResolvedLaunch>(two_pass.steps.at(1)).block[0] == constant("kFinishThreads"));
  const auto atomic = plan_of("block_atomic");
  for (const auto& buffer : atomic.buffers) {
    if (buffer.name == "sync") CHECK(buffer.count == constant("kSyncHeader") + 1);
  }
}
