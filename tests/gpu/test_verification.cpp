// Kernels with one planted defect each: verification must find every one, and pass the kernel without.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"

namespace test_verification {

using namespace attune;
using measure::Outcome;

namespace {

constexpr const char* kScale = R"text({
  "attune": 1, "name": "scale", "sources": ["kernel.cu"],
  "problem": {"n": {"size": {"min": 1}}},
  "parameters": {"variant": {"values": ["correct", "wrong_value", "past_the_end", "in_front", "partial", "ragged_only",
                                        "misaligned_only", "writes_input"], "default": "correct"}},
  "buffers": {"in": {"type": "f32", "count": "n"}, "out": {"type": "f32", "count": "n", "output": true}},
  "launches": [{"kernel": "scale", "grid": "ceil_div(n, 256)", "block": "256", "args": ["in", "out", "n"]}],
  "reference": {"launches": [{"kernel": "scale_plainly", "grid": "ceil_div(n, 256)", "block": "256", "args": ["in", "out", "n"]}]}
})text";

constexpr const char* kScaleSource = R"text(
extern "C" __global__ void scale_plainly(const float* in, float* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i] + 1.0f;
}
extern "C" __global__ void scale(float* in, float* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  const float* source = in;
  if (ATTUNE_VARIANT_MISALIGNED_ONLY) source = (const float*)((unsigned long long)in & ~15ull);  // as if 16-byte aligned
  const long long count = ATTUNE_VARIANT_RAGGED_ONLY ? n / 4 * 4 : n;                             // drops the tail
  if (i < count && !(ATTUNE_VARIANT_PARTIAL && i == n / 2)) out[i] = 2.0f * source[i] + 1.0f;
  if (i == n / 3 && ATTUNE_VARIANT_WRONG_VALUE) out[i] += 0.001f;
  if (i == 0 && ATTUNE_VARIANT_PAST_THE_END) out[n] = 1.0f;
  if (i == 0 && ATTUNE_VARIANT_IN_FRONT) out[-1] = 1.0f;
  if (i == n - 1 && ATTUNE_VARIANT_WRITES_INPUT) in[i] = 7.0f;
}
)text";

measure::VisitReply run(const char* variant, std::int64_t n) {
  auto& lab = test::Lab::get();
  static const auto kernel = test::make_template(kScale, kScaleSource);
  const spec::Problem problem{{}, {{"n", n}}};
  lab.prepare(lab.executor(), kernel, problem);
  return test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "variant", variant)));
}

bool says(const measure::VisitReply& reply, const char* text) { return reply.detail.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("a correct kernel is verified and timed") {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{1} << 20}) {
    const auto reply = run("correct", n);
    INFO(reply.detail);
    CHECK(reply.outcome == Outcome::Ok);
    CHECK(reply.verified);
    CHECK(reply.samples_us.size() == 3);
    CHECK(reply.calls_per_sample >= 1);
    for (const double sample : reply.samples_us) CHECK(sample > 0);
  }
}

TEST_CASE("one wrong value in a large output is found and named") {
  const auto reply = run("wrong_value", 1 << 20);
  CHECK(reply.outcome == Outcome::WrongResult);
  CHECK_FALSE(reply.verified);
  CHECK(says(reply, "1 of 1048576 elements of output \"out\" are wrong; the first is element 349525"));
}

TEST_CASE("a write past the end of a buffer is found although every result is right") {
  const auto reply = run("past_the_end", 1 << 20);
  CHECK(reply.outcome == Outcome::WrongResult);
  CHECK(says(reply, "wrote past the end of buffer \"out\""));
}

TEST_CASE("a write in front of a buffer is found") {
  const auto reply = run("in_front", 1 << 20);
  CHECK(reply.outcome == Outcome::WrongResult);
  CHECK(says(reply, "wrote in front of buffer \"out\""));
}

TEST_CASE("one element that is never written is found") {
  const auto reply = run("partial", 1 << 20);
  CHECK(reply.outcome == Outcome::WrongResult);
  CHECK(says(reply, "1 of 1048576 elements"));
}

TEST_CASE("a dropped tail is found although the asked size has none") {
  const auto reply = run("ragged_only", 1 << 20);
  CHECK(reply.outcome == Outcome::WrongResult);
  CHECK(says(reply, "a ragged size"));
}

