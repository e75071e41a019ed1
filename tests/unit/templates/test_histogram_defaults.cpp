// The shipped table of defaults of histograms: what stands on a device that nobody tuned.
#include <doctest/doctest.h>

#include "tests/unit/templates/default_rows.hpp"
#include "tests/unit/templates/reduce_fixture.hpp"

namespace test_histogram_defaults {

using namespace attune;
using namespace attune::templates::test;

namespace {

constexpr int kProblems = 10000;
const std::vector<std::string> kArchitectures = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

/// Problems of every kind that histograms have; sizes evenly on a logarithmic scale.
class Problems {
 public:
  spec::Problem next() {
    const std::string type = draws_.one_of({"u8", "u16", "i32", "u32", "f32"});
    const std::string mapping = type == "f32" ? draws_.one_of({"scaled", "edges"}) : draws_.one_of({"unit", "shift", "scaled", "edges"});
    const std::string counter = draws_.one_of({"u32", "u32", "u32", "u64", "f32"});
    const std::string channels = counter == "f32" ? "1" : draws_.one_of({"1", "1", "1", "2", "3", "4"});
    const std::string active = channels == "4" ? draws_.one_of({"all", "1", "3"}) : "all";
    const std::string skew = draws_.one_of({"unknown", "uniform", "zipf", "hot", "constant", "sorted"});
    return spec::canonical(
        kernel_, {{{"T", type}, {"mapping", mapping}, {"Counter", counter}, {"channels", channels}, {"active", active}, {"skew", skew}},
                  {{"n", draws_.size(33)}, {"bins", draws_.size(type == "u8" ? 8 : 24)}}});
  }
  [[nodiscard]] const spec::KernelTemplate& kernel() const { return kernel_; }

 private:
  const spec::KernelTemplate& kernel_ = template_named("histogram");
  Draws draws_;
};

std::string value_of(const spec::KernelTemplate& kernel, const spec::Configuration& configuration, const std::string& parameter) {
  for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
    if (kernel.parameters[p].name == parameter) return spec::to_text(spec::value_of(kernel, configuration, p));
  }
  FAIL("no parameter " << parameter);
  return "";
}

}  // namespace

TEST_CASE("a row of the table stands for every histogram on every architecture, and none has one atomic in global memory for each sample") {
  Problems problems;
  const auto& kernel = problems.kernel();
  ReachedRows reached(kernel);
  for (int i = 0; i < kProblems; ++i) {
    const spec::Problem problem = problems.next();
    for (const std::string& architecture : kArchitectures) {
      const auto device = spec::DeviceInfo::of_architecture(architecture);
      const auto* const row = spec::default_row(kernel, problem, device);
      REQUIRE_MESSAGE(row != nullptr, spec::to_text(problem) << " on " << architecture);
      reached.add(row);
      const auto chosen = spec::default_configuration(kernel, problem, device);
      const std::string strategy =
          value_of(kernel, chosen, "strategy");  // "adaptive" counts in global memory where shared memory is too small
      const bool is_naive = (strategy == "global" || strategy == "adaptive") && value_of(kernel, chosen, "aggregate") == "none";
      CHECK_MESSAGE(!is_naive, spec::to_text(problem) << " on " << architecture);
    }
  }
  reached.check_all();
}

}  // namespace test_histogram_defaults
