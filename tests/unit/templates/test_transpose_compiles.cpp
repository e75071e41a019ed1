// Every variant of transpose compiles for elements of every size, and its ladder and its table of defaults name what is there.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "tests/unit/templates/default_rows.hpp"
#include "tests/unit/templates/reduce_fixture.hpp"
#include "tuner/session/variants/ladder_plan.hpp"
#include "tuner/space/search_space.hpp"

namespace test_transpose_compiles {

using namespace attune;
using attune::templates::test::Draws;

namespace {

const spec::KernelTemplate& transpose() { return templates::test::template_named("transpose"); }
const std::vector<std::string> kArchitectures = {"sm_90", "sm_75", "sm_80", "sm_86", "sm_120"};

/// One of each size in bytes: kernels move elements and never calculate with them.
const std::vector<std::string> kTypeOfEachSize = {"i8", "f16", "i32", "f64"};

spec::Problem matrix(const std::string& type, std::int64_t rows, std::int64_t columns) {
  return {{{"T", type}}, {{"rows", rows}, {"columns", columns}}};
}

/// A wide matrix, one of few columns and one of few rows; no variant is for none of them.
std::vector<spec::Problem> shapes(const std::string& type) {
  return {matrix(type, 1000, 1003), matrix(type, 100003, 5), matrix(type, 5, 100003)};
}

spec::Constraint of_variant(const std::string& variant) { return {spec::Expression::parse("variant == '" + variant + "'")}; }

/// Compiles without a word and has the kernel that is launched. It may spill: resident_threads takes registers away.
void check_compiles(const spec::Problem& problem, const spec::Configuration& chosen, const std::string& architecture) {
  static compile::Nvrtc nvrtc(compile::Nvrtc::Headers::Precompiled);  // for those of the 16-bit types
  CAPTURE(spec::to_text(problem));
  CAPTURE(spec::to_text(transpose(), chosen));
  CAPTURE(architecture);
  const auto device = spec::DeviceInfo::of_architecture(architecture);
  const auto launches = templates::test::launches(spec::resolve(transpose(), problem, chosen, device));
  REQUIRE(launches.size() == 1);
  const auto result = nvrtc.compile({spec::make_source(transpose(), problem, chosen, device), "transpose.cu", architecture, {}});
  REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  CHECK_MESSAGE(result.log.empty(), result.log);
  REQUIRE(result.kernels.size() == 1);
  CHECK(result.kernels.front().kernel == launches.front().kernel);
}

/// Some configuration of the variant, for the first of the shapes that has one there, compiles.
void check_variant(const std::string& variant, const std::string& type, const std::string& architecture, std::mt19937_64& random) {
  const auto device = spec::DeviceInfo::of_architecture(architecture);
  for (const auto& shape : shapes(type)) {
    const auto space = space::SearchSpace::build(transpose(), shape, device, {of_variant(variant)});
    if (space.size() > 0) return check_compiles(shape, space.at(space.sample(1, random).front()), architecture);
  }
  FAIL("no configuration of " << variant << " for " << type << " on " << architecture);
}

std::vector<std::string> variants() {
  std::vector<std::string> names;
  for (const auto& value : transpose().parameter("variant")->values) names.push_back(std::get<std::string>(value));
  return names;
}

/// Small and large matrices; half of the sizes are even numbers of sectors, a quarter are odd.
spec::Problem next(Draws& draws) {
  const auto size = [&] {
    const std::int64_t any = draws.size(20);
    const std::string kind = draws.one_of({"any", "odd", "whole", "whole"});
    if (kind == "odd") return any | 1;
    return kind == "whole" ? (any + 31) / 32 * 32 : any;
  };
  const std::string type = draws.one_of(kTypeOfEachSize);
  const std::int64_t rows = size();
  return matrix(type, rows, size());
}

}  // namespace

TEST_CASE("every variant of transpose compiles without a warning for elements of every size") {
  std::mt19937_64 random(23);
  for (const std::string& variant : variants())
    for (const std::string& type : kTypeOfEachSize) check_variant(variant, type, "sm_90", random);
}

TEST_CASE("older architectures compile every variant of transpose") {
  std::mt19937_64 random(29);
  for (const std::string& variant : variants()) {
    check_variant(variant, "i8", "sm_75", random);
    check_variant(variant, "i32", "sm_80", random);
  }
}

TEST_CASE("a rung of transpose is empty only where few columns or few rows are what it is for, and the matrix has many") {
  const auto ladder = spec::VariantLadder::of(transpose()).value();
  const auto empty = [&](const spec::Problem& problem) {
    const auto plan = session::plan_ladder(transpose(), ladder, session::LadderEffort::AsTheLadderSays, {}, problem,
                                           spec::DeviceInfo::of_architecture("sm_90"));
    std::set<std::string> names;
    for (std::size_t i = 0; i < ladder.rungs.size(); ++i)
      if (plan.rung_sizes[i] == 0) names.insert(ladder.rungs[i].name);
    return names;
  };
  using Names = std::set<std::string>;
  for (const std::string& type : kTypeOfEachSize) {
    CAPTURE(type);
    CHECK(empty(matrix(type, 5, 7)) == Names{});
    CHECK(empty(matrix(type, 1 << 20, 5)) == Names{"linear write"});
    CHECK(empty(matrix(type, 5, 1 << 20)) == Names{"linear read"});
    CHECK(empty(matrix(type, 4096, 4096)) == Names{"linear read", "linear write"});
  }
}

TEST_CASE("a row of the table of defaults stands for every transpose on every architecture; every row stands for some, and compiles") {
  constexpr int kProblems = 4000;
  Draws draws;
  struct Reached {
    spec::Problem problem;
    std::string architecture;
  };
  std::map<const spec::DefaultRow*, Reached> first_of;
  for (int i = 0; i < kProblems; ++i) {
    const spec::Problem problem = next(draws);
    for (const std::string& architecture : kArchitectures) {
      const auto* const row = spec::default_row(transpose(), problem, spec::DeviceInfo::of_architecture(architecture));
      CHECK_MESSAGE(row != nullptr, spec::to_text(problem) << " on " << architecture);
      first_of.emplace(row, Reached{problem, architecture});
    }
  }
  for (const auto& row : transpose().defaults) {
    const auto found = first_of.find(&row);
    REQUIRE_MESSAGE(found != first_of.end(), "no problem reaches row " << &row - transpose().defaults.data());
    const auto& [problem, architecture] = found->second;
    check_compiles(problem, spec::default_configuration(transpose(), problem, spec::DeviceInfo::of_architecture(architecture)),
                   architecture);
  }
}

TEST_CASE("the defaults of square, narrow and odd matrices compile for older architectures") {
  for (const auto& problem : {matrix("f32", 4096, 4096), matrix("u8", 1 << 20, 3), matrix("bf16", 7, 1 << 20), matrix("u64", 1001, 999)}) {
    for (const std::string architecture : {"sm_75", "sm_80"})
      check_compiles(problem, spec::default_configuration(transpose(), problem, spec::DeviceInfo::of_architecture(architecture)),
                     architecture);
  }
}

}  // namespace test_transpose_compiles
