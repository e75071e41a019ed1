// Launches as a template may say them: kernel templates, kernels of C++ in a namespace, clusters and dependent launches under a condition,
// options that depend on parameters.
#include <doctest/doctest.h>

#include "tests/gpu/lab.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_launch_forms {

using namespace attune;
using measure::Outcome;

namespace {

/// out = 12 * in + 1, the factor in two parts: one is a template argument, the other comes with an option.
constexpr const char* kTemplate = R"text({
  "attune": 1, "name": "forms", "sources": ["kernel.cu"],
  "problem": {"T": {"type": ["f32", "i64"]}, "n": {"size": {"min": 1}, "default": 100000}},
  "parameters": {"block_size": {"values": "powers(2, 64, 256)", "default": 128},
                 "factor": {"values": "[1, 3, 12]", "default": 3},
                 "clustered": {"values": [false, true], "default": false},
                 "chained": {"values": [false, true], "default": false},
                 "off_by_one": {"values": [false, true], "default": false}},
  "buffers": {"in": {"type": "T", "count": "n"}, "middle": {"type": "T", "count": "n", "workspace": true},
              "out": {"type": "T", "count": "n", "output": true}},
  "options": ["-DREST={factor}", {"option": "-DCHAINED", "if": "chained"}],
  "launches": [
    {"kernel": "ns::scale<T, block_size, 12 // factor>", "grid": "ceil_div(ceil_div(n, block_size), 2) * 2", "block": "block_size",
     "cluster": {"blocks": 2, "if": "clustered"}, "args": ["in", "middle", "n"]},
    {"kernel": "finish", "grid": "ceil_div(n, block_size)", "block": "block_size", "dependent": "chained", "args": ["middle", "out", "n"]}
  ],
  "reference": {"launches": [{"kernel": "wanted<T>", "grid": "ceil_div(n, 256)", "block": 256, "args": ["in", "out", "n"]}]}
})text";

constexpr const char* kSource = R"text(
namespace ns {
template <class T, int kBlock, int kFactor> __global__ void __launch_bounds__(kBlock) scale(const T* in, T* out, long long n) {
  const long long i = blockIdx.x * (long long)kBlock + threadIdx.x;
  if (i < n) out[i] = in[i] * kFactor;
#ifdef CHAINED
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
}
__global__ void finish(const ATTUNE_T* in, ATTUNE_T* out, long long n) {
#ifdef CHAINED
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const long long i = blockIdx.x * (long long)ATTUNE_BLOCK_SIZE + threadIdx.x;
  if (i < n) out[i] = in[i] * REST + 1 + ATTUNE_OFF_BY_ONE;
}
template <class T> __global__ void wanted(const T* in, T* out, long long n) {
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = in[i] * 12 + 1;
}
)text";

}  // namespace

TEST_CASE("kernels of C++, clusters, dependent launches and options are what each configuration says") {
  auto& lab = test::Lab::get();
  const auto kernel = test::make_template(kTemplate, kSource);
  const auto problem = spec::canonical(kernel, {{{"T", "i64"}}, {}});
  REQUIRE(problem.sizes.at("n") == 100000);
  lab.prepare(lab.executor(), kernel, problem);
  for (const char* block_size : {"64", "256"}) {
    for (const char* factor : {"1", "3", "12"}) {
      for (const bool more : {false, true}) {
        auto configuration = test::with(kernel, "block_size", block_size);
        configuration.index[1] = test::with(kernel, "factor", factor).index[1];
        configuration.index[2] = configuration.index[3] = more ? 1 : 0;
        CAPTURE(spec::to_text(kernel, configuration));
        const auto reply = test::Lab::visit(lab.executor(), lab.request(kernel, problem, configuration));
        INFO(reply.detail);
        CHECK(reply.outcome == Outcome::Ok);
        CHECK(reply.verified);
      }
    }
  }
}

TEST_CASE("a kernel template that is wrong is found by a reference that is one") {
  auto& lab = test::Lab::get();
  const auto kernel = test::make_template(kTemplate, kSource);
  const auto problem = spec::canonical(kernel, {{{"T", "f32"}}, {}});
  lab.prepare(lab.executor(), kernel, problem);
  CHECK(test::Lab::visit(lab.executor(), lab.request(kernel, problem, spec::default_configuration(kernel))).outcome == Outcome::Ok);
  const auto wrong = test::Lab::visit(lab.executor(), lab.request(kernel, problem, test::with(kernel, "off_by_one", "true")));
  CHECK(wrong.outcome == Outcome::WrongResult);
}

}  // namespace test_launch_forms
