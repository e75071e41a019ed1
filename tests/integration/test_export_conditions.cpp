// Conditions and tables of defaults in the header of `attune export --header`: they say in C++ what they say to attune.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>
#include <random>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tests/integration/export_header_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_export_conditions {

using namespace attune;
using namespace attune::test;
using nlohmann::json;

namespace {

constexpr const char* kShipped = ATTUNE_BINARY_DIR "/share/shipped.db";

/// "Problem{...}" out of the template's axes and the problem's JSON.
std::string problem_text(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  std::string text;
  for (const auto& axis : kernel.problem) {
    const json value =
        axis.kind == spec::AxisKind::Size ? json(problem.sizes.at(axis.name)) : json(spec::choice_of(kernel, problem, axis.name));
    text += (text.empty() ? "" : ", ") +
            (axis.kind == spec::AxisKind::Code ? base::dump_json(value) : value_of("Problem::" + axis.name, value));
  }
  return "Problem{" + text + "}";
}

std::string configuration_text(const spec::KernelTemplate& kernel, const std::string& canonical) {
  const json values = base::parse_json(canonical);
  std::string text;
  for (const auto& parameter : kernel.parameters)
    text += (text.empty() ? "" : ", ") + value_of("Configuration::" + parameter.name, values[parameter.name]);
  return "Configuration{" + text + "}";
}

/// Problems of a shipped template, of types and choices that make conditions differ, from small to large.
std::vector<spec::Problem> problems_of(const spec::KernelTemplate& kernel, std::mt19937_64& random) {
  std::vector<spec::Problem> problems;
  while (problems.size() < 12) {
    spec::Problem problem;
    for (const auto& axis : kernel.problem) {
      if (axis.kind == spec::AxisKind::Size) {
        const auto bits = kernel.size_names().size() == 1 ? 4 + random() % 28 : 3 + random() % 12;
        problem.sizes[axis.name] = static_cast<std::int64_t>((std::uint64_t{1} << bits) + random() % 3);
      } else if (axis.kind != spec::AxisKind::Code) {
        problem.choices[axis.name] = axis.values[random() % axis.values.size()];
      }
    }
    problems.push_back(spec::canonical(kernel, problem));
  }
  return problems;
}

/// Configurations at random, and some of the space of a problem: conditions then differ in one or two values.
std::vector<spec::Configuration> configurations_of(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                                   const spec::DeviceInfo& device, std::mt19937_64& random) {
  const auto space = space::SearchSpace::build(kernel, problem, device);
  std::vector<spec::Configuration> configurations;
  for (const auto ordinal : space.sample(12, random)) configurations.push_back(space.at(ordinal));
  const auto valid = configurations.size();
  for (std::size_t i = 0; i < 12; ++i) {
    auto changed = i < valid ? configurations[i] : spec::default_configuration(kernel);
    const auto parameter = random() % kernel.parameters.size();
    changed.index[parameter] = static_cast<std::uint16_t>(random() % kernel.parameters[parameter].values.size());
    configurations.push_back(changed);
  }
  return configurations;
}

/// Conditions with everything that the expression language has; each counts for one value of the parameter `which`.
const std::vector<std::string>& all_sorts() {
  static const std::vector<std::string> conditions = {
      "n // 7 % 5 == 2",
      "-n // 7 < -10",
      "-n % 7 == 3",
      "2 ** 3 ** 2 > n",
      "1 < n <= 4096 < 5000",
      "n in [1, 10, 100] or n not in (5, 7, 4096)",
      "n / 3 > 33.5",
      "ceil_div(n, 64) * 64 - n < 10",
      "clamp(n, 10, 100) == n",
      "floor(log2(max(1, n))) % 2 == 0",
      "min(n, 50, 2 * which) >= 20",
      "int(n > 10) + int(n > 100) == 1",
      "not n % 2",
      "abs(50 - n) <= 25",
      "n * n * n * n * n * n > 0",  // beyond 64 bits for the larger ones
      "100 // (n - 10) > 0",        // no value at 10
      "n == 10 or 100 // (n - 10) > 0",
      "sizeof(T) == 4 and T != 'f64' and 'f32' == T",
      "sizeof(A) * n > 100",
      "A != 'f64' or sizeof(f16) * n < 100",
      "(n > 5 and n) or n == 1",
      "round(n) == n and ceil(n / 2) == ceil_div(n, 2) and n < 100",
      "device.sm_count > n or device.architecture == 'sm_80'",
      "style == 'fancy' or n < 50",
      "(style == 'no such value') == (n > 50)",
      "scale * n >= 64",
      "-scale < n - 100",
      "swap == (n > 50) and n",
  };
  return conditions;
}

std::string all_sorts_json() {
  std::string which, constraints;
  for (std::size_t i = 0; i < all_sorts().size(); ++i) {
    which += fmt::format("{}{}", i == 0 ? "" : ", ", i);
    constraints += fmt::format("{}\"which != {} or ({})\"", i == 0 ? "" : ", ", i, all_sorts()[i]);
  }
  return fmt::format(R"json({{
  "attune": 1, "name": "sorts", "sources": ["twice.cu"],
  "problem": {{"T": {{"type": ["f32", "f64"]}}, "n": {{"size": {{"min": 0}}}}}},
  "types": {{"A": {{"by": "T", "map": {{"f32": "f64"}}, "else": "T"}}}},
  "parameters": {{"which": {{"values": [{}], "default": 0}}, "style": {{"values": ["plain", "fancy"], "default": "plain"}},
    "scale": {{"values": [0.5, 2.5], "default": 0.5}}, "swap": {{"values": [false, true], "default": false}}}},
  "constraints": [{}],
  "buffers": {{"x": {{"type": "T", "count": "n"}}, "y": {{"type": "T", "count": "n", "output": true}}}},
  "launches": [{{"kernel": "twice", "grid": 1, "block": 64, "args": ["x", "n", "y"]}}],
  "reference": {{"launches": [{{"kernel": "twice", "grid": 1, "block": 64, "args": ["x", "n", "y"]}}]}}
}})json",
                     which, constraints);
}

