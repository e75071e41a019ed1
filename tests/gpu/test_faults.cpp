// The fault matrix, one configuration at a time: what ruins a kernel, its process or its compiler is recorded as what
// it was, and the configuration that comes next is measured as if nothing had happened. test_fault_runs.cpp has the
// faults of whole tuning runs.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "tests/gpu/lab.hpp"
#include "tests/support/children.hpp"

namespace test_faults {

using namespace attune;
using measure::Outcome;

namespace {

constexpr const char* kFaulty = R"text({
  "attune": 1, "name": "faulty", "sources": ["kernel.cu"],
  "problem": {"n": {"size": {"min": 1}}},
  "parameters": {"variant": {"values": ["correct", "endless", "illegal_address", "misaligned", "trap", "device_assert",
                                        "stack_overflow", "registers", "compiled_for_less", "wrong_value", "partial",
                                        "past_the_end"], "default": "correct"},
                 "shared": {"values": [0, 400000], "default": 0, "bind": "launch"},
                 "scratch_gib": {"values": [0, 100000], "default": 0, "bind": "launch"},
                 "blocks": {"values": [1, 0], "default": 1, "bind": "launch"}},
  "buffers": {"in": {"type": "i32", "count": "n"}, "out": {"type": "i32", "count": "n", "output": true},
              "scratch": {"type": "u8", "count": "scratch_gib * 2**30", "workspace": true}},
  "launches": [{"kernel": "copy", "grid": "ceil_div(n, 1024) * blocks", "block": "1024", "shared": "shared", "args": ["in", "out", "n"]}],
  "reference": {"launches": [{"kernel": "copy_plainly", "grid": "ceil_div(n, 1024)", "block": "1024", "args": ["in", "out", "n"]}]}
})text";

