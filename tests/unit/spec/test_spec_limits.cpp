// Templates of others: what is too large is refused, and what is not takes time in proportion to its size. Before these limits each of the
// large inputs took minutes (time in the square of the size) or ended the process (a recursion).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/unit/spec/spec_support.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/json_document.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/spec_limits.hpp"
#include "tuner/spec/variant_ladder.hpp"

namespace test_spec_limits {

using namespace attune::spec;
using namespace attune::spec::test;

namespace {

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

/// What `each(i)` gives for every number below `count`, with commas.
template <class Each>
std::string listed(std::size_t count, Each&& each) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + each(i);
  return text;
}

std::string json_error(const std::string& text) {
  return error_of([&] { (void)JsonNode::parse(text, "t.json"); });
}

std::string source_error(std::map<std::string, std::string> files) {
  return error_of([&] { (void)KernelTemplate::parse(sample_template(), files, "t.json"); });
}

/// a0.cuh includes a1.cuh and so on; sample.cu includes the first.
std::map<std::string, std::string> chain(std::size_t length) {
  std::map<std::string, std::string> files{{"sample.cu", "#include \"a0.cuh\"\n"}};
  for (std::size_t i = 0; i < length; ++i) {
    files[fmt::format("a{}.cuh", i)] = i + 1 < length ? fmt::format("#include \"a{}.cuh\"\n", i + 1) : "int last;\n";
  }
  return files;
}

std::string expansion_error(const KernelTemplate& kernel) {
  DirectivesByFile directives(kernel.files);
  return error_of([&] { (void)with_includes(kernel, "sample.cu", directives); });
}

}  // namespace

