#include <doctest/doctest.h>

#include <random>
#include <set>

#include "tests/unit/templates/argreduce_fixture.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/space/search_space.hpp"

namespace test_argreduce_compiles {

using namespace attune;
using namespace attune::templates::argreduce;

namespace {

/// Configurations of each type and operator, besides the default of every type.
constexpr std::size_t kSampled = 2;

compile::CompileResult compile_for(const std::string& architecture, const std::string& source) {
  static compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);  // for those of the 16-bit types
  return nvrtc.compile({source, "argreduce.cu", architecture, {}});
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

TEST_CASE("the argreduce template compiles without a warning or a spill for every type and operator") {
  std::mt19937_64 random(11);
  for (const auto& type : kTypes) {
    for (const auto& op : kOperators) {
      const auto small = problem(type, op, 1024);  // single_block is part of the space
      const auto space = space::SearchSpace::build(kernel(), small, device());
      // The architectures take turns; the default of every type is compiled for both.
      static_cast<void>(clean_kernels(small, spec::default_configuration(kernel()), op == "max" ? "sm_80" : "sm_90"));
      const char* architecture = "sm_80";
      for (const auto ordinal : space.sample(kSampled, random)) {
        static_cast<void>(clean_kernels(small, space.at(ordinal), architecture));
        architecture = "sm_90";
      }
    }
  }
}

TEST_CASE("every combination of stages of the argreduce template has the kernels that its launches name") {
  for (const char* const block : {"shuffle", "shared_tree"}) {
    for (const char* const stage : {"two_pass", "last_block", "ticket", "single_block"}) {
      const auto names =
          clean_kernels(problem("f32", "max", 1 << 20), configuration({{"block_stage", block}, {"grid_stage", stage}}), "sm_90");
      const bool two_pass = std::string(stage) == "two_pass";
      CHECK(names ==
            (two_pass ? std::set<std::string>{"argreduce_blocks", "argreduce_partials"} : std::set<std::string>{"argreduce_blocks"}));
    }
  }
}

TEST_CASE("argreduce compiles at the edges of its space: the most registers and the largest blocks") {
  struct Edge {
    const char* type;
    const char* block_size;
    const char* items;
    const char* vector_bytes;
  };
  for (const auto& [type, block_size, items, vector_bytes] :
       {Edge{"f64", "1024", "8", "16"}, Edge{"f32", "1024", "8", "16"}, Edge{"f64", "64", "1", "8"}, Edge{"i8", "512", "8", "16"},
        Edge{"i8", "1024", "16", "8"}, Edge{"f16", "1024", "4", "16"}, Edge{"f16", "64", "8", "16"}}) {
    const auto chosen =
        configuration({{"block_size", block_size}, {"items", items}, {"vector_bytes", vector_bytes}, {"blocks_per_sm", "1"}});
    const auto of = problem(type, "min", 1 << 20);
    CHECK(spec::satisfies(kernel(), of, chosen, device()));
    static_cast<void>(clean_kernels(of, chosen, "sm_90"));
  }
}

TEST_CASE("older and newer architectures compile the default of argreduce") {
  for (const char* const architecture : {"sm_75", "sm_86", "sm_100", "sm_120"}) {
    CAPTURE(architecture);
    const auto result = compile_for(architecture, source_of(problem("f32", "max", 1), spec::default_configuration(kernel())));
    CHECK_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  }
}

TEST_CASE("neither the size nor blocks_per_sm enters the source of argreduce") {
  const auto of = problem("f32", "max", 1 << 20);
  std::set<std::string> sources;
  for (const char* const blocks : {"1", "2", "4"}) sources.insert(source_of(of, configuration({{"blocks_per_sm", blocks}})));
  sources.insert(source_of(problem("f32", "max", std::int64_t{1} << 33), configuration({})));
  CHECK(sources.size() == 1);
}

}  // namespace test_argreduce_compiles
