// The template reduce: each published variant, type, operator, transform and finish at sizes that are hard, and on more
// elements than 32 bits count. What verification checks of a configuration beside that (a misaligned input, planted
// elements, NaN and infinities, guards, scratch) is in tests/gpu/test_verification_reduce.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tests/gpu/variants.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_reduce {

using namespace attune;

namespace {

const std::vector<std::string> kTypes = {"f32", "f64", "f16", "bf16", "i8", "u8", "i32", "u32", "i64", "u64"};
const std::vector<std::int64_t> kSizes = {0, 1, 31, 32, 33, 1023, (1 << 20) + 3};

const spec::KernelTemplate& reduce() {
  static const auto kernel = spec::TemplateLibrary().find("reduce");
  return kernel;
}

const spec::DeviceInfo& device() { return test::Lab::get().executor().device(); }

spec::Problem of(std::map<std::string, std::string> choices, std::int64_t n) {
  choices.emplace("T", "f32");
  choices.emplace("op", "sum");
  return spec::canonical(reduce(), {std::move(choices), {{"n", n}}});
}

void check_all(const spec::Problem& problem, const std::vector<spec::Configuration>& configurations) {
  test::check_all(reduce(), problem, configurations);
}

std::vector<spec::Configuration> one_of_each(const spec::Problem& problem, const std::vector<std::string>& parameters) {
  return test::one_of_each(reduce(), problem, parameters);
}

std::vector<spec::Configuration> those_valid(const spec::Problem& problem, const std::vector<spec::Configuration>& all) {
  return test::those_valid(reduce(), problem, all);
}

/// Every published variant of the type: each load, block stage and grid stage, and the specialisation on n.
std::vector<spec::Configuration> variants_of(const std::string& type) {
  const auto problem = of({{"T", type}}, 65536);
  std::vector<spec::Configuration> all;
  for (const char* parameter : {"load", "block_stage", "grid_stage", "exact_n"}) {
    for (const auto& configuration : one_of_each(problem, {parameter})) {
      if (std::none_of(all.begin(), all.end(), [&](const auto& other) { return other.index == configuration.index; }))
        all.push_back(configuration);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("reduce is right in every variant at sizes that are hard, for every type at some of them") {
  for (const auto& type : kTypes) {
    const auto variants = variants_of(type);
    for (const std::int64_t n : type == "f32" ? kSizes : std::vector<std::int64_t>{33, (1 << 20) + 3}) {
      const auto problem = of({{"T", type}}, n);
      check_all(problem, those_valid(problem, variants));
    }
  }
}

// Takes a minute: test_gpu --no-skip -tc="*every hard size*".
TEST_CASE("reduce is right in every variant, for every type, at every hard size" * doctest::skip()) {
  for (const auto& type : kTypes) {
    const auto variants = variants_of(type);
    for (const std::int64_t n : kSizes) {
      const auto problem = of({{"T", type}}, n);
      check_all(problem, those_valid(problem, variants));
    }
  }
}

TEST_CASE("reduce is right for every type and operator") {
  const auto with_stages = [](const spec::Configuration& configuration) {
    const auto stage = spec::to_text(spec::value_of(reduce(), configuration, test::position(reduce(), "grid_stage")));
    return stage == "ticket" || stage == "thread_atomic";  // each operator has its own atomics
  };
  for (const auto& type : kTypes) {
    for (const char* op : {"product", "min", "max", "and", "or", "xor", "custom"}) {
      const auto typical = of({{"T", type}, {"op", op}}, 65536);
      if (!spec::satisfies(reduce(), typical, spec::default_configuration(reduce()), device())) continue;  // bits of floats
      std::vector<spec::Configuration> stages;
      for (const auto& configuration : one_of_each(typical, {"grid_stage"}))
        if (with_stages(configuration)) stages.push_back(configuration);
      const auto problem = of({{"T", type}, {"op", op}}, 70001);
      check_all(problem, those_valid(problem, stages));
    }
  }
}

TEST_CASE("reduce is right in every combination of a block stage and a grid stage, a load and a width") {
  const auto problem = of({}, 70001);
  check_all(problem, one_of_each(problem, {"block_stage", "grid_stage"}));
  check_all(problem, one_of_each(problem, {"load", "vector_bytes"}));
}

TEST_CASE("reduce applies every transform, the second input aligned or not, and every finish") {
  const auto loads = one_of_each(of({}, 65536), {"load"});
  const std::vector<std::map<std::string, std::string>> all = {{{"transform", "absolute"}},
                                                               {{"transform", "square"}},
                                                               {{"transform", "shifted_square"}},
                                                               {{"transform", "times"}},
                                                               {{"transform", "custom"}, {"map", "x > A(0) ? x : A(0)"}},
                                                               {{"transform", "square"}, {"finish", "root"}},
                                                               {{"finish", "mean"}},
                                                               {{"finish", "scale_bias"}},
                                                               {{"op", "custom"}, {"combine", "a > b ? a : b"}, {"start", "A(-1000)"}}};
  for (const auto& choices : all) {
    for (const char* type : {"f32", "f16", "i8"}) {
      auto with_type = choices;
      with_type.emplace("T", type);
      const auto problem = of(with_type, 100003);
      if (!spec::satisfies(reduce(), problem, spec::default_configuration(reduce()), device())) continue;  // the mean of integers
      check_all(problem, those_valid(problem, loads));
    }
  }
}

TEST_CASE("reduce is right beyond 2^32 elements") {
  const auto problem = of({{"T", "i8"}}, (std::int64_t{1} << 32) + 5);
  check_all(problem, those_valid(problem, one_of_each(problem, {"load"})));
}

}  // namespace test_reduce
