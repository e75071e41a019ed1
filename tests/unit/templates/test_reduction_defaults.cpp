// The shipped tables of defaults of reductions: what stands on a device that nobody tuned.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/templates/default_rows.hpp"
#include "tests/unit/templates/reduce_fixture.hpp"

namespace test_reduction_defaults {

using namespace attune;
using namespace attune::templates::test;

namespace {

constexpr int kProblems = 6000;
const std::vector<std::string> kArchitectures = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_120"};

spec::Problem next(Draws& draws, const spec::KernelTemplate& kernel, const std::vector<std::string>& operators) {
  const std::string type = draws.one_of(kTypes), op = draws.one_of(operators);
  if (kernel.name != "segmented_reduce") return problem_of(kernel, {{"T", type}, {"op", op}}, draws.size(32));
  const std::int64_t rows = draws.size(24);
  return spec::canonical(kernel,
                         {{{"T", type}, {"op", op}}, {{"rows", rows}, {"columns", draws.size(30 - static_cast<int>(std::log2(rows)))}}});
}

/// Nobody measured short rows of types below four bytes, and rows of one element are copied: the plain default adapts to the shape.
bool is_left_out(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  const std::string& type = problem.choices.at("T");
  const bool narrow = type == "i8" || type == "u8" || type == "f16" || type == "bf16";
  return kernel.name == "segmented_reduce" && problem.sizes.at("columns") <= (narrow ? 32 : 1);
}

}  // namespace

TEST_CASE("a row of their tables stands for every reduction on every architecture, and every row for some problem") {
  for (const auto& [name, operators] :
       std::map<std::string, std::vector<std::string>>{{"reduce", {"sum", "product", "min", "max"}},
                                                       {"argreduce", {"max", "min"}},
                                                       {"segmented_reduce", {"sum", "product", "min", "max"}}}) {
    CAPTURE(name);
    const auto& kernel = template_named(name);
    Draws draws;
    ReachedRows reached(kernel);
    for (int i = 0; i < kProblems; ++i) {
      const spec::Problem problem = next(draws, kernel, operators);
      for (const std::string& architecture : kArchitectures) {
        const auto* const row = spec::default_row(kernel, problem, spec::DeviceInfo::of_architecture(architecture));
        CHECK_MESSAGE((row != nullptr || is_left_out(kernel, problem)), spec::to_text(problem) << " on " << architecture);
        reached.add(row);
      }
    }
    reached.check_all();
  }
}

}  // namespace test_reduction_defaults
