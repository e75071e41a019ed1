// `attune export --header`: the header compiles alone as C++17 without a warning, holds what the database holds, and selects from it.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>
#include <random>

#include "db/database.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tests/support/skip.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_export_header {

using namespace attune;
using namespace attune::test;
using nlohmann::json;

namespace {

constexpr const char* kShipped = ATTUNE_BINARY_DIR "/share/shipped.db";

/// What the programs of these tests begin with. A value of an enumeration is found by the text that it stands for.
constexpr const char* kProgram = R"header(#include "tuned.hpp"
#include <cstdio>
#include <cstdlib>
using namespace tuned;
static int failures = 0;
[[maybe_unused]] static void expect(bool holds, const char* what) {
  if (!holds) { ++failures; std::printf("%s\n", what); }
}
template <class Enum>
[[maybe_unused]] static Enum of(std::string_view text) {
  for (int i = 0; i < 100; ++i) {
    if (name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  }
  std::printf("no value %s\n", text.data());
  std::exit(1);
}
#define EXPECT(...) expect(__VA_ARGS__, #__VA_ARGS__)
)header";

struct Headers : Cli {
  [[nodiscard]] CommandResult exported(std::vector<std::string> words, const std::string& file = "tuned.hpp") const {
    words.insert(words.begin(), {"export", "--header"});
    words.insert(words.end(), {"--namespace", "tuned", "-o", folder / file});
    return attune(words);
  }
  /// Compiles a program of these declarations and statements beside tuned.hpp, and runs it. What went wrong, or nothing.
  [[nodiscard]] std::string told(const std::string& declarations, const std::string& statements) const {
    write("program.cpp", kProgram + declarations + "int main() {\n" + statements + "return failures == 0 ? 0 : 1;\n}\n");
    const std::string program = folder / "program";
    const auto compiled =
        run({ATTUNE_CXX, "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0", folder / "program.cpp", "-o", program});
    if (compiled.exit_code != 0) return compiled.err;
    const auto ran = run({program});
    return ran.exit_code == 0 ? "" : fmt::format("ended with {}\n{}", ran.exit_code, ran.out);
  }
  [[nodiscard]] bool has_compiler() const {
    if (run({ATTUNE_CXX, "--version"}).exit_code == 0) return true;
    skip("there is no C++ compiler " ATTUNE_CXX);
    return false;
  }
};

/// A value of JSON beside a member of C++: numbers and booleans as they are, texts by the enumeration that they belong to.
std::string value_of(const std::string& member, const json& value) {
  return value.is_string() ? fmt::format("of<decltype({})>({})", member, base::dump_json(value)) : base::dump_json(value);
}

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
/// Statements that compare every member of a configuration.
std::string same_members(const std::string& variable, const json& values) {
  std::string text;
  for (const auto& [name, value] : values.items())
    text += fmt::format("EXPECT({}.{} == {});\n", variable, name, value_of("Configuration::" + name, value));
  return text;
}

/// y = 2 x on an H200 and an A100, with conditions on n (lookup_fixture.hpp).
struct Twice : Headers {
  spec::KernelTemplate twice = twice_template();
  spec::DeviceInfo h200 = device("sm_90", "NVIDIA H200", 132), a100 = device("sm_80", "NVIDIA A100", 108);

