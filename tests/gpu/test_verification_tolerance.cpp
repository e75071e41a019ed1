// How far an output may be off is the template's to say, for each output: an error within it passes, one beyond it is found.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"
#include "tests/support/replaced.hpp"

namespace test_verification_tolerance {

using namespace attune;
using measure::Outcome;

namespace {

constexpr std::int64_t kSize = 1 << 20;

constexpr const char* kTolerant = R"text({
  "attune": 1, "name": "tolerant", "sources": ["kernel.cu"],
  "problem": {"n": {"size": {"min": 1}}},
  "parameters": {"variant": {"values": ["correct", "near_little", "near_much", "strict_little", "count_by_one", "count_by_two",
                                        "some_few", "some_many", "strict_few", "sum_of_many"], "default": "correct"}},
  "buffers": {"in": {"type": "f32", "count": "n"},
              "near": {"type": "f32", "count": "n", "output": true}, "strict": {"type": "f32", "count": "n", "output": true},
              "counted": {"type": "i32", "count": "n", "output": true}, "some": {"type": "f32", "count": "n", "output": true}},
  "launches": [{"kernel": "tolerant", "grid": "ceil_div(n, 256)", "block": "256", "args": ["in", "near", "strict", "counted", "some", "n"]}],
  "reference": {"launches": [{"kernel": "plain", "grid": "ceil_div(n, 256)", "block": "256", "args": ["in", "near", "strict", "counted", "some", "n"]}],
                "tolerance": {"near": {"absolute": 0.01}, "counted": {"absolute": 1}, "some": {"mismatches": 0.01}}}
})text";

constexpr const char* kSource = R"text(
__device__ void put(const float* in, float* near, float* strict, int* counted, float* some, long long i) {
  near[i] = in[i];
  strict[i] = 3.0f * in[i];
  counted[i] = (int)(100.0f * in[i]);
  some[i] = 5.0f * in[i];
}
extern "C" __global__ void plain(const float* in, float* near, float* strict, int* counted, float* some, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) put(in, near, strict, counted, some, i);
}
extern "C" __global__ void tolerant(const float* in, float* near, float* strict, int* counted, float* some, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  put(in, near, strict, counted, some, i);
  if (ATTUNE_VARIANT_NEAR_LITTLE) near[i] += 0.005f;
  if (ATTUNE_VARIANT_NEAR_MUCH && i == n / 2) near[i] += 0.02f;
  if (ATTUNE_VARIANT_STRICT_LITTLE && i == n / 2) strict[i] += 0.005f;
  if (ATTUNE_VARIANT_COUNT_BY_ONE) counted[i] += i % 2 == 0 ? 1 : -1;
  if (ATTUNE_VARIANT_COUNT_BY_TWO && i == n / 2) counted[i] += 2;
  if (ATTUNE_VARIANT_SOME_FEW && i % 128 == 0) some[i] = 77.0f;
  if (ATTUNE_VARIANT_SOME_MANY && i % 64 == 0) some[i] = 77.0f;
  if (ATTUNE_VARIANT_STRICT_FEW && i % 128 == 0) strict[i] = 77.0f;
  if (ATTUNE_VARIANT_SUM_OF_MANY) strict[i] *= 1.0002f;
}
)text";

measure::VisitReply run(const spec::KernelTemplate& kernel, const char* variant) {
  auto& lab = test::Lab::get();
  const spec::Problem problem{{}, {{"n", kSize}}};
  lab.prepare(lab.executor(), kernel, problem);
  return test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "variant", variant)));
}

measure::VisitReply run(const char* variant) {
  static const auto kernel = test::make_template(kTolerant, kSource);
  return run(kernel, variant);
}

void check_passes(const measure::VisitReply& reply) {
  INFO(reply.detail);
  CHECK(reply.outcome == Outcome::Ok);
  CHECK(reply.verified);
}

void check_wrong(const measure::VisitReply& reply, const char* output) {
  INFO(reply.detail);
  CHECK(reply.outcome == Outcome::WrongResult);
  CHECK_FALSE(reply.verified);
  CHECK(reply.detail.find(output) != std::string::npos);
}

}  // namespace

TEST_CASE("errors within what the template allows of an output pass") {
  for (const char* variant : {"correct", "near_little", "count_by_one", "some_few"}) {
    CAPTURE(variant);
    check_passes(run(variant));
  }
}

TEST_CASE("an error beyond what is allowed of an output is found in it, although others may be off by more") {
  check_wrong(run("near_much"), "1 of 1048576 elements of output \"near\"");
  check_wrong(run("strict_little"), "1 of 1048576 elements of output \"strict\"");
  check_wrong(run("count_by_two"), "1 of 1048576 elements of output \"counted\"");
  check_wrong(run("some_many"), "16384 of 1048576 elements of output \"some\"");
  check_wrong(run("strict_few"), "8192 of 1048576 elements of output \"strict\"");
}

TEST_CASE("a product's error of rounding passes where the template says how many terms it sums") {
  check_wrong(run("sum_of_many"), "output \"strict\"");
  const auto summed = test::make_template(
      test::replaced(kTolerant, R"("some": {"mismatches": 0.01}})", R"("some": {"mismatches": 0.01}}, "terms": "4096")"), kSource);
  check_passes(run(summed, "sum_of_many"));
  check_wrong(run(summed, "strict_little"), "1 of 1048576 elements of output \"strict\"");
}

}  // namespace test_verification_tolerance
