// Planted defects of reductions, whose single output hides more than an array does.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/gpu/lab.hpp"

namespace test_verification_reduce {

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

/// One block: what transforms, finishes and accumulates, with one defect each.
constexpr const char* kFinished = R"text({
  "attune": 1, "name": "finished", "sources": ["kernel.cu"],
  "problem": {"T": {"type": ["f32", "i8"]}, "op": {"choice": ["sum", "product", "min", "max", "or"]}, "n": {"size": {"min": 0}},
              "transform": {"choice": ["identity", "absolute", "square", "shifted_square", "times"], "default": "identity"},
              "finish": {"choice": ["none", "mean", "root", "scale_bias"], "default": "none"},
              "accumulate": {"choice": ["fixed_order", "compensated"], "default": "fixed_order"}},
  "types": {"A": {"by": "T", "map": {"i8": "i32"}, "else": "T"}},
  "parameters": {"variant": {"values": ["correct", "drops_nan", "no_transform", "no_finish", "first_input_twice", "plain_sum", "narrow",
                                        "skips_last"], "default": "correct"}},
  "buffers": {"in": {"type": "T", "count": "n"}, "other": {"type": "T", "count": "n * int(transform == 'times')"},
              "out": {"type": "A", "count": "1", "output": true}},
  "scalars": {"shift": {"type": "A", "value": 1}, "scale": {"type": "A", "value": 2}, "bias": {"type": "A", "value": 3}},
  "launches": [{"kernel": "fold", "grid": "1", "block": "1024", "args": ["in", "other", "n", "shift", "scale", "bias", "out"]}],
  "options": ["--fmad=false"],
  "reference": {"builtin": "reduce"}
})text";

constexpr const char* kFinishedSource = R"text(
typedef ATTUNE_T T;
typedef ATTUNE_A A;
__device__ A none() {
  if (ATTUNE_OP_PRODUCT) return 1;
  if (!ATTUNE_OP_MIN && !ATTUNE_OP_MAX) return 0;
  if (ATTUNE_T_F32) return (A)__int_as_float(ATTUNE_OP_MIN ? 0x7f800000 : 0xff800000);
  if (ATTUNE_TRANSFORM_IDENTITY) return (A)(ATTUNE_OP_MIN ? 127 : -128);
  return (A)(ATTUNE_OP_MIN ? 0x7fffffff : -0x7fffffff - 1);
}
struct Sum { A sum, lost; };
__device__ void add(Sum& s, A x) {
#if ATTUNE_OP_SUM
  const A sum = s.sum + x;
#if ATTUNE_T_F32
  if (ATTUNE_ACCUMULATE_COMPENSATED && !ATTUNE_VARIANT_PLAIN_SUM)
    s.lost += fabsf(s.sum) >= fabsf(x) ? (s.sum - sum) + x : (x - sum) + s.sum;
#endif
  s.sum = sum;
#elif ATTUNE_OP_PRODUCT
  s.sum *= x;
#elif ATTUNE_OP_MIN
  s.sum = x < s.sum ? x : s.sum;
#elif ATTUNE_OP_MAX
  s.sum = x > s.sum ? x : s.sum;
#else
  s.sum = (A)((int)s.sum | (int)x);
#endif
}
extern "C" __global__ void fold(const T* in, const T* other, long long n, A shift, A scale, A bias, A* out) {
  __shared__ Sum all[1024];
  Sum mine = {none(), 0};
  for (long long i = threadIdx.x; i < n - ATTUNE_VARIANT_SKIPS_LAST; i += 1024) {
    A x = in[i];
    if (ATTUNE_VARIANT_DROPS_NAN && x != x) continue;
    const A y = ATTUNE_TRANSFORM_TIMES && !ATTUNE_VARIANT_FIRST_INPUT_TWICE ? other[i] : in[i];
    const A d = x - shift;
    if (!ATTUNE_VARIANT_NO_TRANSFORM)
      x = ATTUNE_TRANSFORM_ABSOLUTE ? (x < 0 ? -x : x) : ATTUNE_TRANSFORM_SQUARE ? x * x : ATTUNE_TRANSFORM_SHIFTED_SQUARE ? d * d
        : ATTUNE_TRANSFORM_TIMES ? x * y : x;
    if (ATTUNE_VARIANT_NARROW) x = (A)(signed char)x;
    add(mine, x);
  }
  all[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int k = 1; k < 1024; ++k) {
    add(mine, all[k].sum);
    mine.lost += all[k].lost;
  }
  A x = mine.sum + (ATTUNE_ACCUMULATE_COMPENSATED && mine.sum - mine.sum == 0 ? mine.lost : 0);
  if (!ATTUNE_VARIANT_NO_FINISH)
    x = ATTUNE_FINISH_MEAN ? x / (A)n : ATTUNE_FINISH_ROOT ? (A)sqrtf((float)x) : ATTUNE_FINISH_SCALE_BIAS ? scale * x + bias : x;
  *out = x;
}
)text";

