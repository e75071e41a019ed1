// The device's power while a configuration's calls follow each other, by the energy that the driver counts.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"
#include "tests/support/skip.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/gpu/nvml.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_power {

using namespace attune;

namespace {

/// Arithmetic of as many blocks as a configuration says: one keeps one multiprocessor busy, thousands keep all.
constexpr const char* kTemplate = R"text({
  "attune": 1, "name": "burn", "sources": ["kernel.cu"],
  "problem": {"n": {"size": {"min": 1}}},
  "parameters": {"blocks": {"values": [1, 2048], "default": 1, "bind": "launch"}},
  "buffers": {"in": {"type": "f32", "count": "n"}, "out": {"type": "f32", "count": "n", "output": true}},
  "launches": [{"kernel": "burn", "grid": "blocks", "block": 256, "args": ["in", "out", {"n": "i32"}]}],
  "reference": {"launches": [{"kernel": "plain", "grid": "ceil_div(n, 256)", "block": 256, "args": ["in", "out", {"n": "i32"}]}]},
  "metrics": {"energy": "energy_mj"}
})text";

constexpr const char* kSource = R"text(
__device__ float value(float x) { return 2 * x; }
__global__ void burn(const float* in, float* out, int n) {
  float sum = threadIdx.x;
  for (int i = 0; i < 20000; ++i) sum = sum * 0.999f + 0.001f * i;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (blockIdx.x == 0) out[i] = value(in[i]) + (sum == -1.0f);
  }
}
__global__ void plain(const float* in, float* out, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = value(in[i]);
}
)text";

measure::VisitReply visit(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& blocks, bool power) {
  auto& lab = test::Lab::get();
  auto request = lab.request(kernel, problem, test::with(kernel, "blocks", blocks));
  request.power = power;
  auto reply = test::Lab::visit(lab.executor(), request);
  INFO(reply.detail);
  CHECK(reply.outcome == measure::Outcome::Ok);
  return reply;
}

}  // namespace

TEST_CASE("a kernel on every multiprocessor draws more power than one on a single one, and each is told with its resolution") {
  const auto device = gpu::read_device(0);
  const auto nvml = gpu::Nvml::open(device.uuid);
  if (!nvml || !nvml->energy_mj()) return test::skip("NVML does not tell this device's energy");
  const auto kernel = test::make_template(kTemplate, kSource);
  const auto problem = spec::canonical(kernel, {{}, {{"n", 1000}}});
  test::Lab::get().prepare(test::Lab::get().executor(), kernel, problem);
  CHECK(visit(kernel, problem, "1", false).power.watts == 0);  // nobody asked
  const auto one = visit(kernel, problem, "1", true).power, all = visit(kernel, problem, "2048", true).power;
  MESSAGE("one multiprocessor: ", one.watts, " W to ", one.resolution, "; all: ", all.watts, " W to ", all.resolution);
  CHECK(one.watts > 0);
  CHECK(one.resolution < 0.25);
  CHECK(all.resolution < 0.25);
  CHECK(all.watts * (1 - all.resolution) > one.watts * (1 + one.resolution));
}

TEST_CASE("measuring the power leaves samples and results of the next visit as they were") {
  const auto kernel = test::make_template(kTemplate, kSource);
  const auto problem = spec::canonical(kernel, {{}, {{"n", 1000}}});
  test::Lab::get().prepare(test::Lab::get().executor(), kernel, problem);
  static_cast<void>(visit(kernel, problem, "1", true));
  const auto again = visit(kernel, problem, "1", false);
  CHECK(again.verified);
  CHECK(!again.samples_us.empty());
}

}  // namespace test_power
