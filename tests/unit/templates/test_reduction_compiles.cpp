// The template reduction: each value of each parameter, type, operator, transform and finish compiles.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/unit/templates/reduce_fixture.hpp"
#include "tuner/compile/compiler.hpp"
#include "tuner/space/search_space.hpp"

using namespace attune;
using namespace attune::templates::test;

namespace {

const spec::KernelTemplate& reduction() {
  static const spec::KernelTemplate kernel = spec::KernelTemplate::load(std::filesystem::path(ATTUNE_SOURCE_DIR) / "templates/reduce");
  return kernel;
}

spec::Problem of(std::map<std::string, std::string> choices, std::int64_t n = 4096) {
  choices.emplace("T", "f32");
  choices.emplace("op", "sum");
  return spec::canonical(reduction(), {std::move(choices), {{"n", n}}});
}

void check_compiles(const spec::Problem& problem, const spec::Configuration& chosen, const char* architecture = "sm_90") {
  static compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);
  CAPTURE(spec::to_text(problem));
  CAPTURE(spec::to_text(reduction(), chosen));
  const auto result = nvrtc.compile({spec::make_source(reduction(), problem, chosen, spec::DeviceInfo::of_architecture(architecture)), "reduce.cu", architecture, reduction().options});
  REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  CHECK_MESSAGE(result.log.empty(), result.log);
  for (const auto& kernel : result.kernels) {
    CHECK(kernel.spill_store_bytes == 0);
    CHECK(kernel.stack_bytes == 0);
  }
}

spec::Configuration with(spec::Configuration chosen, const std::string& parameter, const std::string& value) {
  for (std::size_t p = 0; p < reduction().parameters.size(); ++p) {
    const auto& values = reduction().parameters[p].values;
    for (std::size_t i = 0; reduction().parameters[p].name == parameter && i < values.size(); ++i) {
      if (spec::to_text(values[i]) == value) chosen.index[p] = static_cast<std::uint16_t>(i);
    }
  }
  return chosen;
}

/// Some configuration of the space for each value of two parameters that occurs together with each other.
std::map<std::pair<std::string, std::string>, spec::Configuration> one_of_each(const spec::Problem& problem, const std::string& a, const std::string& b) {
  const auto space = space::SearchSpace::build(reduction(), problem, device());
  std::map<std::pair<std::string, std::string>, spec::Configuration> found;
  const auto value = [&](const spec::Configuration& chosen, const std::string& name) {
    for (std::size_t p = 0; p < reduction().parameters.size(); ++p) {
      if (reduction().parameters[p].name == name) return spec::to_text(spec::value_of(reduction(), chosen, p));
    }
    return std::string();
  };
  // All of them, in an order that mixes the values of the other parameters.
  constexpr std::uint64_t kPrime = 1000003;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const auto chosen = space.at(i * kPrime % space.size());
    found.emplace(std::make_pair(value(chosen, a), value(chosen, b)), chosen);
  }
  return found;
}

}  // namespace

TEST_CASE("every block stage of the reduction compiles with every grid stage that it goes with") {
  const auto problem = of({});
  const auto stages = one_of_each(problem, "block_stage", "grid_stage");
  // 9 stages of f32, without redux, before each of 7 grid stages; none before 3; the single thread.
  CHECK(stages.size() == 9 * 7 + 3 + 1);
  for (const auto& [names, chosen] : stages) check_compiles(problem, chosen);
}

TEST_CASE("every way of loading compiles with every width, and specialised on n") {
  const auto problem = of({});
  for (const auto& [names, chosen] : one_of_each(problem, "load", "vector_bytes")) check_compiles(problem, chosen);
  for (const auto& [names, chosen] : one_of_each(problem, "exact_n", "items")) check_compiles(problem, chosen);
}

TEST_CASE("every type compiles with every operator that it has, on both architectures") {
  for (const std::string type : {"f32", "f64", "f16", "bf16", "i8", "u8", "i32", "u32", "i64", "u64"}) {
    for (const std::string op : {"sum", "product", "min", "max", "and", "or", "xor", "custom"}) {
      const bool bits = op == "and" || op == "or" || op == "xor";
      const bool floating = type[0] == 'f' || type == "bf16";
      const auto problem = of({{"T", type}, {"op", op}});
      CAPTURE(type);
      CAPTURE(op);
      const bool defined = spec::satisfies(reduction(), problem, spec::default_configuration(reduction()), device());
      CHECK(defined == !(bits && floating));
      if (!defined) continue;
      // Atomics of every operator on the older architecture, whose instructions are fewer.
      check_compiles(problem, with(with(spec::default_configuration(reduction()), "grid_stage", "thread_atomic"), "block_stage", "none"), "sm_80");
    }
  }
}

TEST_CASE("every transform and finish compiles, and the caller's own code") {
  const auto chosen = spec::default_configuration(reduction());
  for (const std::string type : {"f32", "i8", "bf16", "u64"}) {
    for (const std::string transform : {"absolute", "square", "shifted_square", "times", "custom"}) {
      check_compiles(of({{"T", type}, {"transform", transform}, {"map", "x > A(2) ? x : A(0)"}}), chosen);
    }
    check_compiles(of({{"T", type}, {"finish", "scale_bias"}}), chosen);
  }
  for (const std::string finish : {"mean", "root"}) {
    check_compiles(of({{"T", "f16"}, {"finish", finish}}), chosen);
    check_compiles(of({{"T", "f64"}, {"finish", finish}}), chosen);
  }
  check_compiles(of({{"op", "custom"}, {"combine", "sqrtf(a * a + b * b)"}, {"start", "A(0)"}}), chosen);
  CHECK(space::SearchSpace::build(reduction(), of({{"T", "i32"}, {"finish", "mean"}}), device()).size() == 0);
}