measure::VisitReply run_finished(const char* variant, std::map<std::string, std::string> choices, std::int64_t n = 20001) {
  auto& lab = test::Lab::get();
  static const auto kernel = test::make_template(kFinished, kFinishedSource);
  choices.emplace("T", "f32");
  choices.emplace("op", "sum");
  const spec::Problem problem{std::move(choices), {{"n", n}}};
  lab.prepare(lab.executor(), kernel, problem);
  auto request = lab.request(kernel, problem, test::with(kernel, "variant", variant));
  request.max_samples = 1;
  return test::Lab::visit(lab.executor(), request);
}

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

TEST_CASE("right transforms, finishes and ways to accumulate are verified, with special elements") {
  const std::vector<std::map<std::string, std::string>> all = {{{"transform", "absolute"}, {"finish", "mean"}},
                                                               {{"transform", "square"}, {"finish", "root"}},
                                                               {{"transform", "shifted_square"}, {"op", "product"}},
                                                               {{"transform", "times"}, {"finish", "scale_bias"}},
                                                               {{"op", "product"}},
                                                               {{"op", "min"}, {"transform", "times"}},
                                                               {{"op", "max"}, {"finish", "scale_bias"}},
                                                               {{"accumulate", "compensated"}},
                                                               {{"accumulate", "compensated"}, {"transform", "times"}},
                                                               {{"T", "i8"}, {"op", "or"}},
                                                               {{"T", "i8"}, {"transform", "square"}, {"op", "min"}},
                                                               {{"T", "i8"}, {"transform", "shifted_square"}, {"op", "product"}}};
  for (const auto& choices : all) {
    for (const std::int64_t n : {1, 20001}) {
      const auto reply = run_finished("correct", choices, n);
      INFO(spec::to_text(spec::Problem{choices, {{"n", n}}}), ": ", reply.detail);
      CHECK(reply.outcome == Outcome::Ok);
      CHECK(reply.verified);
    }
  }
}

TEST_CASE("every part of a reduction that is left out is found") {
  const std::vector<std::pair<const char*, std::map<std::string, std::string>>> all = {
      {"drops_nan", {}},
      {"drops_nan", {{"op", "product"}}},
      {"no_transform", {{"transform", "square"}}},
      {"no_transform", {{"transform", "shifted_square"}, {"op", "product"}}},
      {"no_finish", {{"finish", "mean"}}},
      {"no_finish", {{"finish", "scale_bias"}, {"op", "max"}}},
      {"first_input_twice", {{"transform", "times"}}},
      {"plain_sum", {{"accumulate", "compensated"}}},
      {"plain_sum", {{"accumulate", "compensated"}, {"transform", "times"}}},
      {"narrow", {{"T", "i8"}, {"transform", "square"}}},
      {"skips_last", {{"op", "product"}}},
      {"skips_last", {{"T", "i8"}, {"op", "or"}}},
      {"skips_last", {{"T", "i8"}, {"op", "product"}, {"transform", "shifted_square"}}}};
  for (const auto& [variant, choices] : all) {
    const auto reply = run_finished(variant, choices);
    INFO(variant, " ", spec::to_text(spec::Problem{choices, {}}));
    CHECK(reply.outcome == Outcome::WrongResult);
  }
}

}  // namespace test_verification_reduce
