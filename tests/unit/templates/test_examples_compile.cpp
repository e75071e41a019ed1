// The costly kernels among the examples have spaces worth a search, and what is drawn from them and from the others compiles.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "tests/unit/templates/reduce_fixture.hpp"
#include "tuner/space/search_space.hpp"

namespace test_examples_compile {

using namespace attune;

namespace {

struct Example {
  const char* name;
  spec::Problem problem;
  std::uint64_t fewest;  ///< configurations
};

/// Compiles without a word, and has the kernel that is launched. Large parts of a tile in registers may spill.
void check_compiles(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& chosen,
                    const std::string& architecture) {
  static compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);
  CAPTURE(spec::to_text(kernel, chosen));
  CAPTURE(architecture);
  const auto device = spec::DeviceInfo::of_architecture(architecture);
  const auto result = nvrtc.compile({spec::make_source(kernel, problem, chosen, device), "example.cu", architecture,
                                     spec::compiler_options(kernel, problem, chosen, device)});
  REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  CHECK_MESSAGE(result.log.empty(), result.log);
  const auto launches = templates::test::launches(spec::resolve(kernel, problem, chosen, device));
  REQUIRE(launches.size() == 1);
  bool there = false;
  for (const auto& compiled : result.kernels) there = there || compiled.kernel == launches.front().kernel;
  CHECK(there);
}

}  // namespace

TEST_CASE("gemm and nbody have thousands of configurations, which compile on old and new architectures") {
  const Example examples[] = {{"gemm", {{}, {{"m", 4096}, {"n", 4096}, {"k", 4096}}}, 5000}, {"nbody", {{}, {{"n", 131072}}}, 1000}};
  for (const auto& [name, problem, fewest] : examples) {
    CAPTURE(name);
    const auto kernel = spec::KernelTemplate::load(std::string(ATTUNE_SOURCE_DIR) + "/examples/templates/" + name);
    for (const char* architecture : {"sm_75", "sm_90"}) {
      const auto device = spec::DeviceInfo::of_architecture(architecture);
      const auto space = space::SearchSpace::build(kernel, problem, device);
      CHECK(space.size() >= fewest);
      CHECK(spec::satisfies(kernel, problem, spec::default_configuration(kernel, problem, device), device));
      std::mt19937_64 random(7);
      for (const auto ordinal : space.sample(12, random)) check_compiles(kernel, problem, space.at(ordinal), architecture);
    }
  }
}

TEST_CASE("the example of setup and check compiles with the kernels of both, whatever the configuration") {
  const auto kernel = spec::KernelTemplate::load(std::string(ATTUNE_SOURCE_DIR) + "/examples/templates/packed_matvec");
  const spec::Problem problem{{}, {{"rows", 4096}, {"columns", 4096}}};
  CHECK(kernel.setup_is_shared);
  const auto device = spec::DeviceInfo::of_architecture("sm_90");
  const auto space = space::SearchSpace::build(kernel, problem, device);
  std::mt19937_64 random(7);
  for (const auto ordinal : space.sample(4, random)) check_compiles(kernel, problem, space.at(ordinal), "sm_90");
  CHECK(spec::make_source(kernel, problem, space.at(0), device).find("pack(const float* a") != std::string::npos);
}

}  // namespace test_examples_compile
