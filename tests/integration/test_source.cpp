// `attune source`: what it prints is what the template and the configuration say, and what a database chose.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "db/database.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_source {

using namespace attune;
using namespace attune::test;
using nlohmann::json;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Sources : Cli {
  Sources() {
    std::filesystem::create_directories(folder / "twice");
    write("twice/template.json", kTwiceJson);
    write("twice/twice.cu", kTwiceSource);
  }
  [[nodiscard]] CommandResult source(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"source", kernel, "--T", "f32", "--n", "1000"};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  [[nodiscard]] CommandResult twice(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"source", folder / "twice", "--T", "f32"};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Sources, "source prints the configured macros, then the template's file, and no launch-bound parameter") {
  const auto result = source({"--configuration", "block_size=256 items=2 waves=2"});
  CHECK(result.err == "");
  REQUIRE(result.exit_code == 0);
  CHECK(mentions(result.out, "using attune_T = float;\n"));
  CHECK(mentions(result.out, "#define ATTUNE_BLOCK_SIZE 256\n"));
  CHECK(mentions(result.out, "#define ATTUNE_ITEMS 2\n"));
  CHECK_FALSE(mentions(result.out, "WAVES"));
  const auto place = result.out.find("#line 1 \"double_it.cu\"\n");
  REQUIRE(place != std::string::npos);
  CHECK(result.out.substr(place).starts_with("#line 1 \"double_it.cu\"\n" + std::string(small_template_source())));
}

TEST_CASE_FIXTURE(Sources, "words and JSON name the same configuration, and what is not named stands as by default") {
  const auto words = source({"--configuration", "items=4"}),
             whole = source({"--configuration", R"({"items":4,"block_size":128,"waves":1})"});
  CHECK(words.exit_code == 0);
  CHECK(words.out == whole.out);
  CHECK(source({}).out == source({"--configuration", "block_size=128,items=1"}).out);
  CHECK(source({}).out != words.out);
}

TEST_CASE_FIXTURE(Sources, "the JSON has what the texts print, and the launches of the configured problem") {
  const auto result = source({"--configuration", "block_size=256 items=2", "--arch", "sm_80", "--json"});
  REQUIRE(result.exit_code == 0);
  const json told = base::parse_json(result.out);
  CHECK(told["source"] == source({"--configuration", "block_size=256 items=2"}).out);
  CHECK(told["architecture"] == "sm_80");
  CHECK(told["configuration"] == json({{"block_size", 256}, {"items", 2}, {"waves", 1}}));
  CHECK(told["tier"].is_null());
  // ceil_div(1000, 512) blocks of 256 threads with 16 bytes.
  const json launch = {{"kernel", "double_it"}, {"grid", {2, 1, 1}},    {"block", {256, 1, 1}}, {"cluster", nullptr},
                       {"shared_bytes", 16},    {"cooperative", false}, {"dependent", false}};
  CHECK(told["kernels"] == json::array({launch}));
  std::string lines;
  for (const auto& option : told["options"]) lines += option.get<std::string>() + "\n";
  CHECK(lines.starts_with("-arch=sm_80\n"));
  CHECK(source({"--configuration", "block_size=256 items=2", "--arch", "sm_80", "--options"}).out == lines);
  CHECK(mentions(told["command"], "nvcc"));
  CHECK(mentions(told["command"], "double_it.cubin"));
}

TEST_CASE_FIXTURE(Sources, "with a file the source goes there byte for byte, and the rest is printed") {
  const std::string file = folder / "unit.cu";
  const auto both = source({"-o", file, "--command", "nvrtc"});
  CHECK(both.exit_code == 0);
  CHECK(both.out.ends_with(file + "\n"));
  CHECK(read("unit.cu") == source({}).out);
  CHECK(source({"-o", folder / "alone.cu"}).out == "");
  CHECK(read("alone.cu") == read("unit.cu"));
  CHECK(source({"-o", "-", "--command", "nvcc"}).exit_code == 2);
  const auto neither = source({"--command", "clang"});
  CHECK(neither.exit_code == 2);
  CHECK(mentions(neither.err, "name nvcc or nvrtc"));
}

TEST_CASE_FIXTURE(Sources, "an unknown parameter and an unknown value are told with the closest") {
  const auto parameter = source({"--configuration", "blok_size=64"});
  CHECK(parameter.exit_code == 2);
  CHECK(mentions(parameter.err, "no parameter \"blok_size\"; did you mean 'block_size'?"));
  const auto value = twice({"--n", "1000", "--configuration", "style=fancyy"});
  CHECK(value.exit_code == 2);
  CHECK(mentions(value.err, "\"style\" of template \"twice\" cannot be fancyy; did you mean 'fancy'?"));
  const auto several = source({"--configuration", R"({"items": [1, 2]})"});
  CHECK(several.exit_code == 2);
  CHECK(mentions(several.err, "known: 1, 2, 4"));
}