  Twice() {
    std::filesystem::create_directories(folder / "twice");
    write("twice/template.json", kTwiceJson);
    write("twice/twice.cu", kTwiceSource);
  }
  void fill(const std::string& file, bool backwards) const {
    struct Row {
      std::int64_t n;
      const spec::DeviceInfo* on;
      std::string chosen;
    };
    std::vector<Row> rows{{4096, &h200, configuration(32)}, {100, &h200, configuration(64, "fancy", 1)}, {1000, &a100, configuration(64)}};
    if (backwards) std::reverse(rows.begin(), rows.end());
    LayerFile layer(folder / file);
    for (const auto& row : rows) layer.add(twice, row.n, *row.on, row.chosen);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Headers, "the table holds exactly the database's best configurations, and the selector finds each at its size") {
  if (!has_compiler()) return;
  REQUIRE(attune(tune_words()).exit_code == 0);
  REQUIRE(exported({kernel}).exit_code == 0);
  const auto rows = db::Database::open(database, db::OpenMode::ReadOnly).best({});
  REQUIRE(rows.size() == 2);
  std::string checks = "static_assert(sizeof(kEntries) == 2 * sizeof(Entry) && sizeof(kDevices) == sizeof(Device));\n";
  for (const auto& row : rows) {
    const auto n = base::parse_json(row.problem)["n"].get<std::int64_t>();
    for (const char* device : {"Synthetic GPU", "sm_90"}) {
      checks += fmt::format("{{ constexpr Selection found = select(\"{}\", Problem{{TChoice::kF32, {}}});\n", device, n);
      checks += "static_assert(found.match == Match::kExact);\nconst Configuration c = found.configuration;\n";
      checks += same_members("c", base::parse_json(row.configuration));
      checks += fmt::format("EXPECT(found.entry->problem.n == {});\nEXPECT(found.entry->median_us == {});\n}}\n", n, row.median_us);
    }
  }
  CHECK(told("", checks) == "");
}

TEST_CASE_FIXTURE(Headers, "between tuned sizes the nearest by logarithm counts, beyond them the last, for other types the default") {
  if (!has_compiler()) return;
  REQUIRE(attune(tune_words()).exit_code == 0);
  REQUIRE(exported({kernel}).exit_code == 0);
  // 1000 and 100000 were tuned: 10000 lies in the middle of their logarithms, 50500 in that of the sizes.
  CHECK(
      told("constexpr std::int64_t nearest(std::int64_t n) {\n  const Selection s = select(\"Synthetic GPU\", Problem{TChoice::kF32, n});\n"
           "  return s.match == Match::kNearest ? s.entry->problem.n : -1;\n}\n",
           R"(static_assert(nearest(1001) == 1000);
static_assert(nearest(9990) == 1000);
static_assert(nearest(10010) == 100000);
static_assert(nearest(50000) == 100000);
static_assert(nearest(0) == 1000);
static_assert(nearest(1) == 1000);
static_assert(nearest(std::int64_t{1} << 48) == 100000);
static_assert(nearest(1000) == -1);
constexpr Selection other = select("Synthetic GPU", Problem{TChoice::kF64, 1000});
static_assert(other.match == Match::kDefault && other.entry == nullptr);
static_assert(other.configuration.block_size == 128 && other.configuration.items == 1 && other.configuration.waves == 1);
static_assert(select("Another GPU", Problem{TChoice::kF32, 1000}).match == Match::kDefault);
static_assert(select("Another GPU", "sm_90", Problem{TChoice::kF32, 1000}).match == Match::kExact);
)") == "");
}

TEST_CASE_FIXTURE(Twice,
                  "a configuration that the conditions forbid at a size gives way to the next, and to the default where none is allowed") {
  if (!has_compiler()) return;
  fill("twice.db", false);
  REQUIRE(exported({folder / "twice", "--db", folder / "twice.db"}).exit_code == 0);
  CHECK(told("", R"(
static_assert(sizeof(kDevices) == 2 * sizeof(Device) && sizeof(kEntries) == 3 * sizeof(Entry));
constexpr Selection below = select("NVIDIA H200", Problem{TChoice::kF32, 4000});
static_assert(below.match == Match::kNearest && below.configuration.block_size == 32 && below.entry->problem.n == 4096);
constexpr Selection above = select("NVIDIA H200", Problem{TChoice::kF32, 5000});
static_assert(above.match == Match::kNearest && above.configuration.block_size == 64 && above.entry->problem.n == 100);
static_assert(above.configuration.style == StyleValue::kFancy && above.configuration.blocks_per_sm == 1);
constexpr Selection beyond = select("NVIDIA H200", Problem{TChoice::kF32, 600000});
static_assert(beyond.match == Match::kDefault && beyond.configuration.block_size == 256);
static_assert(!allowed(Problem{TChoice::kF32, 600000}, beyond.configuration, kDevices[0]));
constexpr Selection a100 = select("sm_80", Problem{TChoice::kF32, 1000});
static_assert(a100.match == Match::kExact && kDevices[a100.entry->device].name == "NVIDIA A100");
constexpr Selection unknown = select("NVIDIA H100 PCIe", "sm_90", Problem{TChoice::kF32, 4096});
static_assert(unknown.match == Match::kExact && kDevices[unknown.entry->device].name == "NVIDIA H200");
)") == "");
}

TEST_CASE_FIXTURE(Twice, "the bytes depend on what the database holds, not on the order in which it came") {
  fill("forth.db", false);
  fill("back.db", true);
  REQUIRE(exported({folder / "twice", "--db", folder / "forth.db"}, "forth.hpp").exit_code == 0);
  REQUIRE(exported({folder / "twice", "--db", folder / "back.db"}, "back.hpp").exit_code == 0);
  CHECK(read("forth.hpp") == read("back.hpp"));
  CHECK(read("forth.hpp").find("NVIDIA A100") < read("forth.hpp").find("NVIDIA H200"));
  REQUIRE(exported({folder / "twice", "--db", folder / "forth.db"}, "again.hpp").exit_code == 0);
  CHECK(read("forth.hpp") == read("again.hpp"));
}

TEST_CASE_FIXTURE(Twice, "what is specialised on its size serves that size, and its general form the others") {
  if (!has_compiler()) return;
  std::string text = kTwiceJson;
  text.insert(text.find("\"blocks_per_sm\""), R"("exact_n": {"values": [false, true], "default": false, "specialise": ["n"]}, )");
  write("twice/template.json", text);
  const auto special = spec::KernelTemplate::parse(text, {{"twice.cu", kTwiceSource}}, "twice/template.json");
  {
    LayerFile layer(folder / "special.db");
    layer.add(special, 1000, h200, R"({"block_size":64,"blocks_per_sm":4,"exact_n":true,"style":"plain"})");
  }
  REQUIRE(exported({folder / "twice", "--db", folder / "special.db"}).exit_code == 0);
  CHECK(told("", R"(
static_assert(select("sm_90", Problem{TChoice::kF32, 1000}).configuration.exact_n);
static_assert(select("sm_90", Problem{TChoice::kF32, 1001}).match == Match::kNearest);
static_assert(!select("sm_90", Problem{TChoice::kF32, 1001}).configuration.exact_n);
static_assert(select("sm_90", Problem{TChoice::kF32, 1001}).configuration.block_size == 64);
)") == "");
}

TEST_CASE_FIXTURE(Twice, "nothing tuned, a namespace that is none and a database that is not there are told") {
  fill("twice.db", false);
  const auto nothing = attune({"export", "--header", kernel, "--db", folder / "twice.db"});
  CHECK(nothing.exit_code == 2);
  CHECK(nothing.out == "");
  CHECK(nothing.err.find("no verified best configuration of this version of \"double_it\"") != std::string::npos);
  const std::vector<std::string> words{"export", "--header", folder / "twice", "--db", folder / "twice.db", "--namespace"};
  for (const char* name : {"1st", "a::class", "a:b", "a-b"}) {
    auto named = words;
    named.emplace_back(name);
    CHECK(attune(named).exit_code == 2);
  }
  CHECK(attune({"export", "--header", folder / "twice", "--db", folder / "absent.db"}).exit_code == 5);
  const auto standard = attune({"export", "--header", folder / "twice", "--db", folder / "twice.db"});
  CHECK(standard.exit_code == 0);
  CHECK(standard.out.find("namespace attune_tuned::twice {") != std::string::npos);
}

namespace {

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

}  // namespace

namespace {

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

TEST_CASE_FIXTURE(Twice,
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

TEST_CASE_FIXTURE(Twice, "a condition that has no form in C++ ends the export with its place") {
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

TEST_CASE_FIXTURE(Headers, "conditions and tables of defaults of every shipped template say in C++ what they say to attune") {
  if (!has_compiler()) return;
  const auto shipped = db::Database::open(kShipped, db::OpenMode::ReadOnly);
  REQUIRE(shipped.devices().size() == 1);
  const auto device = spec::DeviceInfo::from_json(base::parse_json(shipped.devices().front().info_json));
  for (const char* const name : {"reduce", "argreduce", "histogram", "segmented_reduce", "transpose"}) {
    CAPTURE(name);
    const auto tuned = spec::TemplateLibrary().find(name);
    const auto made = exported({name, "--db", kShipped});
    CAPTURE(made.err);
    REQUIRE(made.exit_code == 0);
    std::mt19937_64 random(7);
    std::string checks;
    int allowed = 0, forbidden = 0;
    for (const auto& problem : problems_of(tuned, random)) {
      checks += fmt::format("{{ const Problem p = {};\n", problem_text(tuned, problem));
      for (const auto& configuration : configurations_of(tuned, problem, device, random)) {
        const bool holds = spec::satisfies(tuned, problem, configuration, device);
        ++(holds ? allowed : forbidden);
        checks += fmt::format("EXPECT({}allowed(p, {}, kDevices[0]));\n", holds ? "" : "!",
                              configuration_text(tuned, spec::to_text(tuned, configuration)));
      }
      const auto standard = spec::default_configuration(tuned, problem, device);
      checks += "const Configuration standard = default_configuration(p, kDevices[0]);\n";
      checks += same_members("standard", base::parse_json(spec::to_text(tuned, standard))) + "}\n";
    }
    CHECK(allowed > 20);
    CHECK(forbidden > 20);
    CHECK(told("", checks) == "");
  }
}

}  // namespace test_export_header
