// Configurations that ruin their process: recorded, the worker replaced, the next configuration measured.
#include <doctest/doctest.h>

#include <signal.h>

#include "tests/gpu/lab.hpp"

using namespace attune;
using measure::Outcome;

namespace {

constexpr const char* kFaulty = R"text({
  "attune": 1, "name": "faulty", "sources": ["kernel.cu"],
  "problem": {"n": {"size": {"min": 1}}},
  "parameters": {"variant": {"values": ["correct", "endless", "illegal_address", "trap", "too_many_registers"], "default": "correct"},
                 "shared": {"values": [0, 400000], "default": 0, "bind": "launch"},
                 "blocks": {"values": [1, 0], "default": 1, "bind": "launch"}},
  "buffers": {"in": {"type": "i32", "count": "n"}, "out": {"type": "i32", "count": "n", "output": true}},
  "launches": [{"kernel": "copy", "grid": "ceil_div(n, 1024) * blocks", "block": "1024", "shared": "shared", "args": ["in", "out", "n"]}],
  "reference": {"launches": [{"kernel": "copy_plainly", "grid": "ceil_div(n, 1024)", "block": "1024", "args": ["in", "out", "n"]}]}
})text";

constexpr const char* kFaultySource = R"text(
extern "C" __global__ void copy_plainly(const int* in, int* out, long long n) {
  const long long i = blockIdx.x * 1024ll + threadIdx.x;
  if (i < n) out[i] = in[i];
}
#if ATTUNE_VARIANT_TOO_MANY_REGISTERS
extern "C" __global__ __launch_bounds__(128) void copy(const int* in, int* out, long long n) {
#else
extern "C" __global__ void copy(const int* in, int* out, long long n) {
#endif
  const long long i = blockIdx.x * 1024ll + threadIdx.x;
#if ATTUNE_VARIANT_ENDLESS
  while (((volatile const int*)in)[0] != 123456789) {}
#elif ATTUNE_VARIANT_ILLEGAL_ADDRESS
  *(int*)(0x10ll + (n << 60)) = 1;
#elif ATTUNE_VARIANT_TRAP
  asm volatile("trap;");
#endif
  if (i < n) out[i] = in[i];
}
)text";

const spec::KernelTemplate& faulty() {
  static const auto kernel = test::make_template(kFaulty, kFaultySource);
  return kernel;
}

const spec::Problem kProblem{{}, {{"n", 100000}}};

measure::VisitReply run(const char* parameter, const char* value) {
  auto& lab = test::Lab::get();
  return test::Lab::visit(lab.executor(), lab.request(faulty(), kProblem, test::with(faulty(), parameter, value)));
}

void prepare() {
  auto& lab = test::Lab::get();
  lab.prepare(lab.executor(), faulty(), kProblem);
  REQUIRE(run("variant", "correct").outcome == Outcome::Ok);  // shortens the deadline
}

}  // namespace

TEST_CASE("an endless kernel is timed out after one retry, and the next configuration is fine") {
  prepare();
  auto& executor = test::Lab::get().executor();
  const int before = executor.replacements();
  const auto reply = run("variant", "endless");
  CHECK(reply.outcome == Outcome::TimedOut);
  CHECK(reply.detail.find("no answer within") != std::string::npos);
  CHECK(executor.replacements() == before + 2);
  CHECK(run("variant", "correct").outcome == Outcome::Ok);
}

TEST_CASE("an illegal address and a trap are crashes, and the next configuration is fine") {
  prepare();
  for (const char* variant : {"illegal_address", "trap"}) {
    const auto reply = run("variant", variant);
    INFO(reply.detail);
    CHECK(reply.outcome == Outcome::Crashed);
    CHECK(reply.detail.find("CUDA_ERROR_") != std::string::npos);
    CHECK(run("variant", "correct").outcome == Outcome::Ok);
  }
}

TEST_CASE("a configuration beyond the device's limits is an outcome and costs no worker") {
  prepare();
  auto& executor = test::Lab::get().executor();
  const int before = executor.replacements();
  CHECK(run("shared", "400000").outcome == Outcome::ExceedsLimits);
  CHECK(run("blocks", "0").outcome == Outcome::ExceedsLimits);
  const auto reply = run("variant", "too_many_registers");  // compiled for blocks of 128, launched with 1024
  INFO(reply.detail);
  CHECK((reply.outcome == Outcome::ExceedsLimits || reply.outcome == Outcome::LaunchFailed));
  CHECK(executor.replacements() == before);
  CHECK(run("variant", "correct").outcome == Outcome::Ok);
}

TEST_CASE("a worker that is killed from outside is replaced and the configuration measured after all") {
  prepare();
  auto& lab = test::Lab::get();
  const auto request = lab.request(faulty(), kProblem, spec::default_configuration(faulty()));
  const int before = lab.executor().replacements();
  lab.executor().submit(request);
  REQUIRE(::kill(lab.executor().worker_pid(), SIGKILL) == 0);
  std::optional<measure::VisitReply> reply;
  while (!reply) reply = lab.executor().collect(std::chrono::milliseconds(200));
  CHECK(reply->outcome == Outcome::Ok);
  CHECK(lab.executor().replacements() == before + 1);
}

TEST_CASE("a cubin of garbage fails to launch and says what the driver said") {
  prepare();
  auto& lab = test::Lab::get();
  auto request = lab.request(faulty(), kProblem, spec::default_configuration(faulty()));
  request.cubin_key = "garbage";
  request.cubin = std::string(1000, 'g');
  const auto reply = test::Lab::visit(lab.executor(), request);
  CHECK(reply.outcome == Outcome::LaunchFailed);
  CHECK(reply.detail.find("cuModuleLoadData") != std::string::npos);
}

TEST_CASE("a reference kernel that crashes is an error of the template") {
  const auto kernel = test::make_template(R"text({
    "attune": 1, "name": "bad_reference", "sources": ["kernel.cu"], "problem": {"n": {"size": {"min": 1}}},
    "parameters": {"block": {"values": [32], "default": 32}},
    "buffers": {"out": {"type": "i32", "count": "n", "output": true}},
    "launches": [{"kernel": "good", "grid": "1", "block": "block", "args": ["out"]}],
    "reference": {"launches": [{"kernel": "bad", "grid": "1", "block": "1", "args": ["out"]}]}
  })text",
                                          "extern \"C\" __global__ void good(int* out) { *out = 1; }\n"
                                          "extern \"C\" __global__ void bad(int* out) { *(volatile int*)16 = 1; }");
  auto& lab = test::Lab::get();
  CHECK_THROWS_AS(lab.prepare(lab.executor(), kernel, {{}, {{"n", 10}}}), SpecError);
  prepare();  // and the executor works on
}

TEST_CASE("a problem beyond the device's memory says what it needs and what is free") {
  auto& lab = test::Lab::get();
  CHECK_THROWS_WITH_AS(lab.prepare(lab.executor(), faulty(), {{}, {{"n", std::int64_t{1} << 38}}}),
                       doctest::Contains("are free"), EnvironmentError);
  prepare();
}
