// Setup and check on a GPU: the example of a packed matrix is tuned right, and what its launches may not do is found.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/gpu/lab.hpp"
#include "tests/gpu/variants.hpp"
#include "tests/support/replaced.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_setup_and_check {

using namespace attune;
using measure::Outcome;
using test::replaced;

namespace {

/// Sums of rows, of a matrix that setup lays out by columns, or by rows where `by_columns` is 0, in two parts that check adds.
constexpr const char* kTemplate = R"text({
  "attune": 1, "name": "packed", "sources": ["kernel.cu"],
  "problem": {"rows": {"size": {"min": 1}}, "columns": {"size": {"min": 1}}},
  "parameters": {
    "block_size": {"values": [64, 256], "default": 64},
    "by_columns": {"values": [0, 1], "default": 1, "bind": "launch"},
    "defect": {"values": ["none", "writes_packed", "wrong_part", "past_packed"], "default": "none"}
  },
  "let": {"layout": "1"},
  "buffers": {
    "in": {"type": "f32", "count": "rows * columns"},
    "packed": {"type": "f32", "count": "rows * columns", "prepared": true},
    "parts": {"type": "f32", "count": "2 * rows", "output": true, "compare": false},
    "out": {"type": "f32", "count": "rows", "output": "check"},
    "seen": {"type": "u32", "count": "1", "workspace": {"init": "zero_each"}},
    "ones": {"type": "f32", "count": "rows", "workspace": true}
  },
  "setup": [{"memset": "ones", "byte": 0},
            {"kernel": "pack", "grid": "ceil_div(rows, 64)", "block": 64, "args": ["in", "packed", "ones", "rows", "columns", {"layout": "i32"}]}],
  "launches": [{"kernel": "sums", "grid": ["ceil_div(rows, block_size)", 2], "block": "block_size", "args": ["packed", "parts", "seen", "rows", "columns", {"layout": "i32"}]}],
  "check": [{"kernel": "add", "grid": "ceil_div(rows, 64)", "block": 64, "args": ["parts", "out", "seen", "rows"]}],
  "reference": {"launches": [{"kernel": "plain", "grid": "ceil_div(rows, 64)", "block": 64, "args": ["in", "out", "rows", "columns"]}], "terms": "columns"}
})text";

constexpr const char* kSource = R"text(
__device__ long long place(int layout, long long row, long long column, long long rows, long long columns) {
  return layout == 0 ? row * columns + column : column * rows + row;
}
extern "C" __global__ void pack(const float* in, float* packed, float* ones, long long rows, long long columns, int layout) {
  const long long row = blockIdx.x * 64ll + threadIdx.x;
  if (row >= rows) return;
  ones[row] += 1;  // 0 before
  for (long long column = 0; column < columns; ++column) packed[place(layout, row, column, rows, columns)] = in[row * columns + column] * ones[row];
}
extern "C" __global__ void sums(float* packed, float* parts, unsigned* seen, long long rows, long long columns, int layout) {
  const long long row = blockIdx.x * (long long)ATTUNE_BLOCK_SIZE + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (long long column = blockIdx.y; column < columns; column += 2) sum += packed[place(layout, row, column, rows, columns)];
  parts[blockIdx.y * rows + row] = sum + (ATTUNE_DEFECT_WRONG_PART && row == rows - 1 ? 1.0f : 0.0f);
  if (ATTUNE_DEFECT_WRITES_PACKED && row == rows / 2 && blockIdx.y == 0) packed[place(layout, row, columns - 1, rows, columns)] += 1.0f;
  if (ATTUNE_DEFECT_PAST_PACKED && row == 0 && blockIdx.y == 0) packed[rows * columns] = 0;
  if (row == 0) atomicAdd(seen, 1u);
}
// Adds nothing up unless both parts of this call, and of no other, were seen.
extern "C" __global__ void add(const float* parts, float* out, const unsigned* seen, long long rows) {
  const long long row = blockIdx.x * 64ll + threadIdx.x;
  if (row < rows) out[row] = *seen == 2 ? parts[row] + parts[rows + row] : -1e30f;
}
extern "C" __global__ void plain(const float* in, float* out, long long rows, long long columns) {
  const long long row = blockIdx.x * 64ll + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (long long column = 0; column < columns; ++column) sum += in[row * columns + column];
  out[row] = (float)sum;
}
)text";

/// Of the working directory, where it is a source tree: a build may run on another machine than it was made on.
std::filesystem::path examples() {
  const auto here = std::filesystem::current_path() / "examples" / "templates";
  return std::filesystem::exists(here) ? here : std::filesystem::path(ATTUNE_SOURCE_DIR) / "examples" / "templates";
}

