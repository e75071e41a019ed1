// Problems out of a command's words, and the one that is taken where there are none.
#include <doctest/doctest.h>

#include "tools/problem_arguments.hpp"

namespace test_problem_arguments {

using namespace attune;

namespace {

spec::KernelTemplate kernel() {
  return spec::KernelTemplate::parse(R"({
    "attune": 1, "name": "axes", "sources": ["axes.cu"],
    "problem": {"T": {"type": ["f32", "f64"]}, "op": {"choice": ["sum", "min"], "default": "min"},
                "n": {"size": {"min": 1}}, "few": {"size": {"min": 1, "max": 8}}, "rows": {"size": {"min": 1}, "default": 4096}},
    "parameters": {}, "buffers": {"out": {"type": "T", "count": "n * rows", "output": true}},
    "launches": [{"kernel": "axes", "grid": 1, "block": "few", "args": ["out"]}], "reference": "none"})",
                                     {{"axes.cu", ""}}, "axes.json");
}

}  // namespace

TEST_CASE("a problem that nobody names has every default, the first type, and the size that is asked for within its bounds") {
  const auto problem = tools::problem_of_size(kernel(), 1 << 20);
  CHECK(problem.choices == std::map<std::string, std::string>{{"T", "f32"}});  // a key leaves a choice at its default out
  CHECK(problem.sizes == std::map<std::string, std::int64_t>{{"few", 8}, {"n", 1 << 20}, {"rows", 4096}});
  CHECK(tools::problems_from_arguments(kernel(), {"--T=f32", "--n=2^20", "--few=8"}) == std::vector{problem});
}

}  // namespace test_problem_arguments
