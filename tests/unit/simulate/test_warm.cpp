#include <doctest/doctest.h>

#include "tests/unit/simulate/spaces.hpp"
#include "tuner/simulate/warm.hpp"

namespace test_warm {

using namespace attune;
using nlohmann::json;
using simulate::has_parameters_of;
using simulate::hints_for;

namespace {

simulate::RecordedSpace space_of(const std::vector<std::string>& names, const std::vector<json>& entries) {
  json cache;
  for (const auto& entry : entries) cache[std::to_string(cache.size())] = entry;
  return test::one_space(base::dump_json({{"tune_params_keys", names}, {"cache", cache}}));
}

}  // namespace

TEST_CASE("hints are of configurations that both spaces have, in whatever order parameters and values stand") {
  const auto target = space_of({"block", "how"}, {{{"block", 32}, {"how", "x"}, {"time", 5.0}},
                                                  {{"block", 64}, {"how", "x"}, {"time", 4.0}},
                                                  {{"block", 64}, {"how", "y"}, {"time", 3.0}}});
  const auto source = space_of({"how", "block"}, {{{"block", 16}, {"how", "x"}, {"time", 0.5}},  // a value that it has not
                                                  {{"block", 32}, {"how", "y"}, {"time", 0.6}},  // not in its space
                                                  {{"block", 64}, {"how", "y"}, {"time", "InvalidConfig"}},
                                                  {{"block", 64.0}, {"how", "x"}, {"time", 0.7}}});
  REQUIRE(has_parameters_of(source, target));
  const auto hints = hints_for(target, source);
  REQUIRE(hints.size() == 2);
  for (const auto& hint : hints) {
    const bool valid = target.configuration_text(hint.ordinal) == R"({"block":64,"how":"x"})";
    CHECK((valid || target.configuration_text(hint.ordinal) == R"({"block":64,"how":"y"})"));
    CHECK(hint.cost == (valid ? std::optional(0.7) : std::nullopt));
  }
}

TEST_CASE("spaces of other parameters are told apart") {
  const auto one = space_of({"a", "b"}, {{{"a", 1}, {"b", 1}, {"time", 1.0}}});
  CHECK_FALSE(has_parameters_of(space_of({"a"}, {{{"a", 1}, {"time", 1.0}}}), one));
  CHECK_FALSE(has_parameters_of(space_of({"a", "c"}, {{{"a", 1}, {"c", 1}, {"time", 1.0}}}), one));
  CHECK(has_parameters_of(space_of({"b", "a"}, {{{"a", 7}, {"b", 1}, {"time", 1.0}}}), one));
}

}  // namespace test_warm
