#pragma once
// `attune export --header`, and programs that include what it writes.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/skip.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/json.hpp"

namespace attune::test {

/// What the programs of these tests begin with. A value of an enumeration is found by the text that it stands for.
inline constexpr const char* kHeaderProgram = R"header(#include "tuned.hpp"
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

/// Exports the header tuned.hpp with the namespace tuned, and compiles programs beside it.
struct HeaderExport : Cli {
  [[nodiscard]] CommandResult exported(std::vector<std::string> words, const std::string& file = "tuned.hpp") const {
    words.insert(words.begin(), {"export", "--header"});
    words.insert(words.end(), {"--namespace", "tuned", "-o", folder / file});
    return attune(words);
  }
  /// Compiles a program of these declarations and statements beside tuned.hpp, and runs it. What went wrong, or nothing.
  [[nodiscard]] std::string told(const std::string& declarations, const std::string& statements) const {
    write("program.cpp", kHeaderProgram + declarations + "int main() {\n" + statements + "return failures == 0 ? 0 : 1;\n}\n");
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
inline std::string value_of(const std::string& member, const nlohmann::json& value) {
  return value.is_string() ? fmt::format("of<decltype({})>({})", member, base::dump_json(value)) : base::dump_json(value);
}

/// Statements that compare every member of a configuration.
inline std::string same_members(const std::string& variable, const nlohmann::json& values) {
  std::string text;
  for (const auto& [name, value] : values.items())
    text += fmt::format("EXPECT({}.{} == {});\n", variable, name, value_of("Configuration::" + name, value));
  return text;
}

/// y = 2 x on an H200 and an A100, with conditions on n (lookup_fixture.hpp).
struct TwiceExport : HeaderExport {
  spec::KernelTemplate twice = twice_template();
  spec::DeviceInfo h200 = device("sm_90", "NVIDIA H200", 132), a100 = device("sm_80", "NVIDIA A100", 108);

  TwiceExport() {
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

}  // namespace attune::test
