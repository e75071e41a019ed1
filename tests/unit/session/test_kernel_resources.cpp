// What a compiled configuration takes of an SM, and that one of which no block fits is told before any launch.
#include <doctest/doctest.h>

#include "tuner/compile/compiler.hpp"
#include "tuner/session/source/kernel_resources.hpp"

namespace test_kernel_resources {

using namespace attune;

namespace {

const spec::DeviceInfo& device() {
  static const auto info = spec::DeviceInfo::of_architecture("sm_90");
  return info;
}

/// Two launches, of `first` with 1,024 threads and of `second` with 128.
spec::LaunchPlan plan() {
  static const auto kernel = spec::KernelTemplate::parse(R"({
    "attune": 1, "name": "two", "sources": ["two.cu"], "problem": {"n": {"size": {"min": 1}}}, "parameters": {},
    "buffers": {"out": {"type": "f32", "count": "n", "output": true}},
    "launches": [{"kernel": "first", "grid": 1, "block": 1024, "args": ["out"]}, {"kernel": "second", "grid": 1, "block": 128, "shared": 4096, "args": ["out"]}],
    "reference": "none"})",
                                                         {{"two.cu", ""}}, "two.json");
  return spec::resolve(kernel, {{}, {{"n", 100}}}, spec::default_configuration(kernel), device());
}

compile::CompileResult compiled(int first_registers, int second_registers) {
  compile::CompileResult result;
  result.kernels = {{"first", first_registers, 1024, 0, 0, 0}, {"second", second_registers, 2048, 16, 4, 8}};
  return result;
}

}  // namespace

TEST_CASE("the kernel with the most registers says what a configuration takes") {
  measure::Resources resources;
  session::add_resources(resources, plan(), compiled(32, 64), device(), "two.json");
  CHECK(resources.registers == 64);
  CHECK(resources.shared_bytes == 2048 + 4096);
  CHECK(resources.stack_bytes == 16);
  CHECK(resources.spill_bytes == 12);
  CHECK(resources.occupancy == doctest::Approx(0.5));  // 64 registers x 32 lanes are 2,048 a warp: 32 of 64 warps
}

TEST_CASE("a kernel of which no block fits an SM exceeds the limits, whichever it is") {
  measure::Resources resources;
  // 1,024 threads of 72 registers are more than the 65,536 that there are; 128 threads of 255 are not.
  CHECK_THROWS_WITH_AS(session::add_resources(resources, plan(), compiled(72, 64), device(), "two.json"),
                       doctest::Contains("two.json: no block of \"first\" fits an SM: 1024 threads of 72 registers each"),
                       spec::LimitError);
  CHECK_NOTHROW(session::add_resources(resources, plan(), compiled(64, 255), device(), "two.json"));
}

TEST_CASE("a block larger than its kernel's __launch_bounds__ exceeds the limits, as the code tells them") {
  const auto bounded = [](const std::string& bounds) {
    compile::Nvrtc nvrtc;
    const auto result = nvrtc.compile({"extern \"C\" __global__ void " + bounds +
                                           " first(float* out) { out[0] = 1; }\n"
                                           "extern \"C\" __global__ void second(float* out) { out[0] = 1; }\n",
                                       "two.cu",
                                       "sm_90",
                                       {}});
    REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
    return result;
  };
  measure::Resources resources;
  CHECK_THROWS_WITH_AS(session::add_resources(resources, plan(), bounded("__launch_bounds__(512)"), device(), "two.json"),
                       doctest::Contains("a block of \"first\" has 1024 threads; its __launch_bounds__ allow 512"), spec::LimitError);
  CHECK_NOTHROW(session::add_resources(resources, plan(), bounded("__launch_bounds__(1024)"), device(), "two.json"));
  CHECK_NOTHROW(session::add_resources(resources, plan(), bounded(""), device(), "two.json"));
}

TEST_CASE("a kernel of setup or check says nothing of what a configuration takes, and ends it where no block fits") {
  const auto kernel = spec::KernelTemplate::parse(R"({
    "attune": 1, "name": "two", "sources": ["two.cu"], "problem": {"n": {"size": {"min": 1}}}, "parameters": {"size": {"values": [1024], "default": 1024}},
    "buffers": {"ready": {"type": "f32", "count": "n", "prepared": true}, "out": {"type": "f32", "count": "n", "output": true}},
    "setup": [{"kernel": "first", "grid": 1, "block": "size", "args": ["ready"]}],
    "launches": [{"kernel": "second", "grid": 1, "block": 128, "args": ["ready", "out"]}],
    "reference": "none"})",
                                                  {{"two.cu", ""}}, "two.json");
  const spec::Problem problem{{}, {{"n", 100}}};
  const auto configuration = spec::default_configuration(kernel);
  measure::Resources resources;
  session::add_resources(resources, spec::resolve(kernel, problem, configuration, device()), compiled(72, 64), device(), "two.json");
  CHECK(resources.registers == 64);
  CHECK_NOTHROW(session::require_untimed_fits(kernel, problem, configuration, compiled(64, 255), device()));
  CHECK_THROWS_WITH_AS(session::require_untimed_fits(kernel, problem, configuration, compiled(72, 64), device()),
                       doctest::Contains("setup: no block of \"first\" fits an SM"), spec::LimitError);
}

}  // namespace test_kernel_resources
