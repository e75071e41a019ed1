// The caller's own code in a template, from its text to the cubin or the compiler's complaint.
#include <doctest/doctest.h>

#include <string>

#include "tuner/compile/compiler.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_code_compiles {

using namespace attune;

namespace {

constexpr const char* kSpec = R"json({
  "attune": 1, "name": "map", "sources": ["map.cu"],
  "problem": {
    "T": {"type": ["f32", "bf16"]},
    "transform": {"code": {"returns": "A", "arguments": {"x": "A"}}, "default": "x"},
    "n": {"size": {"min": 1}}
  },
  "types": {"A": {"by": "T", "map": {"bf16": "f32"}, "else": "T"}},
  "parameters": {"block_size": {"values": [64, 128], "default": 64}},
  "buffers": {"in": {"type": "T", "count": "n"}, "out": {"type": "A", "count": "n", "output": true}},
  "launches": [{"kernel": "map", "grid": "ceil_div(n, block_size)", "block": "block_size", "args": ["in", "out", "n"]}],
  "reference": "none"
})json";

constexpr const char* kSource = R"(extern "C" __global__ void map(const attune_T* in, attune_A* out, long long n) {
  const long long i = blockIdx.x * (long long)ATTUNE_BLOCK_SIZE + threadIdx.x;
  if (i < n) out[i] = attune_transform(static_cast<attune_A>(in[i]));
}
)";

compile::CompileResult compiled(const std::string& type, const std::string& transform) {
  static compile::Nvrtc nvrtc;
  const auto kernel = spec::KernelTemplate::parse(kSpec, {{"map.cu", kSource}}, "template.json");
  const auto problem = spec::canonical(kernel, {{{"T", type}, {"transform", transform}}, {{"n", 1}}});
  spec::validate(kernel, problem);
  return nvrtc.compile({spec::make_source(kernel, problem, spec::default_configuration(kernel), spec::DeviceInfo::of_architecture("sm_90")),
                        "map.cu",
                        "sm_90",
                        {}});
}

}  // namespace

TEST_CASE("the caller's code compiles for every type, and changes what is compiled") {
  for (const std::string type : {"f32", "bf16"}) {
    CAPTURE(type);
    const auto identity = compiled(type, "x"), square = compiled(type, "x * x + A(sizeof(T))");
    CHECK_MESSAGE(identity.status == compile::CompileStatus::Ok, identity.log);
    CHECK_MESSAGE(square.status == compile::CompileStatus::Ok, square.log);
    CHECK(identity.cubin != square.cubin);
  }
}

TEST_CASE("code that does not compile is told under its own name, with its text") {
  const auto result = compiled("f32", "x + no_such_thing");
  CHECK(result.status == compile::CompileStatus::Failed);
  CHECK(result.log.find("transform(1): error") != std::string::npos);
  CHECK(result.log.find("x + no_such_thing") != std::string::npos);
  CHECK(result.log.find("map.cu(") == std::string::npos);
}

}  // namespace test_code_compiles
