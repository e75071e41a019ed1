#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <set>
#include <string>

#include "tests/unit/space/space_fixtures.hpp"
#include "tuner/space/permutation.hpp"

namespace test_space_properties {

using namespace attune;
using namespace attune::space;
using namespace attune::space::test;

namespace {

/// Random small spaces and conditions that cannot fail to evaluate.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::vector<spec::Parameter> parameters() {
    std::vector<spec::Parameter> all;
    const std::size_t count = 1 + below(5);
    for (std::size_t i = 0; i < count; ++i) {
      spec::Parameter parameter;
      parameter.name = std::string(1, static_cast<char>('a' + i));
      const std::size_t values = 1 + below(5);
      for (std::size_t k = 0; k < values; ++k) parameter.values.push_back(value());
      all.push_back(std::move(parameter));
    }
    return all;
  }

  std::string condition(std::size_t parameter_count) {
    switch (below(7)) {
      case 0:
        return term(parameter_count) + " <= " + term(parameter_count);
      case 1:
        return term(parameter_count) + " % 3 != " + term(parameter_count);
      case 2:
        return condition(parameter_count) + " or " + condition(parameter_count);
      case 3:
        return "not (" + condition(parameter_count) + ") and n > 2";
      case 4:
        return term(parameter_count) + " in [1, 2.5, n]";
      case 5:
        return "1 <= " + term(parameter_count) + " < 7";
      default:
        return std::to_string(below(3)) + " != 2";
    }
  }

  std::uint64_t below(std::uint64_t bound) { return draw_below(random_, bound); }

 private:
  spec::Value value() {
    switch (below(4)) {
      case 0:
        return 0.5 * static_cast<double>(below(12));
      case 1:
        return below(2) == 1;
      default:
        return static_cast<std::int64_t>(below(9));
    }
  }
  std::string term(std::size_t parameter_count) {
    const auto name = [&] { return std::string(1, static_cast<char>('a' + below(parameter_count))); };
    switch (below(4)) {
      case 0:
        return name();
      case 1:
        return name() + " + " + name();
      case 2:
        return name() + " * " + name() + " - n";
      default:
        return "max(" + name() + ", " + std::to_string(below(6)) + ")";
    }
  }
  std::mt19937_64 random_;
};

std::optional<spec::Value> n_is_four(std::string_view name) {
  return name == "n" ? std::optional<spec::Value>(std::int64_t{4}) : std::nullopt;
}

/// The Cartesian product, counted up in order, every condition evaluated on every full configuration.
Rows brute_force(const std::vector<spec::Parameter>& parameters, const std::vector<spec::Constraint>& constraints) {
  Rows valid;
  std::uint64_t total = 1;
  for (const auto& parameter : parameters) total *= parameter.values.size();
  for (std::uint64_t number = 0; number < total; ++number) {
    std::vector<std::uint16_t> row(parameters.size());
    std::uint64_t rest = number;
    for (std::size_t i = parameters.size(); i-- > 0;) {
      row[i] = static_cast<std::uint16_t>(rest % parameters[i].values.size());
      rest /= parameters[i].values.size();
    }
    const spec::Scope scope = [&](std::string_view name) -> std::optional<spec::Value> {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].name == name) return parameters[i].values[row[i]];
      }
      return n_is_four(name);
    };
    bool holds = true;
    for (const auto& constraint : constraints) holds = holds && constraint.expression.truth(scope);
    if (holds) valid.push_back(row);
  }
  return valid;
}

}  // namespace

TEST_CASE("depth-first construction equals brute force on random spaces and conditions") {
  Generator generator(20251120);
  std::size_t empty = 0, partial = 0;
  for (int trial = 0; trial < 800; ++trial) {
    const auto parameters = generator.parameters();
    std::vector<std::string> lines;
    const std::uint64_t condition_count = generator.below(5);
    for (std::uint64_t i = 0; i < condition_count; ++i) lines.push_back(generator.condition(parameters.size()));
    CAPTURE(trial);
    CAPTURE(lines);
    const auto constraints = conditions(lines);
    const auto space = SearchSpace::build(parameters, constraints, n_is_four);
    const Rows expected = brute_force(parameters, constraints);
    REQUIRE(rows(space) == expected);
    REQUIRE(space.emptied_by().empty() == !expected.empty());
    if (expected.empty()) ++empty;
    if (!expected.empty() && expected.size() < space.cartesian_size()) ++partial;
  }
  // The generator must reach both interesting cases often for the comparison to mean something.
  CHECK(empty > 40);
  CHECK(partial > 100);
}

TEST_CASE("neighbours equal the configurations that differ in one parameter") {
  Generator generator(7);
  for (int trial = 0; trial < 50; ++trial) {
    const auto parameters = generator.parameters();
    const auto space = SearchSpace::build(parameters, conditions({generator.condition(parameters.size())}), n_is_four);
    if (space.size() == 0) continue;
    const Ordinal own = generator.below(space.size());
    const auto index = space.at(own).index;
    for (const auto kind : {Neighbourhood::Hamming, Neighbourhood::Adjacent}) {
      std::set<Ordinal> expected;
      for (Ordinal other = 0; other < space.size(); ++other) {
        const auto other_index = space.at(other).index;
        int differing = 0, steps = 0;
        for (std::size_t i = 0; i < index.size(); ++i) {
          differing += index[i] != other_index[i];
          steps += std::abs(index[i] - other_index[i]);
        }
        if (differing == 1 && (kind == Neighbourhood::Hamming || steps == 1)) expected.insert(other);
      }
      const auto found = space.neighbours(own, kind);
      CHECK(found.size() == expected.size());
      CHECK(std::set<Ordinal>(found.begin(), found.end()) == expected);
    }
  }
}

}  // namespace test_space_properties
