// Floating types of 8 bits as CUDA has them: filled, poisoned, guarded and compared like all others.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_small_floats {

using namespace attune;
using measure::Outcome;

namespace {

constexpr const char* kTemplate = R"text({
  "attune": 1, "name": "halve", "sources": ["kernel.cu"],
  "problem": {"T": {"type": ["f8e4m3", "f8e5m2"]}, "n": {"size": {"min": 1}, "default": 100000}},
  "parameters": {"block_size": {"values": [64, 256], "default": 64}, "wrong": {"values": [false, true], "default": false},
                 "drops_last": {"values": [false, true], "default": false}},
  "buffers": {"in": {"type": "T", "count": "n"}, "out": {"type": "T", "count": "n", "output": true}},
  "scalars": {"factor": {"type": "T", "value": "0.5"}},
  "launches": [{"kernel": "halve", "grid": "ceil_div(n, block_size)", "block": "block_size", "args": ["in", "out", "factor", "n"]}],
  "reference": {"launches": [{"kernel": "wanted", "grid": "ceil_div(n, 256)", "block": 256, "args": ["in", "out", "n"]}]}
})text";

constexpr const char* kSource = R"text(
__global__ void halve(const ATTUNE_T* in, ATTUNE_T* out, ATTUNE_T factor, long long n) {
  const long long i = blockIdx.x * (long long)ATTUNE_BLOCK_SIZE + threadIdx.x;
  if (i < n - ATTUNE_DROPS_LAST) out[i] = ATTUNE_T(float(in[i]) * float(factor) * (ATTUNE_WRONG ? 3 : 1));
}
__global__ void wanted(const ATTUNE_T* in, ATTUNE_T* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = ATTUNE_T(float(in[i]) / 2);
}
)text";

}  // namespace

TEST_CASE("kernels of 8-bit floats are right or wrong as others are") {
  auto& lab = test::Lab::get();
  const auto kernel = test::make_template(kTemplate, kSource);
  for (const char* type : {"f8e4m3", "f8e5m2"}) {
    CAPTURE(type);
    const auto problem = spec::canonical(kernel, {{{"T", type}}, {}});
    lab.prepare(lab.executor(), kernel, problem);
    const auto outcome = [&](const spec::Configuration& configuration) {
      const auto reply = test::Lab::visit(lab.executor(), lab.request(kernel, problem, configuration));
      INFO(reply.detail);
      CHECK((reply.outcome != Outcome::Ok || reply.verified));
      return reply.outcome;
    };
    CHECK(outcome(spec::default_configuration(kernel)) == Outcome::Ok);
    CHECK(outcome(test::with(kernel, "block_size", "256")) == Outcome::Ok);
    CHECK(outcome(test::with(kernel, "wrong", "true")) == Outcome::WrongResult);
    CHECK(outcome(test::with(kernel, "drops_last", "true")) == Outcome::WrongResult);
  }
}

}  // namespace test_small_floats