const spec::Problem kProblem{{}, {{"rows", 3000}, {"columns", 200}}};

spec::KernelTemplate shared() { return test::make_template(kTemplate, kSource); }
/// Each configuration has its own setup.
spec::KernelTemplate own() {
  return test::make_template(replaced(kTemplate, R"("let": {"layout": "1"})", R"("let": {"layout": "by_columns"})"), kSource);
}

/// Verified, and timed where it is right.
measure::VisitReply visit(const spec::KernelTemplate& kernel, const spec::Configuration& configuration) {
  auto& lab = test::Lab::get();
  auto reply = test::Lab::visit(lab.executor(), lab.request(kernel, kProblem, configuration));
  CAPTURE(reply.detail);
  CHECK((reply.outcome != Outcome::Ok || (reply.verified && !reply.samples_us.empty())));
  return reply;
}

void check_defects(const spec::KernelTemplate& kernel) {
  auto& lab = test::Lab::get();
  lab.prepare(lab.executor(), kernel, kProblem);
  CHECK(visit(kernel, spec::default_configuration(kernel)).outcome == Outcome::Ok);
  CHECK(visit(kernel, test::with(kernel, "block_size", "256")).outcome == Outcome::Ok);
  for (const auto& [defect, message] : {std::pair{"writes_packed", "wrote to prepared buffer \"packed\" at 1 places"},
                                        {"wrong_part", "1 of 3000 elements of output \"out\" are wrong; the first is element 2999: "},
                                        {"past_packed", "wrote past the end of buffer \"packed\""}}) {
    const auto reply = visit(kernel, test::with(kernel, "defect", defect));
    CHECK(reply.outcome == Outcome::WrongResult);
    CHECK_MESSAGE(reply.detail.find(message) != std::string::npos, reply.detail);
    // What the wrong one left in the buffers is nobody else's.
    CHECK(visit(kernel, spec::default_configuration(kernel)).outcome == Outcome::Ok);
  }
}

}  // namespace

TEST_CASE("the example of a packed matrix is right in every configuration of a sample, and timed") {
  auto& lab = test::Lab::get();
  const auto kernel = spec::KernelTemplate::load(examples() / "packed_matvec");
  const spec::Problem problem{{}, {{"rows", 4096}, {"columns", 1000}}};
  CHECK(kernel.setup_is_shared);
  lab.prepare(lab.executor(), kernel, problem);
  test::check_all(kernel, problem, test::one_of_each(kernel, problem, {"block_size", "items", "neighbours"}));
}

TEST_CASE("a launch that writes to what setup prepared, or a part that is wrong, is found through a shared setup and check") {
  const auto kernel = shared();
  CHECK(kernel.setup_is_shared);
  check_defects(kernel);
}

TEST_CASE("the same is found where each configuration has its own setup") {
  const auto kernel = own();
  CHECK_FALSE(kernel.setup_is_shared);
  check_defects(kernel);
}

TEST_CASE("configurations whose setups differ take turns, and each is verified and timed on what its own prepared") {
  auto& lab = test::Lab::get();
  auto& executor = lab.executor();
  const auto kernel = own();
  lab.prepare(executor, kernel, kProblem);
  measure::RunOffRequest run_off;
  for (const char* const layout : {"0", "1"})
    run_off.configurations.push_back(lab.request(kernel, kProblem, test::with(kernel, "by_columns", layout)));
  for (int turn = 0; turn < 3; ++turn) {
    for (auto& request : run_off.configurations) {
      request.verify = turn == 0;
      const auto reply = test::Lab::visit(executor, request);
      CAPTURE(reply.detail);
      CHECK(reply.outcome == Outcome::Ok);
      CHECK(reply.verified);
    }
  }
  const auto reply = executor.run_off(run_off);
  CAPTURE(reply.detail);
  CHECK(reply.outcome == Outcome::Ok);
}

TEST_CASE("a shared setup that writes past what it prepares ends the problem, and no configuration is called wrong") {
  auto& lab = test::Lab::get();
  const auto kernel = test::make_template(
      kTemplate, replaced(kSource, "  ones[row] += 1;  // 0 before\n", "  ones[row] += 1;\n  if (row == 0) packed[rows * columns] = 0;\n"));
  CHECK_THROWS_WITH_AS(lab.prepare(lab.executor(), kernel, kProblem),
                       doctest::Contains("failed running \"setup\" with the default configuration (the asked size,"), Error);
  check_defects(shared());
}

}  // namespace test_setup_and_check
