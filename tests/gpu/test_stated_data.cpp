// Inputs and answers from files, and inputs that follow a pattern, as the GPU sees them.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/gpu/lab.hpp"
#include "tests/support/npy.hpp"
#include "tests/support/replaced.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_stated_data {

using namespace attune;
using measure::Outcome;

namespace {

/// y = A x of a sparse matrix in compressed rows.
constexpr const char* kTemplate = R"text({
  "attune": 1, "name": "spmv", "sources": ["kernel.cu"],
  "problem": {"rows": {"size": {"min": 1}}, "columns": {"size": {"min": 1}}, "nonzeros": {"size": {"min": 1}}},
  "parameters": {"block_size": {"values": [64, 256], "default": 64}, "skips_last": {"values": [false, true], "default": false}},
  "buffers": {"starts": {"type": "i32", "count": "rows + 1", "fill": {"offsets": "nonzeros"}},
              "places": {"type": "i32", "count": "nonzeros", "fill": {"range": [0, "columns"]}},
              "values": {"type": "f64", "count": "nonzeros"}, "x": {"type": "f64", "count": "columns", "fill": {"value": 0.5}},
              "y": {"type": "f64", "count": "rows", "output": true}},
  "launches": [{"kernel": "spmv", "grid": "ceil_div(rows, block_size)", "block": "block_size", "args": ["starts", "places", "values", "x", "y", "rows"]}],
  "reference": {"launches": [{"kernel": "plain", "grid": "ceil_div(rows, 128)", "block": 128, "args": ["starts", "values", "y", "rows"]}]}
})text";

constexpr const char* kSource = R"text(
__global__ void spmv(const int* starts, const int* places, const double* values, const double* x, double* y, long long rows) {
  const long long row = blockIdx.x * (long long)ATTUNE_BLOCK_SIZE + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int i = starts[row]; i < starts[row + 1] - ATTUNE_SKIPS_LAST; ++i) sum += values[i] * x[places[i]];
  y[row] = sum;
}
__global__ void plain(const int* starts, const double* values, double* y, long long rows) {
  const long long row = blockIdx.x * 128ll + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i];
  y[row] = sum * 0.5;
}
)text";

Outcome outcome_of(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration) {
  auto& lab = test::Lab::get();
  const auto reply = test::Lab::visit(lab.executor(), lab.request(kernel, problem, configuration));
  INFO(reply.detail);
  CHECK((reply.outcome != Outcome::Ok || reply.verified));
  return reply.outcome;
}

}  // namespace

TEST_CASE("rows, places and factors of a sparse matrix follow their patterns") {
  const auto kernel = test::make_template(kTemplate, kSource);
  const auto problem = spec::canonical(kernel, {{}, {{"rows", 5000}, {"columns", 300}, {"nonzeros", 60000}}});
  test::Lab::get().prepare(test::Lab::get().executor(), kernel, problem);
  CHECK(outcome_of(kernel, problem, spec::default_configuration(kernel)) == Outcome::Ok);
  CHECK(outcome_of(kernel, problem, test::with(kernel, "block_size", "256")) == Outcome::Ok);
  CHECK(outcome_of(kernel, problem, test::with(kernel, "skips_last", "true")) == Outcome::WrongResult);
}

TEST_CASE("files fill inputs and say what outputs must be") {
  test::TempFolder folder;
  const auto write = [&](const char* name, const std::string& bytes) { test::write_bytes(folder / name, bytes); };
  std::string text = kTemplate;
  text = test::replaced(text, R"text("fill": {"offsets": "nonzeros"})text", R"text("fill": {"file": "starts.npy"})text");
  text = test::replaced(text, R"text("fill": {"range": [0, "columns"]})text", R"text("fill": {"file": "places.bin"})text");
  text = test::replaced(text, R"text("values": {"type": "f64", "count": "nonzeros"})text",
                        R"text("values": {"type": "f64", "count": "nonzeros", "fill": {"file": "values.npy"}})text");
  text = test::replaced(text, R"text("rows": {"size": {"min": 1}})text", R"text("rows": {"size": {"file": "y.npy"}})text");
  text = text.substr(0, text.find("\"reference\"")) + R"text("reference": {"outputs": {"y": "y.npy"}}})text";
  write("template.json", text);
  write("kernel.cu", kSource);
  write("starts.npy", test::npy_of<std::int32_t>("<i4", "(4,)", {0, 2, 2, 5}));
  write("places.bin", test::raw_bytes<std::int32_t>({0, 1, 2, 1, 0}));
  write("values.npy", test::npy_of<double>("<f8", "(5,)", {1, 2, 3, 4, 8}));
  write("y.npy", test::npy_of<double>("<f8", "(3,)", {1.5, 0, 7.5}));
  const auto verdicts = [&] {
    const auto kernel = spec::KernelTemplate::load(folder.path());
    const auto problem = spec::canonical(kernel, {{}, {{"columns", 3}, {"nonzeros", 5}}});
    test::Lab::get().prepare(test::Lab::get().executor(), kernel, problem);
    return std::make_pair(outcome_of(kernel, problem, spec::default_configuration(kernel)),
                          outcome_of(kernel, problem, test::with(kernel, "skips_last", "true")));
  };
  CHECK(verdicts() == std::make_pair(Outcome::Ok, Outcome::WrongResult));
  write("y.npy", test::npy_of<double>("<f8", "(3,)", {1.5, 0, 7.25}));
  CHECK(verdicts().first == Outcome::WrongResult);
}

}  // namespace test_stated_data
