// A template that includes CUB, from its files to the cubins of its configurations.
#include <doctest/doctest.h>

#include <string>

#include "tuner/compile/compiler.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_headers_compile {

using namespace attune;

namespace {

/// The second line of the kernel's file is its include, the last one its place for mistakes.
constexpr const char* kSource = R"(// Sums one block.
#include <cub/block/block_reduce.cuh>
extern "C" __global__ void sum(const attune_T* in, attune_T* out) {
  using Reduce = cub::BlockReduce<attune_T, ATTUNE_BLOCK_SIZE>;
  __shared__ typename Reduce::TempStorage storage;
  const attune_T all = Reduce(storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = all;
}
)";

constexpr const char* kSpec = R"json({
  "attune": 1, "name": "block_sum", "sources": ["block_sum.cu"],
  "problem": {"T": {"type": ["f32"]}, "n": {"size": {"min": 1}}},
  "parameters": {"block_size": {"values": [64, 128, 256], "default": 64}},
  "buffers": {"in": {"type": "T", "count": "block_size"}, "out": {"type": "T", "count": "1", "output": true}},
  "launches": [{"kernel": "sum", "grid": 1, "block": "block_size", "args": ["in", "out"]}],
  "reference": "none"
})json";

compile::CompileRequest request_for(std::uint16_t value, const std::string& more = "") {
  const auto kernel = spec::KernelTemplate::parse(kSpec, {{"block_sum.cu", kSource + more}}, "template.json");
  const spec::Problem problem{{{"T", "f32"}}, {{"n", 1}}};
  return {spec::make_source(kernel, problem, {{value}}, spec::DeviceInfo::of_architecture("sm_90")), "block_sum.cu", "sm_90", {}};
}

}  // namespace

TEST_CASE("configurations of a template with CUB share its precompiled headers, and their cubins are those of the text") {
  compile::Nvrtc precompiling(compile::Nvrtc::Headers::Precompiled);
  const auto first = precompiling.compile(request_for(0));
  CHECK(first.headers == compile::HeaderUse::Created);
  const auto second = precompiling.compile(request_for(1));
  CHECK(second.headers == compile::HeaderUse::Used);
  CHECK(second.kernels.size() == 1);
  compile::Nvrtc text;
  CHECK(first.cubin == text.compile(request_for(0)).cubin);
  CHECK(second.cubin == text.compile(request_for(1)).cubin);
  CHECK(first.cubin != second.cubin);
}

TEST_CASE("a mistake behind included headers is reported at its own file and line") {
  compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);
  const auto result = nvrtc.compile(request_for(0, "int x = nowhere;\n"));
  CHECK(result.status == compile::CompileStatus::Failed);
  CHECK(result.log.find("block_sum.cu(9): error") != std::string::npos);
}

}  // namespace test_headers_compile
