#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"
#include "tests/support/skip.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/gpu/nvml.hpp"

namespace test_clocks {

using namespace attune;

TEST_CASE("where the driver brings NVML, a visit carries the SM clock and the device its power limit") {
  auto nvml = gpu::Nvml::open(gpu::read_device(0).uuid);
  if (!nvml) {
    return test::skip("no NVML for this device: clocks stay unread");
  }
  const auto here = nvml->read();
  const auto kernel = test::make_template(R"text({
    "attune": 1, "name": "fill", "sources": ["kernel.cu"], "problem": {"n": {"size": {"min": 1}}},
    "parameters": {"block": {"values": [128], "default": 128}},
    "buffers": {"out": {"type": "i32", "count": "n", "output": true}},
    "launches": [{"kernel": "fill", "grid": "ceil_div(n, 128)", "block": "block", "args": ["out", "n"]}],
    "reference": "none"
  })text",
                                          "extern \"C\" __global__ void fill(int* out, long long n) {\n"
                                          "  const long long i = blockIdx.x * 128ll + threadIdx.x;\n"
                                          "  if (i < n) out[i] = 1;\n}\n");
  auto& lab = test::Lab::get();
  const spec::Problem problem{{}, {{"n", 1 << 20}}};
  lab.prepare(lab.executor(), kernel, problem);
  const auto reply = test::Lab::visit(lab.executor(), lab.request(kernel, problem, spec::default_configuration(kernel)));
  REQUIRE(reply.outcome == measure::Outcome::Ok);
  CHECK((reply.sm_clock_mhz > 0) == (here.sm_clock_mhz > 0));
  CHECK(reply.sm_clock_mhz <= lab.executor().device().sm_clock_khz / 1000);
  CHECK(lab.executor().device().power_limit_w == here.power_limit_w);
}

}  // namespace test_clocks
