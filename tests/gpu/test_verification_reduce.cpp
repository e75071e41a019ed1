// Planted defects of reductions, whose single output hides more than an array does.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"

using namespace attune;
using measure::Outcome;

namespace {

constexpr const char* kFold = R"text({
  "attune": 1, "name": "fold", "sources": ["kernel.cu"],
  "problem": {"T": {"type": ["f32", "i32"]}, "op": {"choice": ["sum", "min", "max"]}, "n": {"size": {"min": 0}}},
  "parameters": {"variant": {"values": ["correct", "one_too_many", "one_before", "skips_last", "skips_middle", "not_zero_again",
                                        "reads_stale_scratch", "few_digits"], "default": "correct"}},
  "buffers": {"in": {"type": "T", "count": "n"}, "out": {"type": "T", "count": "1", "output": true},
              "tally": {"type": "u32", "count": "4", "workspace": {"init": "zero_once"}},
              "cleared": {"type": "u32", "count": "3", "workspace": {"init": "zero_each"}},
              "scratch": {"type": "T", "count": "1024", "workspace": true}},
  "launches": [{"kernel": "fold", "grid": "1", "block": "1024", "args": ["in", "n", "out", "tally", "cleared", "scratch"]}],
  "reference": {"builtin": "reduce"}
})text";

constexpr const char* kFoldSource = R"text(
typedef ATTUNE_T T;
__device__ T both(T a, T b) { return ATTUNE_OP_SUM ? a + b : ATTUNE_OP_MIN ? (b < a ? b : a) : (b > a ? b : a); }
__device__ T none() {
  if (ATTUNE_OP_SUM) return 0;
  if (ATTUNE_T_F32) return (T)__int_as_float(ATTUNE_OP_MIN ? 0x7f800000 : 0xff800000);
  return (T)(ATTUNE_OP_MIN ? 0x7fffffff : -0x7fffffff - 1);
}
extern "C" __global__ void fold(const T* in, long long n, T* out, unsigned* tally, unsigned* cleared, T* scratch) {
  const long long first = ATTUNE_VARIANT_ONE_BEFORE ? -1 : 0;
  const long long last = n + (ATTUNE_VARIANT_ONE_TOO_MANY ? 1 : 0) - (ATTUNE_VARIANT_SKIPS_LAST ? 1 : 0);
  T mine = ATTUNE_VARIANT_READS_STALE_SCRATCH ? scratch[threadIdx.x] : none();
  for (long long i = first + threadIdx.x; i < last; i += 1024) {
    if (ATTUNE_VARIANT_SKIPS_MIDDLE && i == n / 2) continue;
    mine = both(mine, in[i]);
    if (ATTUNE_VARIANT_FEW_DIGITS && ATTUNE_T_F32) mine = (T)__int_as_float(__float_as_int((float)mine) & 0xfff00000);
  }
  scratch[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    T all = none();
    for (int k = 0; k < 1024; ++k) all = both(all, scratch[k]);
    if (cleared[2] != 0) all = (T)77;  // zero_each scratch is zero when a call begins
    cleared[2] = 9;
    *out = all;
    if (ATTUNE_VARIANT_NOT_ZERO_AGAIN) tally[3] += 1;
  }
}
)text";

measure::VisitReply run(const char* variant, const char* type, const char* op, std::int64_t n) {
  auto& lab = test::Lab::get();
  static const auto kernel = test::make_template(kFold, kFoldSource);
  const spec::Problem problem{{{"T", type}, {"op", op}}, {{"n", n}}};
  lab.prepare(lab.executor(), kernel, problem);
  return test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "variant", variant)));
}

constexpr const char* kTypes[] = {"f32", "i32"};
constexpr const char* kOps[] = {"sum", "min", "max"};

}  // namespace

TEST_CASE("a correct reduction is verified for every operation and type, down to no elements") {
  for (const char* type : kTypes) {
    for (const char* op : kOps) {
      for (const std::int64_t n : {0, 1, 2, 100, 65537}) {
        const auto reply = run("correct", type, op, n);
        INFO(type, " ", op, " ", n, ": ", reply.detail);
        CHECK(reply.outcome == Outcome::Ok);
        CHECK(reply.verified);
      }
    }
  }
}

TEST_CASE("one element read outside the input is found for every operation") {
  for (const char* variant : {"one_too_many", "one_before"}) {
    for (const char* type : kTypes) {
      for (const char* op : kOps) {
        const auto reply = run(variant, type, op, 65536);
        INFO(variant, " ", type, " ", op);
        CHECK(reply.outcome == Outcome::WrongResult);
      }
    }
  }
}

TEST_CASE("one element left out is found for every operation") {
  for (const char* variant : {"skips_last", "skips_middle"}) {
    for (const char* type : kTypes) {
      for (const char* op : kOps) {
        const auto reply = run(variant, type, op, 65536);
        INFO(variant, " ", type, " ", op);
        CHECK(reply.outcome == Outcome::WrongResult);
      }
    }
  }
}

TEST_CASE("a zero_once workspace that is not zero again is found although the result is right") {
  const auto reply = run("not_zero_again", "i32", "sum", 65536);
  CHECK(reply.outcome == Outcome::WrongResult);
  CHECK(reply.detail.find("left workspace \"tally\" non-zero") != std::string::npos);
}

TEST_CASE("scratch that promises nothing holds poison") {
  CHECK(run("reads_stale_scratch", "f32", "sum", 65536).outcome == Outcome::WrongResult);
  CHECK(run("reads_stale_scratch", "i32", "sum", 65536).outcome == Outcome::WrongResult);
}

TEST_CASE("a sum in too little precision is outside the bound") {
  CHECK(run("few_digits", "f32", "sum", 65536).outcome == Outcome::WrongResult);
}
