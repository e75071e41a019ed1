#include "tuner/report/effects.hpp"

#include <doctest/doctest.h>

#include "tests/unit/report/rows_fixture.hpp"

namespace test_effects {

using namespace attune;
using namespace attune::test;

namespace {

std::vector<report::ParameterEffect> effects_of(const std::vector<db::RecordRow>& records,
                                                const std::vector<report::DeclaredParameter>& declared) {
  std::vector<const db::RecordRow*> pointers;
  for (const auto& row : records) pointers.push_back(&row);
  return report::parameter_effects(pointers, declared);
}

const std::vector<report::DeclaredParameter> kDeclared = {{"stage", {"tree", "shuffle"}, "tree"}, {"block", {"32", "64", "128"}, "64"}};

}  // namespace

TEST_CASE("a value's effect is its fastest and its median time over the fastest of all") {
  const auto effects = effects_of({record(1, configuration_text(64, "tree"), 8.0), record(1, configuration_text(64, "shuffle"), 3.0),
                                   record(1, configuration_text(64, "shuffle"), 5.0), record(1, configuration_text(128, "tree"), 2.0)},
                                  kDeclared);
  REQUIRE(effects.size() == 2);
  const auto& block = effects[1];
  CHECK(block.parameter == "block");
  REQUIRE(block.values.size() == 2);
  CHECK(block.values[0].value == "64");
  CHECK(block.values[0].best_ratio.value() == doctest::Approx(1.5));    // 3 / 2
  CHECK(block.values[0].median_ratio.value() == doctest::Approx(2.5));  // median(3, 5, 8) / 2
  CHECK(block.values[1].best_ratio.value() == doctest::Approx(1.0));
  const auto& stage = effects[0];
  CHECK(stage.values[1].median_ratio.value() == doctest::Approx(2.0));  // median(3, 5) = 4, over 2
}

TEST_CASE("parameters and values keep the template's order and the default is marked") {
  const auto effects = effects_of({record(1, configuration_text(128, "shuffle"), 1.0), record(1, configuration_text(64, "tree"), 1.0),
                                   record(1, configuration_text(32, "tree"), 1.0)},
                                  kDeclared);
  REQUIRE(effects.size() == 2);
  CHECK(effects[0].parameter == "stage");
  CHECK(effects[0].values[0].value == "tree");
  CHECK(effects[0].values[0].is_default);
  CHECK_FALSE(effects[0].values[1].is_default);
  REQUIRE(effects[1].values.size() == 3);
  CHECK(effects[1].values[0].value == "32");
  CHECK(effects[1].values[2].value == "128");
}

TEST_CASE("undeclared values follow as numbers in order, then texts") {
  const auto effects = effects_of({record(1, R"({"x":16})", 1.0), record(1, R"({"x":"auto"})", 1.0), record(1, R"({"x":8})", 1.0),
                                   record(1, R"({"x":true})", 1.0), record(1, R"({"x":4})", 1.0)},
                                  {{"x", {"4"}, ""}});
  REQUIRE(effects.size() == 1);
  std::string order;
  for (const auto& value : effects[0].values) order += value.value + " ";
  CHECK(order == "4 8 16 auto true ");
}

TEST_CASE("a value with which nothing ran has counts but no ratio") {
  const auto effects =
      effects_of({record(1, configuration_text(64, "tree"), 1.0), record(1, configuration_text(128, "tree"), 0, "crashed", "")}, kDeclared);
  const auto& value = effects[1].values[1];
  CHECK(value.value == "128");
  CHECK(value.configurations == 1);
  CHECK(value.timed == 0);
  CHECK_FALSE(value.best_ratio.has_value());
}

TEST_CASE("without any time every value is counted and none has a ratio") {
  const auto effects = effects_of({record(1, configuration_text(64, "tree"), 0, "crashed", "")}, {});
  REQUIRE(effects.size() == 2);
  CHECK_FALSE(effects[0].values.at(0).best_ratio.has_value());
}

TEST_CASE("a template without readable parameters declares none") {
  CHECK(report::read_parameters("no JSON").empty());
  CHECK(report::read_parameters(R"({"parameters": 3})").empty());
  const auto parameters = report::read_parameters(R"({"parameters": {"z": {"values": [1, "a", true]}, "a": 4}})");
  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].name == "z");
  CHECK(parameters[0].values == std::vector<std::string>{"1", "a", "true"});
  CHECK(parameters[0].default_value.empty());
  CHECK(parameters[1].values.empty());
}

}  // namespace test_effects
