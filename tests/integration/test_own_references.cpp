// `attune template check` on templates with a reference of their own: what only a GPU would find out is left to it, and nothing else.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/replaced.hpp"

namespace test_own_references {

using namespace attune;
using test::Cli;

namespace {

constexpr const char* kTemplate = R"json({
  "attune": 1, "name": "scaled", "sources": ["kernel.cu"],
  "problem": {"n": {"size": {"min": 1}}},
  "parameters": {"block_size": {"values": [32, 64], "default": 32}},
  "buffers": {"in": {"type": "f32", "count": "n"}, "out": {"type": "f32", "count": "n", "output": true}},
  "launches": [{"kernel": "scale", "grid": "ceil_div(n, block_size)", "block": "block_size", "args": ["in", "out", "n"]}],
  "reference": {"file": "reference.json"}
})json";

constexpr const char* kReference = R"json({
  "attune_reference": 1, "name": "scaled", "sources": ["reference.cu"],
  "problem": {"n": {"size": {"min": 1}}},
  "inputs": {"in": {"count": "n", "fill": {"kernel": "fill_it", "args": [{"n": "u64"}]}, "guards": [1, 2]}},
  "outputs": {"out": {"count": "n", "element": {"row": "n"}}},
  "workspaces": {"sums": {"type": "f64", "count": "n"}},
  "data_sets": {"integers": {"values": "small_integers"}, "random": {"values": "random"}, "odd": {"alters": "random", "when": "one is odd"}},
  "groups": 1,
  "expect": [{"kernel": "expect_it", "grid": "ceil_div(n, 256)", "block": 256, "args": ["in", "out", "sums", {"n": "u64"}]}],
  "plant": {"into": "in", "kernel": "plant_it", "row": "n", "data": {"integers": "alone"}},
  "alter": {"into": "in", "kernel": "alter_it"}
})json";

constexpr const char* kSource = R"cuda(
#include <attune/reference.cuh>
using namespace attune::reference;
extern "C" __global__ void fill_it(Filling filling, u64) { fill(filling, [&](u64 i) { return small_integer(filling.type, i); }); }
extern "C" __global__ void expect_it(const float* in, Expected* out, double*, u64 n) {
  for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = between(2.0 * in[i], 2.0 * in[i]);
}
extern "C" __global__ void plant_it(Plant*, u64) {}
extern "C" __global__ void alter_it(Alteration* alteration) { alteration->count = 0; }
)cuda";

struct OwnReference : Cli {
  OwnReference() {
    std::filesystem::create_directory(folder / "scaled");
    write("scaled/template.json", kTemplate);
    write("scaled/reference.json", kReference);
    write("scaled/reference.cu", kSource);
    write("scaled/kernel.cu",
          R"x(extern "C" __global__ void scale(const float* in, float* out, long long n) {
  if (threadIdx.x < n) out[threadIdx.x] = 2 * in[threadIdx.x];
})x");
  }

  [[nodiscard]] test::CommandResult check() const { return attune({"template", "check", (folder / "scaled").string()}); }

  /// The reference with one part replaced.
  [[nodiscard]] test::CommandResult check_with(const std::string& before, const std::string& after) const {
    write("scaled/reference.json", test::replaced(kReference, before, after));
    return check();
  }
};

}  // namespace

TEST_CASE_FIXTURE(OwnReference, "a template whose reference is in its own folder is valid") {
  const auto result = check();
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
}