/// What cannot be computed is allowed nowhere.
bool holds_at(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
              const spec::DeviceInfo& device) {
  try {
    return spec::satisfies(kernel, problem, configuration, device);
  } catch (const SpecError&) {
    return false;
  }
}

}  // namespace

TEST_CASE_FIXTURE(TwiceExport,
                  "every operator and function of conditions says in C++ what it says to attune, and what has no value holds nowhere") {
  if (!has_compiler()) return;
  write("twice/template.json", all_sorts_json());
  const auto sorts = spec::KernelTemplate::parse(all_sorts_json(), {{"twice.cu", kTwiceSource}}, "twice/template.json");
  {
    LayerFile layer(folder / "sorts.db");
    layer.add(sorts, 1000, h200, R"({"scale":0.5,"style":"plain","swap":false,"which":0})");
  }
  const auto made = exported({folder / "twice", "--db", folder / "sorts.db"});
  CAPTURE(made.err);
  REQUIRE(made.exit_code == 0);
  std::string checks;
  std::vector<int> held(all_sorts().size()), failed(all_sorts().size());
  for (const std::int64_t n : {0, 1, 2, 5, 7, 9, 10, 11, 49, 50, 51, 64, 99, 100, 101, 127, 128, 4096, 4097, 1000000}) {
    for (const char* type : {"f32", "f64"}) {
      const spec::Problem problem{{{"T", type}}, {{"n", n}}};
      checks += fmt::format("{{ const Problem p = {};\n", problem_text(sorts, problem));
      for (std::uint16_t which = 0; which < all_sorts().size(); ++which) {
        for (const std::uint16_t other : {std::uint16_t{0}, std::uint16_t{1}}) {
          const spec::Configuration configuration{{which, other, other, other}};
          const bool holds = holds_at(sorts, problem, configuration, h200);
          ++(holds ? held : failed)[which];
          checks += fmt::format("EXPECT({}allowed(p, {}, kDevices[0]));\n", holds ? "" : "!",
                                configuration_text(sorts, spec::to_text(sorts, configuration)));
        }
      }
      checks += "}\n";
    }
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    CAPTURE(all_sorts()[i]);
    CHECK((held[i] > 0 && failed[i] > 0));
  }
  CHECK(told("", checks) == "");
}

TEST_CASE_FIXTURE(TwiceExport, "a condition that has no form in C++ ends the export with its place") {
  std::string text = kTwiceJson;
  const std::string last = "\"n <= 500000\"";
  text.replace(text.find(last), last.size(), "\"round(n / 2) <= 250000\"");
  write("twice/template.json", text);
  const auto rounding = spec::KernelTemplate::parse(text, {{"twice.cu", kTwiceSource}}, "twice/template.json");
  {
    LayerFile layer(folder / "rounding.db");
    layer.add(rounding, 1000, h200, configuration(64));
  }
  const auto refused = exported({folder / "twice", "--db", folder / "rounding.db"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("round(n / 2) <= 250000") != std::string::npos);
  CHECK(refused.err.find("template.json:9:20") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "tuned.hpp"));
}

TEST_CASE_FIXTURE(HeaderExport, "conditions and tables of defaults of every shipped template say in C++ what they say to attune") {
  if (!has_compiler()) return;
  const auto shipped = db::Database::open(kShipped, db::OpenMode::ReadOnly);
  const auto devices = shipped.devices();
  REQUIRE_FALSE(devices.empty());
  const auto device = spec::DeviceInfo::from_json(base::parse_json(devices.front().info_json));
  const std::string named = fmt::format(
      "const Device& device = []() -> const Device& {{ for (const Device& one : kDevices) if (one.name == \"{}\") return one; std::abort(); }}();\n",
      device.name);
  for (const char* const name : {"reduce", "argreduce", "histogram", "segmented_reduce", "transpose"}) {
    CAPTURE(name);
    const auto tuned = spec::TemplateLibrary().find(name);
    const auto made = exported({name, "--db", kShipped});
    CAPTURE(made.err);
    REQUIRE(made.exit_code == 0);
    std::mt19937_64 random(7);
    std::string checks = named;
    int allowed = 0, forbidden = 0;
    for (const auto& problem : problems_of(tuned, random)) {
      checks += fmt::format("{{ const Problem p = {};\n", problem_text(tuned, problem));
      for (const auto& configuration : configurations_of(tuned, problem, device, random)) {
        const bool holds = spec::satisfies(tuned, problem, configuration, device);
        ++(holds ? allowed : forbidden);
        checks += fmt::format("EXPECT({}allowed(p, {}, device));\n", holds ? "" : "!",
                              configuration_text(tuned, spec::to_text(tuned, configuration)));
      }
      const auto standard = spec::default_configuration(tuned, problem, device);
      checks += "const Configuration standard = default_configuration(p, device);\n";
      checks += same_members("standard", base::parse_json(spec::to_text(tuned, standard))) + "}\n";
    }
    CHECK(allowed > 20);
    CHECK(forbidden > 20);
    CHECK(told("", checks) == "");
  }
}

}  // namespace test_export_conditions
