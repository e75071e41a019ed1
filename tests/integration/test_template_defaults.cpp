// `attune template check` where the default configuration cannot run and others of the space can.
#include <doctest/doctest.h>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/replaced.hpp"
#include "tuner/base/json.hpp"

namespace test_template_defaults {

using namespace attune;
using namespace attune::test;
using nlohmann::json;

namespace {

bool has_text(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const char* const kLimitVerdict = "template double_it is valid, but its default cannot run: attune tune passes it over";

/// The small template with a default of 512 threads.
struct Defaults : Cli {
  Defaults() : large_default(replaced(small_template_json(), R"("default": 128)", R"("default": 512)")) {}

  [[nodiscard]] CommandResult check(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"template", "check", kernel, "--T", "f32", "--n", "100000"};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  void ask_for_shared(const std::string& bytes) const {
    write("double_it/template.json", replaced(large_default, R"("shared": "16 * waves")", R"("shared": ")" + bytes + "\""));
  }
  /// Declares an array of 4 * `ints` bytes of static shared memory in a kernel that nobody launches.
  void declare_shared(const std::string& ints) const {
    // A reference among the template's own kernels would be of the default's code.
    write("double_it/template.json",
          large_default.substr(0, large_default.find("\"reference\"")) + R"("reference": "none", "work": {"bytes": "n"}})");
    write("double_it/double_it.cu", std::string(small_template_source()) +
                                        "extern \"C\" __global__ void large() { __shared__ volatile int a[" + ints +
                                        "]; a[threadIdx.x] = 1; }\n");
  }
  /// Valid, with the limit and another configuration, which fits.
  void passes_with(const std::string& limit) const {
    const auto result = check();
    CAPTURE(result.out + result.err);
    CHECK(result.exit_code == 0);
    CHECK(has_text(result.out, "the default configuration exceeds limits: "));
    CHECK(has_text(result.out, limit));
    CHECK(has_text(result.out, "this one fits and could be the default: block_size="));
    CHECK(has_text(result.out, kLimitVerdict));
    CHECK_FALSE(has_text(result.out, "does not compile"));
    const auto sampled = check({"--sample", "1000"});
    CAPTURE(sampled.out + sampled.err);
    CHECK(sampled.exit_code == 0);
    CHECK(has_text(sampled.out, "of 22 configurations 18 fit, 4 exceed limits, 0 do not compile, 0 do not bind"));
    CHECK(has_text(sampled.out, kLimitVerdict));
    const json fitting = base::parse_json(check({"--json"}).out)[0]["fitting"];
    CHECK(fitting["block_size"] < 512);
    CHECK(check({"--configuration", base::dump_json(fitting)}).exit_code == 0);
  }

  std::string large_default;
};

}  // namespace

TEST_CASE_FIXTURE(Defaults, "a default that asks for too much dynamic shared memory is told with its place, beside one that fits") {
  ask_for_shared("block_size * 512");
  passes_with("template.json:13:90: 262144 bytes of shared memory exceed the device's limit of 232448 (\"block_size * 512\")");
}

TEST_CASE_FIXTURE(Defaults, "a default whose code has too much static shared memory is no fault of the template") {
  declare_shared("ATTUNE_BLOCK_SIZE * 32");
  passes_with("Entry function 'large' uses too much shared data (0x10000 bytes, 0xc000 max)");
}

TEST_CASE_FIXTURE(Defaults, "a default whose grid is empty is told with its place") {
  write("double_it/template.json", replaced(large_default, R"("grid": "grid")", R"("grid": "511 // block_size")"));
  passes_with("grid.x is 0; the device's limits are 1 to 2147483647 (\"511 // block_size\")");
}

TEST_CASE_FIXTURE(Defaults, "a default with a block larger than the kernel's bounds cannot run") {
  write("double_it/template.json", large_default);
  write("double_it/double_it.cu", replaced(small_template_source(), "__launch_bounds__(ATTUNE_BLOCK_SIZE)", "__launch_bounds__(256)"));
  passes_with("a block of \"double_it\" has 512 threads; its __launch_bounds__ allow 256");
}

TEST_CASE_FIXTURE(Defaults, "where nothing that was tried fits, the check fails with the code that the limit has") {
  ask_for_shared("block_size * 5120");
  const auto dynamic = check();
  CAPTURE(dynamic.out + dynamic.err);
  CHECK(dynamic.exit_code == 3);
  CHECK(has_text(dynamic.out, "none of 21 others that were tried fits; the first: "));
  CHECK(has_text(dynamic.out, "template double_it is NOT usable"));
  declare_shared("ATTUNE_BLOCK_SIZE * 512");
  const auto fixed = check({"--sample", "3"});
  CAPTURE(fixed.out + fixed.err);
  CHECK(fixed.exit_code == 6);
  CHECK(has_text(fixed.out, "0 fit, 3 exceed limits"));
  CHECK(has_text(fixed.out, "template double_it is NOT usable"));
}

TEST_CASE_FIXTURE(Defaults, "code of the default that answers are computed by must compile") {
  declare_shared("ATTUNE_BLOCK_SIZE * 32");
  write("double_it/template.json", large_default);
  const auto result = check();
  CHECK(result.exit_code == 6);
  CHECK(has_text(result.out, "the reference does not compile"));
}

TEST_CASE_FIXTURE(Defaults, "a default outside of the space cannot run either, and what fits is named") {
  write("double_it/template.json", replaced(large_default, "block_size * items <= 1024", "block_size * items <= 256"));
  const auto result = check();
  CHECK(result.exit_code == 0);
  CHECK(has_text(result.out, "the default configuration does not satisfy the constraints here"));
  CHECK(has_text(result.out, "this one fits and could be the default: block_size="));
  CHECK(has_text(result.out, kLimitVerdict));
}

TEST_CASE_FIXTURE(Defaults, "a long log is cut behind its first errors, and how to mend them stands in front") {
  write("double_it/template.json", small_template_json());
  std::string source = "int reduced = cub::DeviceReduce::Sum(1);\n";
  for (int i = 0; i < 40; ++i) source += "int broken" + std::to_string(i) + " = none_such_" + std::to_string(i) + ";\n";
  write("double_it/double_it.cu", source + small_template_source());
  const std::string remedy = "<cub/cub.cuh> has no algorithms for the whole device",
                    further = " further lines of the compiler; --verbose shows them)";
  const auto cut = check();
  CAPTURE(cut.out);
  CHECK(cut.exit_code == 6);
  CHECK(has_text(cut.out, "does not compile:\n" + remedy));
  CHECK(has_text(cut.out, further));
  CHECK(has_text(cut.out, "none_such_1"));
  CHECK_FALSE(has_text(cut.out, "none_such_9"));
  const auto whole = check({"--verbose"});
  CHECK(has_text(whole.out, "does not compile:\n" + remedy));
  CHECK_FALSE(has_text(whole.out, further));
  CHECK(has_text(whole.out, "none_such_39"));
  const json as_json = base::parse_json(check({"--sample", "1", "--json"}).out)[0];
  CHECK(has_text(as_json["log"], "none_such_39"));
  const std::string detail = as_json["sample"]["configurations"][0]["detail"];
  CHECK(detail.starts_with(remedy));
  CHECK(has_text(detail, "(the first error: double_it.cu(1): error: "));
  CHECK_FALSE(has_text(detail, "none_such"));
}

}  // namespace test_template_defaults
