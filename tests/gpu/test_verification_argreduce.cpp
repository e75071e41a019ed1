// Planted defects of a search for an extreme and its index.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"

namespace test_verification_argreduce {

using namespace attune;
using measure::Outcome;

namespace {

constexpr const char* kSearch = R"text({
  "attune": 1, "name": "search", "sources": ["kernel.cu"],
  "problem": {"T": {"type": ["f32", "f16", "i32", "u8"]}, "op": {"choice": ["max", "min"]}, "n": {"size": {"min": 0}}},
  "parameters": {"variant": {"values": ["correct", "one_too_many", "one_before", "skips_last", "skips_middle", "last_of_equals",
                                        "skips_infinity", "takes_nan", "puts_out_nan", "other_value", "one_further",
                                        "short_index"], "default": "correct"}},
  "buffers": {"in": {"type": "T", "count": "n"}, "value": {"type": "T", "count": "1", "output": true},
              "index": {"type": "i64", "count": "1", "output": true}},
  "launches": [{"kernel": "search", "grid": "1", "block": "1024", "args": ["in", "n", "value", "index"]}],
  "reference": {"builtin": "arg_reduce"}
})text";

constexpr const char* kSearchSource = R"text(
typedef ATTUNE_T T;
struct Found { double value; long long index; };
__device__ double none() {
  const double infinity = __longlong_as_double(0x7ff0000000000000ll);
  if (ATTUNE_T_I32) return ATTUNE_OP_MAX ? -2147483648.0 : 2147483647.0;
  if (ATTUNE_T_U8) return ATTUNE_OP_MAX ? 0.0 : 255.0;
  return ATTUNE_OP_MAX ? -infinity : infinity;
}
#if ATTUNE_T_F16
__device__ double wide(T x) { return (double)__half2float(x); }
#else
__device__ double wide(T x) { return (double)x; }
#endif
__device__ bool better(double a, double b) { return ATTUNE_OP_MAX ? a > b : a < b; }
__device__ Found both(Found a, Found b) {
  if (b.index < 0) return a;
  if (a.index < 0 || better(b.value, a.value)) return b;
  const bool later = ATTUNE_VARIANT_LAST_OF_EQUALS ? b.index > a.index : b.index < a.index;
  return b.value == a.value && later ? b : a;
}
extern "C" __global__ void search(const T* in, long long n, T* value, long long* index) {
  __shared__ Found found[1024];
  const long long first = ATTUNE_VARIANT_ONE_BEFORE ? -1 : 0;
  const long long last = n + (ATTUNE_VARIANT_ONE_TOO_MANY ? 1 : 0) - (ATTUNE_VARIANT_SKIPS_LAST ? 1 : 0);
  Found mine = {none(), -1};
  for (long long i = first + threadIdx.x; i < last; i += 1024) {
    if (ATTUNE_VARIANT_SKIPS_MIDDLE && i == n / 2) continue;
    const double x = wide(in[i]);
    if (ATTUNE_VARIANT_TAKES_NAN && x != x && mine.index < 0) mine.index = i;
    if (x != x) continue;
    if (ATTUNE_VARIANT_SKIPS_INFINITY && x == none()) continue;
    Found one = {x, i < 0 ? 0 : i};  // what stands before the input counts as found, where it is read
    mine = both(mine, one);
  }
  found[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  Found all = {none(), -1};
  for (int k = 0; k < 1024; ++k) all = both(all, found[k]);
  if (ATTUNE_VARIANT_PUTS_OUT_NAN && all.index < 0 && n > 0) all.value = __longlong_as_double(0x7ff8000000000000ll);
  if (ATTUNE_VARIANT_OTHER_VALUE && all.index > 0) all.value = wide(in[all.index - 1]);
  if (ATTUNE_VARIANT_ONE_FURTHER && all.index >= 0) all.index += 1;
  if (ATTUNE_VARIANT_SHORT_INDEX) all.index = (short)all.index;
  *value = (T)all.value;  // exact: it was an element or the identity
  *index = all.index;
}
)text";

measure::VisitReply run(const char* variant, const char* type, const char* op, std::int64_t n) {
  auto& lab = test::Lab::get();
  static const auto kernel = test::make_template(kSearch, kSearchSource);
  const spec::Problem problem{{{"T", type}, {"op", op}}, {{"n", n}}};
  lab.prepare(lab.executor(), kernel, problem);
  return test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "variant", variant)));
}

constexpr const char* kOps[] = {"max", "min"};

}  // namespace

TEST_CASE("a correct search is verified for both operations, down to no elements") {
  for (const char* type : {"f32", "f16", "i32", "u8"}) {
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

TEST_CASE("elements read too far or left out, ties and indices are found wrong for every type") {
  for (const char* variant :
       {"one_too_many", "one_before", "skips_last", "skips_middle", "last_of_equals", "other_value", "one_further", "short_index"}) {
    for (const char* type : {"f32", "f16", "i32", "u8"}) {
      for (const char* op : kOps) {
        const auto reply = run(variant, type, op, 65536);
        INFO(variant, " ", type, " ", op);
        CHECK(reply.outcome == Outcome::WrongResult);
      }
    }
  }
}

TEST_CASE("what a search does with NaN and with the infinity it starts from is checked") {
  for (const char* variant : {"skips_infinity", "takes_nan", "puts_out_nan"}) {
    for (const char* type : {"f32", "f16"}) {
      for (const char* op : kOps) {
        const auto reply = run(variant, type, op, 65536);
        INFO(variant, " ", type, " ", op);
        CHECK(reply.outcome == Outcome::WrongResult);
      }
    }
  }
}

}  // namespace test_verification_argreduce
