// Claims about order and shape only: no threshold on a time.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"

namespace test_timing {

using namespace attune;
using measure::Outcome;

namespace {

constexpr const char* kWork = R"text({
  "attune": 1, "name": "work", "sources": ["kernel.cu"],
  "problem": {"n": {"size": {"min": 1}}},
  "parameters": {"repeats": {"values": [1, 4, 16], "default": 1}},
  "buffers": {"in": {"type": "f32", "count": "n"}, "out": {"type": "f32", "count": "n", "output": true}},
  "launches": [{"kernel": "work", "grid": "ceil_div(n, 256)", "block": "256", "args": ["in", "out", "n"]}],
  "reference": {"launches": [{"kernel": "work", "grid": "ceil_div(n, 256)", "block": "256", "args": ["in", "out", "n"]}]}
})text";

constexpr const char* kWorkSource = R"text(
extern "C" __global__ void work(const float* in, float* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  for (int r = 0; r < ATTUNE_REPEATS; ++r) {
    float x = in[i];
    for (int k = 0; k < 500; ++k) x = x * 0.5f + 0.25f;
    ((volatile float*)out)[i] = x;
  }
}
)text";

const spec::KernelTemplate& work() {
  static const auto kernel = test::make_template(kWork, kWorkSource);
  return kernel;
}

}  // namespace

TEST_CASE("more work takes longer under every policy") {
  using measure::CachePolicy;
  using measure::LaunchMode;
  const spec::Problem problem{{}, {{"n", 1 << 20}}};
  auto& lab = test::Lab::get();
  for (const auto cache : {CachePolicy::Cold, CachePolicy::Hot}) {
    for (const auto mode : {LaunchMode::Graph, LaunchMode::Stream}) {
      const auto executor = lab.make_executor({cache, mode});
      lab.prepare(*executor, work(), problem);
      double previous_us = 0;
      for (const char* repeats : {"1", "4", "16"}) {
        const auto reply = test::Lab::visit(*executor, lab.request(work(), problem, test::with(work(), "repeats", repeats)));
        INFO(measure::to_text(measure::Policy{cache, mode}), " ", repeats, ": ", reply.detail);
        REQUIRE(reply.outcome == Outcome::Ok);
        CHECK(reply.verified);
        CHECK(test::median(reply.samples_us) > previous_us);
        previous_us = test::median(reply.samples_us);
      }
    }
  }
}

TEST_CASE("a configuration far behind the best is dropped after two samples, a close one is not") {
  const spec::Problem problem{{}, {{"n", 1 << 20}}};
  auto& lab = test::Lab::get();
  lab.prepare(lab.executor(), work(), problem);
  auto request = lab.request(work(), problem, test::with(work(), "repeats", "1"));
  request.max_samples = 6;
  const auto best = test::Lab::visit(lab.executor(), request);
  REQUIRE(best.outcome == Outcome::Ok);
  CHECK(best.samples_us.size() == 6);
  CHECK_FALSE(best.screened_out);
  request.best_us = test::median(best.samples_us);
  CHECK_FALSE(test::Lab::visit(lab.executor(), request).screened_out);
  request = lab.request(work(), problem, test::with(work(), "repeats", "16"));
  request.max_samples = 6;
  request.best_us = test::median(best.samples_us);
  const auto slow = test::Lab::visit(lab.executor(), request);
  CHECK(slow.outcome == Outcome::Ok);
  CHECK(slow.screened_out);
  CHECK(slow.samples_us.size() == 2);
  CHECK(slow.verified);
}

TEST_CASE("a later visit needs no cubin, no verification and remembers that it was verified") {
  const spec::Problem problem{{}, {{"n", 4096}}};
  auto& lab = test::Lab::get();
  lab.prepare(lab.executor(), work(), problem);
  auto request = lab.request(work(), problem, spec::default_configuration(work()));
  REQUIRE(test::Lab::visit(lab.executor(), request).outcome == Outcome::Ok);
  request.cubin.clear();
  request.verify = false;
  const auto again = test::Lab::visit(lab.executor(), request);
  CHECK(again.outcome == Outcome::Ok);
  CHECK(again.verified);
}

TEST_CASE("a run-off gives one sample a configuration and round, and ranks more work last") {
  const spec::Problem problem{{}, {{"n", 1 << 20}}};
  auto& lab = test::Lab::get();
  lab.prepare(lab.executor(), work(), problem);
  measure::RunOffRequest run_off;
  run_off.rounds = 7;
  for (const char* repeats : {"4", "1"})
    run_off.configurations.push_back(lab.request(work(), problem, test::with(work(), "repeats", repeats)));
  const auto reply = lab.executor().run_off(run_off);
  INFO(reply.detail);
  REQUIRE(reply.outcome == Outcome::Ok);
  REQUIRE(reply.rounds_us.size() == 7);
  for (const auto& round : reply.rounds_us) {
    REQUIRE(round.size() == 2);
    CHECK(round[0] > round[1]);
  }
}

TEST_CASE("the read ceiling is measured where 5 GiB are free") { CHECK(test::Lab::get().executor().read_ceiling_bytes_per_s() > 0); }

}  // namespace test_timing