TEST_CASE_FIXTURE(Sources, "a configuration outside the space is refused with the condition and its place") {
  const auto result = twice({"--n", "5000", "--configuration", "block_size=32"});
  CHECK(result.exit_code == 2);
  CHECK(result.out == "");
  CHECK(mentions(result.err, "block_size=32"));
  CHECK(mentions(result.err, "violates \"block_size > 32 or n <= 4096\""));
  CHECK(mentions(result.err, "template.json:7:20"));
  CHECK(twice({"--n", "4096", "--configuration", "block_size=32"}).exit_code == 0);
  CHECK(twice({"--n", "1000", "--configuration", "style=fancy", "--arch", "sm_80"}).exit_code == 2);
  CHECK(twice({"--n", "1000", "--configuration", "style=fancy", "--arch", "sm_90"}).exit_code == 0);
}

TEST_CASE_FIXTURE(Sources, "several problems have no one source") {
  const auto result = attune({"source", kernel, "--T", "f32", "--n", "1000,2000"});
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, "name 2 problems"));
}

TEST_CASE_FIXTURE(Sources, "the best is what the database chose, at its size and from the nearest one") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const auto rows = db::Database::open(database, db::OpenMode::ReadOnly).best({});
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows) {
    const auto n = std::to_string(base::parse_json(row.problem)["n"].get<std::int64_t>());
    const auto result = attune({"source", kernel, "--T", "f32", "--n", n, "--best", "--device", "Synthetic GPU", "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const json told = base::parse_json(result.out);
    CHECK(told["configuration"] == base::parse_json(row.configuration));
    CHECK(told["tier"] == "exact size");
    const auto named = attune({"source", kernel, "--T", "f32", "--n", n, "--configuration", row.configuration});
    CHECK(named.out == told["source"]);
  }
  const std::vector<std::string> between{"--T", "f32", "--n", "3000", "--device", "Synthetic GPU", "--json"};
  std::vector<std::string> explain{"explain", kernel}, best{"source", kernel, "--best"};
  explain.insert(explain.end(), between.begin(), between.end());
  best.insert(best.end(), between.begin(), between.end());
  const json chosen = base::parse_json(attune(best).out), explained = base::parse_json(attune(explain).out)[0];
  CHECK(chosen["configuration"] == explained["configuration"]);
  CHECK(chosen["tier"] == explained["tier"]);
}

TEST_CASE_FIXTURE(Sources, "where nothing was tuned there is no best, and the databases that were asked are named") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  const auto result = attune({"source", kernel, "--T", "f64", "--n", "1000", "--best", "--db", database});
  CHECK(result.exit_code == 2);
  CHECK(result.out == "");
  CHECK(mentions(result.err, "there is no best configuration of \"double_it\" for T=f64 n=1000"));
  CHECK(mentions(result.err, database));
  CHECK(attune({"source", kernel, "--T", "f32", "--n", "1000", "--best", "--db", folder / "absent.db"}).exit_code == 5);
}

TEST_CASE_FIXTURE(Sources, "the command line of nvrtc compiles the printed file, and standard input") {
  const std::string file = folder / "unit.cu";
  const auto told = source({"-o", file, "--command", "nvrtc", "--arch", "sm_80"});
  REQUIRE(told.exit_code == 0);
  const auto in_shell = [&](const std::string& command) {
    return run({"sh", "-c", "cd '" + folder.path().string() + "' && " + command}, environment);
  };
  const auto compiled = in_shell(told.out);
  CAPTURE(compiled.err);
  CHECK(compiled.exit_code == 0);
  CHECK(mentions(compiled.out, "double_it: "));
  const std::string cubin = read("double_it.cubin");
  CHECK(
      cubin.starts_with("\x7f"
                        "ELF"));
  std::filesystem::remove(folder / "double_it.cubin");
  const auto piped = source({"--command", "nvrtc", "--arch", "sm_80"});
  CHECK(in_shell("cat unit.cu | " + piped.out).exit_code == 0);
  CHECK(read("double_it.cubin") == cubin);
}

TEST_CASE_FIXTURE(Sources, "compile tells a compiler's errors, a missing file and an option that no template may have") {
  write("wrong.cu", "__global__ void wrong() { nothing(); }\n");
  const auto wrong = attune({"compile", folder / "wrong.cu"});
  CHECK(wrong.exit_code == 6);
  CHECK(mentions(wrong.err, "nothing"));
  CHECK(attune({"compile", folder / "absent.cu"}).exit_code == 2);
  REQUIRE(::mkfifo((folder / "pipe.cu").c_str(), 0600) == 0);
  const auto pipe = attune({"compile", folder / "pipe.cu"});  // nobody ever writes into it
  CHECK(pipe.exit_code == 2);
  CHECK(mentions(pipe.err, "pipe.cu: it is no file; - reads standard input"));
  const auto option = attune({"compile", folder / "wrong.cu", "--option=-time=times.csv"});
  CHECK(option.exit_code == 2);
  CHECK_FALSE(std::filesystem::exists("times.csv"));
}

}  // namespace test_source