// No input is 123456789: the compiler does not know it.
constexpr const char* kFaultySource = R"text(
extern "C" __global__ void copy_plainly(const int* in, int* out, long long n) {
  const long long i = blockIdx.x * 1024ll + threadIdx.x;
  if (i < n) out[i] = in[i];
}
#if ATTUNE_VARIANT_STACK_OVERFLOW
__device__ __noinline__ int descend(const int* in, long long depth) {  // a quarter of a kilobyte a level
  volatile int frame[64];
  frame[depth & 63] = in[depth & 63];
  if (depth == 0) return frame[0];
  return descend(in, depth - 1) + frame[(depth * 7) & 63];
}
#endif
#if ATTUNE_VARIANT_COMPILED_FOR_LESS
extern "C" __global__ __launch_bounds__(128) void copy(const int* in, int* out, long long n) {
#else
extern "C" __global__ void copy(const int* in, int* out, long long n) {
#endif
  const long long i = blockIdx.x * 1024ll + threadIdx.x;
#if ATTUNE_VARIANT_ENDLESS
  while (((volatile const int*)in)[0] != 123456789) {}
#elif ATTUNE_VARIANT_ILLEGAL_ADDRESS
  *(int*)(0x10ll + (n << 60)) = 1;
#elif ATTUNE_VARIANT_MISALIGNED
  *(volatile int*)((char*)out + 1) = 1;
#elif ATTUNE_VARIANT_TRAP
  asm volatile("trap;");
#elif ATTUNE_VARIANT_DEVICE_ASSERT
  if (i == 0) assert(in[0] == 123456789);
#elif ATTUNE_VARIANT_STACK_OVERFLOW
  if (i == 0 && descend(in, n) == 123456789) return;
#elif ATTUNE_VARIANT_REGISTERS
  int held[128];
#pragma unroll
  for (int k = 0; k < 128; ++k) held[k] = ((volatile const int*)in)[k];
  int all = 0;
#pragma unroll
  for (int k = 0; k < 128; ++k) all += held[k];
  int mixed = 0;
#pragma unroll
  for (int k = 0; k < 128; ++k) mixed ^= held[k] * (all + k);
  if (mixed == 123456789) return;
#endif
  const bool leave_out = ATTUNE_VARIANT_PARTIAL && i % 1000 == 999;
  if (i < n && !leave_out) out[i] = in[i] + (ATTUNE_VARIANT_WRONG_VALUE && i == 12345);
  if (i == 0 && ATTUNE_VARIANT_PAST_THE_END) out[n] = 1;
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

void check_next_is_fine() {
  const auto reply = run("variant", "correct");
  INFO(reply.detail);
  CHECK(reply.outcome == Outcome::Ok);
  CHECK(reply.verified);
}

void prepare() {
  auto& lab = test::Lab::get();
  lab.prepare(lab.executor(), faulty(), kProblem);
  REQUIRE(run("variant", "correct").outcome == Outcome::Ok);  // shortens the deadline
}

measure::VisitReply collect(measure::GpuExecutor& executor) {
  std::optional<measure::VisitReply> reply;
  while (!reply) reply = executor.collect(std::chrono::milliseconds(200));
  return *reply;
}

int worker_pid() {
  const auto workers = test::children("worker-gpu");
  REQUIRE(workers.size() == 1);
  return workers.front();
}

std::size_t address_space_bytes(int pid) {
  std::size_t pages = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("an endless kernel is timed out after one retry, and the next configuration is fine") {
  prepare();
  auto& executor = test::Lab::get().executor();
  const int before = executor.replacements();
  const auto reply = run("variant", "endless");
  CHECK(reply.outcome == Outcome::TimedOut);
  CHECK(reply.detail.find("no answer within") != std::string::npos);
  check_next_is_fine();
  CHECK(executor.replacements() == before + 2);
}

TEST_CASE("kernels that fault are crashes with the driver's reason, and the next configuration is fine") {
  prepare();
  auto& executor = test::Lab::get().executor();
  struct Fault {
    const char* variant;
    const char* reason;
  };
  // What a trap and a full stack are called depends on the driver.
  for (const Fault& fault :
       {Fault{"illegal_address", "CUDA_ERROR_ILLEGAL_ADDRESS"}, Fault{"misaligned", "CUDA_ERROR_MISALIGNED_ADDRESS"},
        Fault{"trap", "CUDA_ERROR_"}, Fault{"device_assert", "CUDA_ERROR_ASSERT"}, Fault{"stack_overflow", "CUDA_ERROR_"}}) {
    CAPTURE(fault.variant);
    const int before = executor.replacements();
    const auto reply = run("variant", fault.variant);
    INFO(reply.detail);
    CHECK(reply.outcome == Outcome::Crashed);
    CHECK_FALSE(reply.verified);
    CHECK(reply.samples_us.empty());
    CHECK(reply.detail.find(fault.reason) != std::string::npos);
    check_next_is_fine();
    CHECK(executor.replacements() == before + 2);  // tried once more before it is blamed
  }
}

TEST_CASE("results that are wrong, left out or written beside the output fail without costing a worker") {
  prepare();
  auto& executor = test::Lab::get().executor();
  const int before = executor.replacements();
  struct Defect {
    const char* variant;
    const char* says;
  };
  for (const Defect& defect : {Defect{"wrong_value", "1 of 100000 elements of output \"out\" are wrong; the first is element 12345"},
                               Defect{"partial",
                                      "100 of 100000 elements of output \"out\" are wrong; the first is element 999: -1212696649 "
                                      "instead of"},  // the poison, 0xB7 in every byte
                               Defect{"past_the_end", "wrote past the end of buffer \"out\""}}) {
    CAPTURE(defect.variant);
    const auto reply = run("variant", defect.variant);
    INFO(reply.detail);
    CHECK(reply.outcome == Outcome::WrongResult);
    CHECK_FALSE(reply.verified);
    CHECK(reply.detail.find(defect.says) != std::string::npos);
    check_next_is_fine();
  }
  CHECK(executor.replacements() == before);
}

TEST_CASE("a configuration beyond the device's limits is an outcome and costs no worker") {
  prepare();
  auto& executor = test::Lab::get().executor();
  const int before = executor.replacements();
  CHECK(run("shared", "400000").outcome == Outcome::ExceedsLimits);
  CHECK(run("blocks", "0").outcome == Outcome::ExceedsLimits);
  const auto registers = run("variant", "registers");  // over 128 a thread, for 1024 threads
  INFO(registers.detail);
  CHECK(registers.outcome == Outcome::ExceedsLimits);
  CHECK(registers.detail.find("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES") != std::string::npos);
  const auto scratch = run("scratch_gib", "100000");
  INFO(scratch.detail);
  CHECK(scratch.outcome == Outcome::ExceedsLimits);
  CHECK(scratch.detail.find("free") != std::string::npos);
  const auto compiled = run("variant", "compiled_for_less");  // for blocks of 128, launched with 1024
  INFO(compiled.detail);
  CHECK((compiled.outcome == Outcome::ExceedsLimits || compiled.outcome == Outcome::LaunchFailed));
  CHECK(executor.replacements() == before);
  check_next_is_fine();
}

TEST_CASE("a worker that is killed from outside is replaced and the configuration measured after all") {
  prepare();
  auto& lab = test::Lab::get();
  const auto request = lab.request(faulty(), kProblem, spec::default_configuration(faulty()));
  const int before = lab.executor().replacements(), pid = worker_pid();
  REQUIRE(::kill(pid, SIGSTOP) == 0);  // so that it does not answer before it is killed
  lab.executor().submit(request);
  REQUIRE(::kill(pid, SIGKILL) == 0);
  CHECK(collect(lab.executor()).outcome == Outcome::Ok);
  CHECK(lab.executor().replacements() == before + 1);
  check_next_is_fine();
}

TEST_CASE("a worker out of host memory is replaced and the configuration measured after all") {
  prepare();
  auto& lab = test::Lab::get();
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const int pid = worker_pid();
  rlimit limit{};
  REQUIRE(::prlimit(pid, RLIMIT_AS, nullptr, &limit) == 0);
  limit.rlim_cur = address_space_bytes(pid) + 16 * kMiB;
  REQUIRE(::prlimit(pid, RLIMIT_AS, &limit, nullptr) == 0);
  // A cubin that this worker cannot take in; the driver looks no further than what its header describes.
  auto request = lab.request(faulty(), kProblem, spec::default_configuration(faulty()));
  request.cubin.append(64 * kMiB, '\0');
  request.cubin_key = "a large one";
  const int before = lab.executor().replacements();
  const auto reply = test::Lab::visit(lab.executor(), request);
  INFO(reply.detail);
  CHECK(reply.outcome == Outcome::Ok);
  CHECK(lab.executor().replacements() == before + 1);
  check_next_is_fine();
}

TEST_CASE("a compilation that takes for ever ends at its deadline while the GPU goes on, and others compile") {
  prepare();
  auto& lab = test::Lab::get();
  compile::CompilePool::Options options;
  options.worker = test::attune_executable();
  options.workers = 1;
  options.deadline = std::chrono::milliseconds(1500);
  compile::CompilePool pool(options);
  std::string source = "extern \"C\" __global__ void huge(double* p) {\n  double a = p[0], b = p[1];\n";
  for (int i = 0; i < 30000; ++i) source += fmt::format("  a = sin(a + {}.25) * b; b = exp(b - a);\n", i);
  source += "  p[2] = a + b;\n}\n";
  const std::string architecture = lab.executor().device().architecture;
  const auto huge = pool.submit({source, "huge.cu", architecture, {}});
  const auto small = pool.submit({"extern \"C\" __global__ void small(int* p) { *p = 1; }", "small.cu", architecture, {}});
  check_next_is_fine();
  std::map<std::uint64_t, compile::CompileStatus> status;
  while (status.size() < 2) {
    for (const auto& completed : pool.collect(std::chrono::milliseconds(-1))) status[completed.ticket] = completed.result.status;
  }
  CHECK(status.at(huge) == compile::CompileStatus::TimedOut);
  CHECK(status.at(small) == compile::CompileStatus::Ok);
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
  CHECK_THROWS_WITH_AS(lab.prepare(lab.executor(), faulty(), {{}, {{"n", std::int64_t{1} << 38}}}), doctest::Contains("are free"),
                       EnvironmentError);
  prepare();
}

}  // namespace test_faults