TEST_CASE_FIXTURE(OwnReference, "launches, counts and kernels of a reference that no GPU could run are refused, with the file") {
  struct Wrong {
    const char *before, *after, *message;
  };
  for (const auto& [before, after, message] : {
           Wrong{R"("kernel": "expect_it")", R"("kernel": "expects_it")", "the launch of \"expects_it\" names no compiled kernel"},
           Wrong{R"("kernel": "fill_it")", R"("kernel": "fills_it")", "the launch of \"fills_it\" names no compiled kernel"},
           Wrong{R"("kernel": "plant_it")", R"("kernel": "plants_it")", "the launch of \"plants_it\" names no compiled kernel"},
           Wrong{R"("kernel": "alter_it")", R"("kernel": "alters_it")", "the launch of \"alters_it\" names no compiled kernel"},
           Wrong{R"x("grid": "ceil_div(n, 256)")x", R"("grid": 0)", "grid.x is 0"},
           Wrong{R"x("grid": "ceil_div(n, 256)")x", R"("grid": -1)", "grid.x is -1"},
           Wrong{R"x("grid": "ceil_div(n, 256)")x", R"("grid": "n * 4096")", "grid.x of 4294967296 exceeds"},
           Wrong{R"("block": 256)", R"("block": 4096)", "block.x of 4096 exceeds"},
           Wrong{R"("type": "f64", "count": "n")", R"("type": "f64", "count": "10 ** 18")", "passes 2^48 bytes"},
           Wrong{R"("groups": 1)", R"("groups": 5000000000)", "it must be 1 to 64"},
           Wrong{R"("groups": 1)", R"("groups": 0)", "it must be 1 to 64"},
           Wrong{R"("groups": 1)", R"("groups": "in_type")", "reference.json:8:"},
           Wrong{R"({"row": "n"})", R"({"row": "in_type"})", "reference.json:5:"},
           Wrong{R"("row": "n", "data")", R"("row": "in_type", "data")", "reference.json:10:"},
           Wrong{R"("guards": [1, 2])", R"("guards": [1, "in_type"])", "is f32, which is no number"},
           Wrong{R"("in": {"count": "n")", R"("in": {"count": "2 * n")", "(\"2 * n\" at "},
           Wrong{R"("in": {"count": "n")", R"("in": {"count": "2 * n")",
                 "); correct the buffer's count, or exclude the problem by a constraint"},
           Wrong{R"("groups": 1)", R"("groups": 0)", R"("groups" is 0 for {"n":1048576};)"},
           Wrong{R"("sources": ["reference.cu"])", R"("sources": ["other.cu"])", "'other.cu' is missing; it belongs beside reference.json"},
           Wrong{R"("odd": {"alters": "random")", R"("odd": {"alters": "random", "values": "ones")", "remove \"values\""},
       }) {
    CAPTURE(after);
    const auto result = check_with(before, after);
    CAPTURE(result.err);
    CHECK(result.exit_code == 3);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(result.err.find("reference.json") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(OwnReference, "the errors of a reference's code are told although the kernel has warnings, in text and in JSON") {
  write("scaled/kernel.cu",
        R"x(extern "C" __global__ void scale(const float* in, float* out, long long n) {
  int nobody_uses_this = 1;
  if (threadIdx.x < n) out[threadIdx.x] = 2 * in[threadIdx.x];
})x");
  write("scaled/reference.cu", std::string("#error this stands in reference.cu\n") + kSource);
  const auto text = check(), json = attune({"template", "check", (folder / "scaled").string(), "--json"});
  for (const auto& result : {text, json}) {
    CAPTURE(result.out);
    CHECK(result.exit_code == 6);
    CHECK(result.out.find("this stands in reference.cu") != std::string::npos);
    CHECK(result.out.find("nobody_uses_this") == std::string::npos);
  }
  CHECK(text.out.find("the reference does not compile") != std::string::npos);
  write("scaled/reference.cu", std::string("#include <vector>\n") + kSource);
  CHECK(check().out.find("reference.cu:1: <vector> is host code") != std::string::npos);
}

TEST_CASE_FIXTURE(OwnReference, "an input of the reference that the template calls an output is named") {
  const std::string text = kTemplate;
  write("scaled/template.json",
        test::replaced(text, R"("in": {"type": "f32", "count": "n"})", R"("in": {"type": "f32", "count": "n", "output": true})"));
  const auto result = check();
  CAPTURE(result.err);
  CHECK(result.exit_code == 3);
  CHECK(result.err.find("needs the input in, not none; the template's 'in' is no input") != std::string::npos);
}

TEST_CASE_FIXTURE(OwnReference, "a reference that is a link to nothing, to itself or a folder is told as what it is") {
  const auto path = folder / "scaled" / "reference.json";
  for (const char* kind : {"nothing", "itself", "folder"}) {
    CAPTURE(kind);
    std::filesystem::remove_all(path);
    if (kind == std::string("folder"))
      std::filesystem::create_directory(path);
    else
      std::filesystem::create_symlink(kind == std::string("nothing") ? "nowhere.json" : "reference.json", path);
    const auto result = check();
    CHECK(result.exit_code == 3);
    CHECK(result.err.find("it is no file that can be read, but a link to nothing, a folder or a device") != std::string::npos);
  }
}

}  // namespace test_own_references