TEST_CASE("an object of 199,999 keys is read, one of more is refused, and a key given twice is found in either") {
  const auto key = [](std::size_t i) { return fmt::format("\"k{}\":0", i); };
  CHECK(JsonNode::parse("{" + listed(kMostSpecValues - 1, key) + "}", "t.json").members.size() == kMostSpecValues - 1);
  CHECK(contains(json_error("{" + listed(kMostSpecValues + 1, key) + "}"), "more than 200000 members and items"));
  CHECK(contains(json_error("{" + listed(100'000, key) + ",\"k7\":1}"), "the key 'k7' is given twice"));
}

TEST_CASE("JSON beyond the limits is refused before it is built") {
  CHECK(contains(json_error(std::string(kMostSpecBytes + 1, ' ')), "at most 8388608 are read"));
  CHECK(contains(json_error(repeated("[", kMostSpecBytes)), "t.json:1:33: the values are nested too deeply"));
  CHECK(contains(json_error(repeated("{\"a\":", 1'000'000)), "nested too deeply"));
  CHECK(json_error(repeated("[", 32) + repeated("]", 32)) == "");
  CHECK(contains(json_error("[" + repeated("\"[[[[,,,,\\\"\",", 100'000) + "]"),
                 "t.json:1:"));  // what stands in strings does not count as depth
  CHECK(contains(json_error("/*" + repeated("[", 100) + "*/ // [[[[\n" + repeated("[", 33)),
                 "t.json:2:33: the values are nested too deeply"));
  CHECK(json_error("\"" + std::string(1'000'000, 'x')).size() < 1000);  // the token that the message quotes is cut
}

TEST_CASE("a parameter of 65,535 values is read, equal values are found wherever they stand") {
  const auto values = [](std::size_t count) { return listed(count, [](std::size_t i) { return std::to_string(i + 64); }); };
  const auto error = [](const std::string& list) { return sample_error("[64, 128, 256]", "[" + list + "]"); };
  CHECK(error(values(65'535)) == "");
  CHECK(contains(error(values(65'536)), "are more than 65535"));
  CHECK(contains(error(values(65'000) + ",64.0"), "hold 64.0 twice"));
  const auto choices = listed(65'000, [](std::size_t i) { return fmt::format("\"c{}\"", i); });
  CHECK(contains(sample_error(R"(["sum", "max-abs"])", "[\"sum\"," + choices + ",\"c0\"]"), "hold 'c0' twice"));
  CHECK(sample_error("\"default\": 128", "\"default\": 1").size() < 1000);
}

TEST_CASE("a template has at most 1,000 names of at most 128 characters") {
  const auto lets = [](std::size_t count) {
    return "\"let\": {" + listed(count, [](std::size_t i) { return fmt::format("\"l{}\": 1", i); }) + ", ";
  };
  CHECK(sample_error("\"let\": {", lets(900)) == "");
  CHECK(contains(sample_error("\"let\": {", lets(1'000)), "more than 1000 names"));
  CHECK(contains(sample_error("\"let\": {", lets(150'000)), "more than 1000 names"));
  CHECK(sample_error("\"let\": {", "\"let\": {\"" + std::string(128, 'a') + "\": 1, ") == "");
  CHECK(contains(sample_error("\"let\": {", "\"let\": {\"" + std::string(129, 'a') + "\": 1, "), "is longer than 128 characters"));
  CHECK(contains(sample_error("\"name\": \"sample\"", "\"name\": \"" + std::string(300, 'a') + "\""), "is longer than 128 characters"));
}

TEST_CASE("lets that follow from each other through the whole template are computed") {
  std::string lets = "\"let\": {\"l0\": \"n\", ";
  for (std::size_t i = 1; i < 900; ++i) lets += fmt::format("\"l{0}\": \"l{1} + l{1} - l{1}\", ", i, i - 1);
  const auto text = replaced(replaced(sample_template(), "\"let\": {", lets), "\"count\": \"n\"", "\"count\": \"l899\"");
  const auto kernel = parse_sample(text);
  const auto plan = resolve(kernel, sample_problem(), default_configuration(kernel), DeviceInfo::of_architecture("sm_90"));
  CHECK(plan.buffers.front().count == 1000);
}

TEST_CASE("expressions and lists are refused beyond their length") {
  CHECK(Expression::parse(repeated("1+", 8'191) + "10").evaluate(std::span<const Value* const>{}) == Value(std::int64_t{8'201}));
  CHECK(contains(error_of([] { (void)Expression::parse(repeated("1+", 8'192) + "1"); }), "at most 16384 are read"));
  CHECK(contains(error_of([] {
                   (void)parse_value_list("[" + repeated("1,", 40'000) + "]", {"t1.json", 1, 1});
                 }),
                 "at most 65536 are read"));
  const std::string slow = "[i" + repeated("+1", 8'000) + " for i in [i for i in range(65535)]]";
  CHECK(contains(error_of([&] { (void)parse_value_list(slow, {"t1.json", 1, 1}); }), "takes too long to compute"));
  CHECK(contains(error_of([] { (void)parse_value_list("range(0, 1000000000, 1)", {"t1.json", 1, 1}); }), "more than 65535 values"));
}

TEST_CASE("includes are followed 200 deep, and a chain of 20,000 is refused") {
  CHECK(source_error(chain(199)) == "");
  CHECK(contains(source_error(chain(200)), "files include each other more than 200 deep"));
  CHECK(contains(source_error(chain(20'000)), "includes more than 1000 files"));
}

TEST_CASE("a template has at most 1,000 files of 8 MiB together, and a source at most 16 MiB with its includes in place") {
  std::map<std::string, std::string> files{{"sample.cu", ""}};
  for (int i = 0; i < 1'000; ++i) {
    files["sample.cu"] += fmt::format("#include \"a{}.cuh\"\n", i);
    files[fmt::format("a{}.cuh", i)] = "int a;\n";
  }
  CHECK(contains(source_error(files), "includes more than 1000 files"));
  CHECK(contains(source_error({{"sample.cu", std::string(kMostFileBytes + 1, ' ')}}), "have more than 8388608 bytes"));
  const KernelTemplate kernel = KernelTemplate::parse(
      sample_template(), {{"sample.cu", repeated("#include \"a.cuh\"\n", 20)}, {"a.cuh", std::string(1 << 20, ' ') + "\n"}}, "t.json");
  CHECK(contains(expansion_error(kernel), "sample.cu:16:1: a source includes more than 16777216 bytes"));
}

TEST_CASE("a file is read once however often it is included, whatever its directives hold") {
  // Nothing of such a line comes into the source: neither the directive nor the comment in it.
  const std::string comment = "/*" + std::string(1 << 20, ' ') + "*/";
  const KernelTemplate kernel = KernelTemplate::parse(sample_template(),
                                                      {{"sample.cu", repeated("#include \"a.cuh\"\n", 499)},
                                                       {"a.cuh", "#include \"b.cuh\" " + comment},
                                                       {"b.cuh", "#pragma once " + comment}},
                                                      "t.json");
  DirectivesByFile directives(kernel.files);
  CHECK(with_includes(kernel, "sample.cu", directives).size() < 499 * 300);
  std::size_t bytes = 0;
  for (const auto& [name, source] : kernel.files) bytes += source.size();
  CHECK(directives.read_bytes() == bytes);
  static_cast<void>(with_includes(kernel, "sample.cu", directives));
  CHECK(directives.read_bytes() == bytes);
}

TEST_CASE("the lines that stand for directives count as well, before they fill the memory") {
  const std::string name = std::string(200, 'a') + ".cuh";
  const KernelTemplate kernel = KernelTemplate::parse(
      sample_template(), {{"sample.cu", "#include \"" + name + "\"\n"}, {name, repeated("#pragma once\n", 300'000)}}, "t.json");
  CHECK(contains(expansion_error(kernel), "a source includes more than 16777216 bytes"));
}

TEST_CASE("a source is read in time that grows with its size, whatever stands in it") {
  constexpr std::size_t bytes = std::size_t{2} << 20;
  for (const char* part : {"R\"\"",
                           "R\"",
                           "R\"(",
                           "R\"a(",
                           "u8R\"x\"",
                           "/*",
                           "//",
                           "*/",
                           "\"",
                           "'",
                           "1'",
                           "\\\n",
                           "#",
                           "#\n",
                           "#/*\n",
                           "#include <a>\n",
                           "#include <a> ",
                           "\n#/**/",
                           "#/**/\n",
                           "%:",
                           "\\u",
                           "a\"",
                           ")\"",
                           "\n#\\\n",
                           "#pragma once\n"}) {
    CAPTURE(std::string(part));
    const std::string source = repeated(part, bytes / std::string_view(part).size());
    std::size_t made = 0;
    const std::string refused = error_of([&] {
      const auto kernel = KernelTemplate::parse(sample_template(), {{"sample.cu", source}}, "t.json");
      made = make_source(kernel, sample_problem(), default_configuration(kernel), DeviceInfo::of_architecture("sm_90")).size();
    });
    CHECK((made > 0) != !refused.empty());
  }
  // One file that includes itself at every line.
  CHECK(source_error({{"sample.cu", "#pragma once\n" + repeated("#include \"sample.cu\"\n", 100'000)}}) == "");
  CHECK(contains(source_error({{"sample.cu", "/*" + repeated("#/*\n", 500'000) + "*/" + std::string(1 << 20, ' ')}}),
                 "too many blanks and comments"));
}

TEST_CASE("a configuration or a problem that is nested a million deep is refused, not walked through") {
  const auto kernel = parse_sample();
  for (const char* opener : {"[", "{\"a\":"}) {
    const std::string deep = "{\"block_size\":" + repeated(opener, 1'000'000) + "1" + repeated(*opener == '[' ? "]" : "}", 1'000'000) + "}";
    CHECK(contains(error_of([&] { (void)configuration_from_text(kernel, deep); }), "nested too deeply"));
    CHECK(contains(error_of([&] { (void)problem_from_text(deep); }), "nested too deeply"));
  }
  CHECK(contains(
      error_of([&] { (void)configuration_from_text(kernel, R"({"block_size": [1], "stage": "atomic", "unroll": false, "waves": 1})"); }),
      "cannot be [1]"));
}

TEST_CASE("a ladder has at most 1,000 rungs") {
  const auto kernel = parse_sample();
  const auto ladder = [](std::size_t count) {
    return R"({"attune_ladder": 1, "summary": "s", "rungs": [)" +
           listed(count, [](std::size_t i) { return fmt::format(R"({{"name": "r{}", "why": "w", "where": "True"}})", i); }) + "]}";
  };
  CHECK(VariantLadder::parse(kernel, ladder(1'000), "ladder.json").rungs.size() == 1'000);
  CHECK(contains(error_of([&] { (void)VariantLadder::parse(kernel, ladder(1'001), "ladder.json"); }), "more than 1000 rungs"));
}

TEST_CASE("options are bounded by their number, their bytes and the values of what they name") {
  const auto error = [](const std::string& options) {
    return sample_error(R"("reference": "none",)", R"("reference": "none", "options": [)" + options + "],");
  };
  CHECK(contains(error(listed(257, [](std::size_t) { return std::string("\"-w\""); })), "more than 256 options"));
  CHECK(contains(error("\"-DX=" + std::string(1'024, '1') + "\""), "the option is longer than 1024 bytes"));
  const std::string many = listed(60'000, [](std::size_t i) { return fmt::to_string(i + 1); });
  const std::string with_many = replaced(sample_template(), "[64, 128, 256]", "[128, " + replaced(many, "128,", "") + "]");
  const auto parse = [&](const std::string& options) {
    return error_of([&] {
      (void)parse_sample(replaced(with_many, R"("reference": "none",)", R"("reference": "none", "options": [)" + options + "],"));
    });
  };
  CHECK(parse(R"("-DX={block_size}")").empty());
  CHECK(contains(parse(R"("-DX={block_size}{stage}")"), "depends on more than 100000 combinations of values"));
  const auto long_ones = listed(200, [](std::size_t) { return "\"-DX={block_size}" + std::string(100, '1') + "\""; });
  CHECK(contains(parse(long_ones), "the options of the template have too many combinations of values"));
}

TEST_CASE("a value in an option makes it no longer than an option may be, however often it is named") {
  const std::string long_word = std::string(100'000, 'x');
  std::string option = "-DX=";
  for (int i = 0; i < 100; ++i) option += "{stage}";
  const std::string text = replaced(replaced(sample_template(), "\"two_pass\", \"atomic\"", "\"" + long_word + "\", \"atomic\""),
                                    R"("reference": "none",)", R"("reference": "none", "options": [")" + option + "\"],");
  CHECK(contains(error_of([&] { (void)parse_sample(text); }), "is longer than 1024 bytes"));
}

TEST_CASE("the name of a kernel is bounded, as it stands and with the values of its arguments") {
  const auto with_kernel = [](const std::string& name) {
    return replaced(sample_template(), R"("kernel": "main_pass")", R"("kernel": ")" + name + "\"");
  };
  const auto error = [&](const std::string& name) { return error_of([&] { (void)parse_sample(with_kernel(name)); }); };
  CHECK(error("a::" + std::string(100, 'b') + "::c").empty());
  CHECK(contains(error(repeated("a::", 200) + "k"), "is longer than 512 characters"));
  CHECK(contains(error("k<" + repeated("T, ", 64) + "T>"), "has more than 64 template arguments"));
  const auto kernel = parse_sample(with_kernel("k<" + repeated("'" + std::string(60, 'x') + "', ", 6) + "1>"));
  CHECK_NOTHROW(static_cast<void>(resolve(kernel, sample_problem(), default_configuration(kernel), DeviceInfo::of_architecture("sm_90"))));
  const auto longer = parse_sample(replaced(with_kernel("k<" + repeated("A, ", 50) + "1>"), R"("i8": "i32")", R"("i8": "u64")"));
  CHECK(contains(
      error_of([&] { (void)resolve(longer, sample_problem("i8"), default_configuration(longer), DeviceInfo::of_architecture("sm_90")); }),
      "is longer than 512 characters with its template arguments"));
}

TEST_CASE("values that texts list are bounded over the whole template, and so is the work of listing them") {
  const auto with_lists = [](std::size_t count, const std::string& text) {
    return error_of([&] {
      (void)parse_sample(replaced(sample_template(), R"("parameters": {)", R"("parameters": {)" + listed(count, [&](std::size_t i) {
                                                                             return fmt::format(
                                                                                 R"("p{}": {{"values": "{}", "default": 1}})", i, text);
                                                                           }) + ","));
    });
  };
  CHECK(with_lists(3, "range(1, 60001)").empty());
  CHECK(contains(with_lists(4, "range(1, 60001)"), "list more than 200000 values"));
  const std::string costly = "[1] + [i for i in range(60000) if i < 0]" + std::string(4'000, ' ');
  CHECK(contains(with_lists(50, costly), "takes too long to compute"));
}

TEST_CASE("launches are unrolled a bounded number of times together") {
  const std::string launch =
      R"({"kernel": "main_pass", "repeat": {"count": 65536, "index": "i"}, "grid": 1, "block": 32, "args": ["in", "n"]})";
  const auto kernel = parse_sample(replaced(sample_template(), "\"launches\": [", "\"launches\": [" + repeated(launch + ", ", 100)));
  CHECK(contains(
      error_of([&] { (void)resolve(kernel, sample_problem(), default_configuration(kernel), DeviceInfo::of_architecture("sm_90")); }),
      "are more than 1048576; repeat fewer"));
}

}  // namespace test_spec_limits
