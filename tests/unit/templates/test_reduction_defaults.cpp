// The shipped tables of defaults of reductions: what stands on a device that nobody tuned.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/templates/reduce_fixture.hpp"

namespace test_reduction_defaults {

using namespace attune;
using namespace attune::templates::test;

namespace {

constexpr int kProblems = 6000;
const std::vector<std::string> kArchitectures = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_120"};

class Random {
 public:
  const std::string& one_of(const std::vector<std::string>& words) { return words[random_() % words.size()]; }
  /// 1 to 2^octaves, evenly on a logarithmic scale.
  std::int64_t size(int octaves) { return std::llround(std::exp2(static_cast<double>(random_() % 100000) / 100000 * octaves)); }

 private:
  std::mt19937_64 random_{20261124};
};

spec::Problem next(Random& random, const spec::KernelTemplate& kernel, const std::vector<std::string>& operators) {
  const std::string type = random.one_of(kTypes), op = random.one_of(operators);
  if (kernel.name != "segmented_reduce") return problem_of(kernel, {{"T", type}, {"op", op}}, random.size(32));
  const std::int64_t rows = random.size(24);
  return spec::canonical(kernel, {{{"T", type}, {"op", op}}, {{"rows", rows}, {"columns", random.size(30 - static_cast<int>(std::log2(rows)))}}});
}

/// Nobody measured short rows of types below four bytes, and rows of one element are copied: the plain default adapts to the shape.
bool is_left_out(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  const std::string& type = problem.choices.at("T");
  const bool narrow = type == "i8" || type == "u8" || type == "f16" || type == "bf16";
  return kernel.name == "segmented_reduce" && problem.sizes.at("columns") <= (narrow ? 32 : 1);
}

}  // namespace

TEST_CASE("a row of their tables stands for every reduction on every architecture, and every row for some problem") {
  for (const auto& [name, operators] : std::map<std::string, std::vector<std::string>>{
           {"reduce", {"sum", "product", "min", "max"}}, {"argreduce", {"max", "min"}}, {"segmented_reduce", {"sum", "product", "min", "max"}}}) {
    CAPTURE(name);
    const auto& kernel = template_named(name);
    Random random;
    std::set<std::ptrdiff_t> reached;
    for (int i = 0; i < kProblems; ++i) {
      const spec::Problem problem = next(random, kernel, operators);
      for (const std::string& architecture : kArchitectures) {
        const auto* const row = spec::default_row(kernel, problem, spec::DeviceInfo::of_architecture(architecture));
        CHECK_MESSAGE((row != nullptr || is_left_out(kernel, problem)), spec::to_text(problem) << " on " << architecture);
        if (row != nullptr) reached.insert(row - kernel.defaults.data());
      }
    }
    for (std::size_t row = 0; row < kernel.defaults.size(); ++row) {
      CHECK_MESSAGE(reached.count(static_cast<std::ptrdiff_t>(row)) == 1, "no problem reaches row " << row);
    }
  }
}

}  // namespace test_reduction_defaults