TEST_CASE("a kernel that assumes alignment is found although the asked buffers are aligned") {
  const auto reply = run("misaligned_only", 1 << 20);
  CHECK(reply.outcome == Outcome::WrongResult);
  CHECK(says(reply, "a misaligned input"));
}

TEST_CASE("a kernel that changes its input is found") {
  const auto reply = run("writes_input", 1 << 20);
  CHECK(reply.outcome == Outcome::WrongResult);
  CHECK(says(reply, "wrote to input \"in\""));
}

TEST_CASE("a wrong configuration leaves the next one's data and answers intact") {
  run("past_the_end", 1 << 18);
  auto& lab = test::Lab::get();
  const auto kernel = test::make_template(kScale, kScaleSource);
  const spec::Problem problem{{}, {{"n", 1 << 18}}};
  lab.prepare(lab.executor(), kernel, problem);
  for (const char* variant : {"writes_input", "in_front", "correct"}) {
    const auto reply = test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "variant", variant)));
    INFO(reply.detail);
    CHECK((reply.outcome == Outcome::Ok) == (std::string(variant) == "correct"));
  }
}

TEST_CASE("in-and-out buffers, scalars and constant memory are restored, passed and filled") {
  const auto kernel = test::make_template(R"text({
    "attune": 1, "name": "blend", "sources": ["kernel.cu"],
    "problem": {"n": {"size": {"min": 0}}},
    "parameters": {"block": {"values": [64, 256], "default": 64}},
    "buffers": {"weights": {"type": "f32", "count": "4", "memory": "constant"}, "x": {"type": "f32", "count": "n"},
                "y": {"type": "f32", "count": "n", "input": true, "output": true}},
    "scalars": {"a": {"type": "f32", "value": 2.5}},
    "launches": [{"kernel": "blend", "grid": "max(1, ceil_div(n, block))", "block": "block", "args": ["x", "y", "a", {"n": "u32"}]}],
    "reference": {"launches": [{"kernel": "blend_plainly", "grid": "1", "block": "1024", "args": ["x", "y", "a", {"n": "u32"}]}]}
  })text",
                                          R"text(
    extern "C" __constant__ float weights[4];
    extern "C" __global__ void blend_plainly(const float* x, float* y, float a, unsigned n) {
      for (unsigned i = threadIdx.x; i < n; i += 1024) y[i] = a * weights[i % 4] * x[i] + y[i];
    }
    extern "C" __global__ void blend(const float* x, float* y, float a, unsigned n) {
      const unsigned i = blockIdx.x * ATTUNE_BLOCK + threadIdx.x;
      if (i < n) y[i] = a * weights[i % 4] * x[i] + y[i];
    }
  )text");
  auto& lab = test::Lab::get();
  const spec::Problem problem{{}, {{"n", 100003}}};
  lab.prepare(lab.executor(), kernel, problem);
  for (const char* block : {"64", "256"}) {
    const auto reply = test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "block", block)));
    INFO(reply.detail);
    CHECK(reply.outcome == Outcome::Ok);
    CHECK(reply.verified);
  }
}

TEST_CASE("without a reference a configuration is timed but never called verified") {
  const auto kernel = test::make_template(
      R"text({
    "attune": 1, "name": "unchecked", "sources": ["kernel.cu"], "problem": {"n": {"size": {"min": 1}}},
    "parameters": {"beyond": {"values": [0, 1], "default": 0}},
    "buffers": {"out": {"type": "i32", "count": "n", "output": true}},
    "launches": [{"kernel": "write", "grid": "ceil_div(n, 256)", "block": "256", "args": ["out", "n"]}], "reference": "none"
  })text",
      "extern \"C\" __global__ void write(int* out, long long n) { long long i = blockIdx.x * 256ll + threadIdx.x;\n"
      "if (i < n + ATTUNE_BEYOND) out[i] = 1; }");
  auto& lab = test::Lab::get();
  const spec::Problem problem{{}, {{"n", 5000}}};
  lab.prepare(lab.executor(), kernel, problem);
  const auto reply = test::Lab::visit(lab.executor(), lab.request(kernel, problem, spec::default_configuration(kernel)));
  CHECK(reply.outcome == Outcome::Ok);
  CHECK_FALSE(reply.verified);
  const auto beyond = test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "beyond", "1")));
  CHECK(beyond.outcome == Outcome::WrongResult);  // guards need no reference
}

}  // namespace test_verification
