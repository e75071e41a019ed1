// `attune template check --sample` and `--configuration`: what becomes of configurations that are compiled and bound without a GPU.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_template_sample {

using namespace attune;
using namespace attune::test;
using nlohmann::json;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Sampling : Cli {
  [[nodiscard]] CommandResult check(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"template", "check", kernel, "--T", "f32", "--n", "100000"};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  [[nodiscard]] static json sample_of(const CommandResult& result) {
    const json all = base::try_parse_json(result.out);
    REQUIRE_MESSAGE(all.is_array(), result.err);
    return all[0]["sample"];
  }
  /// The small template with another text in the place of one that it has.
  void change(const std::string& file, const std::string& text, const std::string& from, const std::string& to) const {
    REQUIRE(mentions(text, from));
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    write("double_it/" + file, changed);
  }
  /// The configurations of one outcome.
  [[nodiscard]] static std::vector<json> with_outcome(const json& sample, const std::string& outcome) {
    std::vector<json> found;
    for (const auto& sampled : sample["configurations"]) {
      if (sampled["outcome"] == outcome) found.push_back(sampled);
    }
    return found;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Sampling, "a sample as large as the space is the whole space, and what differs at the launch alone is compiled once") {
  const auto result = check({"--sample", "1000", "--json"});
  CHECK(result.exit_code == 0);
  const json sample = sample_of(result);
  // 4 sizes of block and 3 of items, less 512 * 4 > 1024; twice as many with the two values of the launch-bound `waves`.
  CHECK(sample["configurations"].size() == 22);
  CHECK(sample["fits"] == 22);
  CHECK(sample["compilations"] == 11);
  CHECK(sample["compile_ms_longest"] >= sample["compile_ms_median"]);
  for (const auto& sampled : sample["configurations"]) {
    CHECK(sampled["detail"] == "");
    CHECK(sampled["registers"] > 0);
    CHECK(sampled["shared_bytes"] == 16 * sampled["configuration"]["waves"].get<int>());
    CHECK(sampled["occupancy"] > 0);
    CHECK(sampled["occupancy"] <= 1);
  }
}

TEST_CASE_FIXTURE(Sampling, "without these options the check says nothing of a sample") {
  const json plain = base::parse_json(check({"--json"}).out)[0];
  CHECK_FALSE(plain.contains("sample"));
  CHECK_FALSE(mentions(check({}).out, "exceed limits"));
}

TEST_CASE_FIXTURE(Sampling,
                  "the share of the space that is to be tried is told where some of it makes the same launches, not where none does") {
  const std::string share = " % of the space is to be tried: the rest makes the same launches of code with the same macros";
  CHECK_FALSE(mentions(check({"--sample", "1"}).out, "of the space is to be tried"));
  change("template.json", small_template_json(), R"("shared": "16 * waves")", R"("shared": "16")");
  CHECK(mentions(check({"--sample", "1"}).out, share));  // a small grid needs no second wave
}

TEST_CASE_FIXTURE(Sampling, "the same seed draws the same configurations, another draws others, none twice") {
  const auto drawn = [&](const std::string& seed) {
    std::vector<std::string> texts;
    const json sample = sample_of(check({"--sample", "6", "--seed", seed, "--json"}));
    for (const auto& sampled : sample["configurations"]) texts.push_back(base::dump_json(sampled["configuration"]));
    return texts;
  };
  auto first = drawn("3");
  CHECK(first.size() == 6);
  CHECK(first == drawn("3"));
  CHECK(first != drawn("4"));
  std::sort(first.begin(), first.end());
  CHECK(std::adjacent_find(first.begin(), first.end()) == first.end());
  CHECK(check({"--sample", "0"}).exit_code == 2);
  CHECK(check({"--sample", "-1"}).exit_code == 2);
  CHECK(check({"--seed", "3"}).exit_code == 2);
}

TEST_CASE_FIXTURE(Sampling, "what does not compile is named with the compiler's first error, and fails the check") {
  write("double_it/double_it.cu",
        std::string(small_template_source()) + "#if ATTUNE_ITEMS == 4\nint broken = no_such_thing;\nint more = nor_this;\n#endif\n");
  const auto as_json = check({"--sample", "1000", "--json"});
  CHECK(as_json.exit_code == 6);
  const json sample = sample_of(as_json);
  const auto failed = with_outcome(sample, "compile_failed");
  CHECK(failed.size() == 6);  // 64, 128 and 256, twice
  CHECK(sample["compile_failed"] == 6);
  CHECK(sample["fits"] == 16);
  for (const auto& sampled : failed) {
    CHECK(sampled["configuration"]["items"] == 4);
    CHECK(mentions(sampled["detail"], "no_such_thing"));
    CHECK_FALSE(mentions(sampled["detail"], "nor_this"));
  }
  const auto text = check({"--sample", "1000"});
  CHECK(text.exit_code == 6);
  CHECK(mentions(text.out, "compile_failed  block_size=64 items=4 waves=1"));
  CHECK(mentions(text.out, "no_such_thing"));
}

TEST_CASE_FIXTURE(Sampling, "arguments of another number or size than the compiled kernel takes do not bind") {
  change("template.json", small_template_json(), R"("args": ["in", "out", "n"]}],)", R"("args": ["in", "out", {"n": "u32"}]}],)");
  const auto size = check({"--sample", "3", "--json"});
  CHECK(size.exit_code == 6);
  CHECK(sample_of(size)["does_not_bind"] == 3);
  CHECK(mentions(sample_of(size)["configurations"][0]["detail"], "argument 3 of \"double_it\" has 8 bytes, and 4 are passed"));
  change("template.json", small_template_json(), R"("args": ["in", "out", "n"]}],)", R"("args": ["in", "out"]}],)");
  const auto number = check({"--configuration", "items=2"});
  CHECK(number.exit_code == 6);
  CHECK(mentions(number.out, "\"double_it\" takes 3 arguments, and 2 are passed"));
  const auto plain = check({});
  CHECK(plain.exit_code == 6);
  CHECK(mentions(plain.out, "the default configuration does not bind: \"double_it\" takes 3 arguments, and 2 are passed"));
}

TEST_CASE_FIXTURE(Sampling, "what a device cannot launch is told with the limit, and is no fault of the template") {
  SUBCASE("a block larger than the kernel's bounds") {
    change("double_it.cu", small_template_source(), "__launch_bounds__(ATTUNE_BLOCK_SIZE)", "__launch_bounds__(256)");
    const auto result = check({"--sample", "1000", "--json"});
    CHECK(result.exit_code == 0);
    const auto large = with_outcome(sample_of(result), "exceeds_limits");
    CHECK(large.size() == 4);  // 512 with 1 and 2 items, twice
    for (const auto& sampled : large) {
      CHECK(sampled["configuration"]["block_size"] == 512);
      CHECK(mentions(sampled["detail"], "has 512 threads; its __launch_bounds__ allow 256"));
    }
  }
  SUBCASE("more shared memory than a block may have") {
    change("template.json", small_template_json(), R"("shared": "16 * waves")", R"("shared": "150000 * waves")");
    const json sample = sample_of(check({"--sample", "1000", "--json"}));
    CHECK(sample["exceeds_limits"] == 11);
    for (const auto& sampled : with_outcome(sample, "exceeds_limits")) CHECK(sampled["configuration"]["waves"] == 2);
  }
  SUBCASE("more static shared memory than a compiled kernel may have") {
    write(
        "double_it/double_it.cu",
        std::string(small_template_source()) +
            "#if ATTUNE_ITEMS == 4\nextern \"C\" __global__ void large() { __shared__ volatile int a[16384]; a[threadIdx.x] = 1; }\n#endif\n");
    const auto result = check({"--sample", "1000", "--json"});
    CHECK(result.exit_code == 0);
    const auto large = with_outcome(sample_of(result), "exceeds_limits");
    CHECK(large.size() == 6);  // 64, 128 and 256, twice
    for (const auto& sampled : large) {
      CHECK(sampled["configuration"]["items"] == 4);
      CHECK(mentions(sampled["detail"], "uses too much shared data"));
    }
  }
}

TEST_CASE_FIXTURE(Sampling, "one named configuration is checked; one that is none of the space is refused with the reason") {
  const auto result = check({"--configuration", "block_size=512 items=2", "--json"});
  CHECK(result.exit_code == 0);
  const json sample = sample_of(result);
  REQUIRE(sample["configurations"].size() == 1);
  CHECK(sample["configurations"][0]["configuration"] == json({{"block_size", 512}, {"items", 2}, {"waves", 1}}));
  CHECK(mentions(check({"--configuration", "block_size=512 items=2"}).out, "occupancy"));
  const auto outside = check({"--configuration", "block_size=512 items=4"});
  CHECK(outside.exit_code == 2);
  CHECK(mentions(outside.err, "violates \"block_size * items <= 1024\""));
  const auto unknown = check({"--configuration", "item=4"});
  CHECK(unknown.exit_code == 2);
  CHECK(mentions(unknown.err, "did you mean 'items'?"));
}

}  // namespace test_template_sample
