// Bad input: each ends with its class's exit code and one paragraph that names the place and the remedy.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"

namespace test_bad_input {

using namespace attune;
using test::Cli;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void expect(const test::CommandResult& result, int exit_code, const std::vector<std::string>& parts) {
  CAPTURE(result.out);
  CAPTURE(result.err);
  CHECK(result.exit_code == exit_code);
  for (const auto& part : parts) {
    CAPTURE(part);
    CHECK(contains(result.err + result.out, part));
  }
}

}  // namespace

TEST_CASE_FIXTURE(Cli, "a malformed template is named by file, line and column") {
  write("double_it/template.json", "{\n  \"attune\": 1,\n  \"name\": \"x\" \"y\"\n}\n");
  expect(attune({"template", "check", kernel}), 3, {"double_it/template.json:3:"});
}

TEST_CASE_FIXTURE(Cli, "a misspelt key in a template is refused with a suggestion") {
  std::string text = test::small_template_json();
  text.replace(text.find("\"constraints\""), 13, "\"constrains\"");
  write("double_it/template.json", text);
  expect(attune({"template", "check", kernel}), 3, {"template.json:9:", "constrains", "constraints"});
}

TEST_CASE_FIXTURE(Cli, "an unknown variable in a constraint is named with its place") {
  std::string text = test::small_template_json();
  text.replace(text.find("block_size * items <= 1024"), 26, "block_sise * items <= 1024");
  write("double_it/template.json", text);
  expect(attune({"template", "check", kernel}), 3, {"template.json:9:", "block_sise", "block_size"});
}

TEST_CASE_FIXTURE(Cli, "a space that its constraints empty is told with the condition") {
  std::string text = test::small_template_json();
  text.replace(text.find("block_size * items <= 1024"), 26, "block_size * items < 1");
  write("double_it/template.json", text);
  expect(attune({"template", "check", kernel}), 6, {"EMPTY", "block_size * items < 1"});
}

TEST_CASE_FIXTURE(Cli, "an unknown axis, type or size text is wrong usage with a suggestion") {
  expect(attune({"tune", kernel, "--T", "f32", "--sizes", "1000"}), 2, {"--sizes", "--size"});
  expect(attune({"tune", kernel, "--T", "f16", "--size", "1000"}), 2, {"f16", "f32", "f64"});
  expect(attune({"tune", kernel, "--T", "f32", "--size", "many"}), 2, {"many"});
  expect(attune({"tune", kernel, "--size", "1000"}), 2, {"--T", "f32"});
  expect(attune({"tune", kernel, "--T", "f32"}), 2, {"--n"});
  expect(attune({"tune", "redduce", "--T", "f32", "--size", "1000"}), 2, {"redduce", "reduce"});
  expect(attune(tune_words({"--strategy", "guess"})), 2, {"guess", "exhaustive", "random"});
  expect(attune(tune_words({"--budget", "lots"})), 2, {"lots"});
  expect(attune(tune_words({"--budget", "60s,5m"})), 2, {"60s,5m", "one kind"});
  expect(attune(tune_words({"--policy", "warm/graph"})), 2, {"warm/graph", "cold"});
}

TEST_CASE_FIXTURE(Cli, "a command that is not there is named with the nearest one or those that are") {
  expect(attune({"tun", "--T", "f32"}), 2, {"there is no command 'tun'; did you mean 'tune'?"});
  expect(attune({"template", "chek", kernel}), 2, {"'attune template' has no command 'chek'; did you mean 'check'?"});
  expect(attune({"template", "dance"}), 2, {"'attune template' has no command 'dance'; known: list, check"});
  expect(attune({"dance"}), 2, {"there is no command 'dance'; known: ", "tune", "layer"});
  expect(attune({"template"}), 2, {"subcommand is required"});
  expect(attune({"tune", kernel, "dance"}), 2, {"dance"});  // no command is looked for here
}

TEST_CASE_FIXTURE(Cli, "a range without a step is told to double, on standard error") {
  const auto told = [&](const std::string& sizes) {
    return attune({"tune", kernel, "--T", "f32", "--size", sizes, "--replay", recording}).err;
  };
  CHECK(contains(
      told("1000..1010"),
      "--n 1000..1010 takes 1000, for a range without a step doubles; write 1000..1010:x2 to mean that, 1000..1010:+1 for steps of 1"));
  CHECK(!contains(told("1000,100000"), "doubles"));
}

TEST_CASE_FIXTURE(Cli, "devices are numbers or all, each once, and exclude a recording") {
  const auto with_device = [&](const std::string& device) {
    return attune({"tune", kernel, "--T", "f32", "--size", "1000", "--device", device});
  };
  for (const char* device : {"0,x", "-1", "0,,1", "0,", "every"}) {
    CAPTURE(device);
    expect(with_device(device), 2, {device, "0,2", "all"});
  }
  expect(with_device("1,0,1"), 2, {"twice"});
  expect(attune(tune_words({"--device", "0,1"})), 2, {"--replay"});
  CHECK_FALSE(std::filesystem::exists(database));
}

TEST_CASE_FIXTURE(Cli, "n = 0 is nothing to tune, and saying so touches neither database nor device") {
  expect(attune({"tune", "reduce", "--T", "f32", "--op", "sum", "--size", "0"}), 2, {"nothing to tune", "n = 0"});
  CHECK_FALSE(std::filesystem::exists(database));
}

TEST_CASE_FIXTURE(Cli, "a recording of another policy is not passed off as the asked one") {
  expect(attune(tune_words({"--policy", "hot/graph"})), 2, {"cold/graph", "--policy"});
}

TEST_CASE_FIXTURE(Cli, "output that cannot be written is a failure") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  for (const char* command : {"show", "show --json", "db info", "db path"}) {
    CAPTURE(command);
    const auto result = test::run({"sh", "-c", std::string(ATTUNE_EXECUTABLE) + " " + command + " > /dev/full"}, environment);
    CHECK(result.exit_code == 4);
    CHECK(contains(result.err, "failed writing"));
  }
}

TEST_CASE_FIXTURE(Cli, "a launch of a kernel that the sources do not have is found without a GPU") {
  std::string text = test::small_template_json();
  text.replace(text.find("\"kernel\": \"double_it\""), 21, "\"kernel\": \"double_if\"");
  write("double_it/template.json", text);
  expect(attune({"template", "check", kernel}), 3, {"double_if", "double_it"});
}

TEST_CASE_FIXTURE(Cli, "without a driver and without a fitting recording tuning says what is missing") {
  const std::map<std::string, std::string> no_gpu = {{"CUDA_VISIBLE_DEVICES", ""}};
  expect(attune({"tune", kernel, "--T", "f32", "--size", "1000"}, no_gpu), 4, {"--replay"});
  expect(attune({"tune", kernel, "--T", "f32", "--size", "1000", "--device", "0"}, no_gpu), 4, {});
  expect(attune({"tune", kernel, "--T", "f32", "--size", "1000", "--device", "0,1"}, no_gpu), 4, {"device 0"});
  expect(attune({"tune", kernel, "--T", "f32", "--size", "1000", "--device", "all"}, no_gpu), 4, {});
  const auto record = attune({"record", kernel, "--T", "f32", "--size", "1000", "-o", (folder / "r.json").string()}, no_gpu);
  CHECK(record.exit_code == 4);
  CHECK_FALSE(std::filesystem::exists(folder / "r.json"));
}

TEST_CASE_FIXTURE(Cli, "without NVRTC compiling says which library was looked for") {
  expect(attune({"template", "check", kernel}, {{"ATTUNE_NVRTC", "/nonexistent/libnvrtc.so"}}), 4, {"/nonexistent/libnvrtc.so"});
}

TEST_CASE_FIXTURE(Cli, "a template may include all of CUB, and is told where it includes host code of it") {
  const auto source = [&](const std::string& header) {
    write("double_it/double_it.cu", "#include <" + header + ">\n" + test::small_template_source());
  };
  source("cub/block/block_reduce.cuh");
  const auto block = attune({"template", "check", kernel});
  CAPTURE(block.out);
  CHECK(block.exit_code == 0);
  CHECK(!contains(block.out, "host code"));
  source("cub/cub.cuh");
  CHECK(attune({"template", "check", kernel}).exit_code == 0);
  source("cub/device/device_reduce.cuh");
  CHECK(!contains(attune({"template", "check", kernel}).out, "\\n"));
  expect(attune({"template", "check", kernel}), 6,
         {"does not compile", "double_it.cu:1: <cub/device/device_reduce.cuh> is host code", "include <cub/cub.cuh>"});
}

TEST_CASE_FIXTURE(Cli, "a kernel that does not compile is shown with the compiler's message and line") {
  write("double_it/double_it.cu", "extern \"C\" __global__ void double_it() {\n  this is no code;\n}\n");
  expect(attune({"template", "check", kernel}), 6, {"double_it.cu(2)", "error"});
}

TEST_CASE_FIXTURE(Cli, "a database that cannot be written is named with the remedy") {
  expect(attune(tune_words({"--db", "/proc/nowhere/tune.db"})), 5, {"/proc/nowhere", "--db"});
}

TEST_CASE_FIXTURE(Cli, "a database of a newer schema is refused and stays byte-identical") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(database.c_str(), &handle) == SQLITE_OK);
  REQUIRE(sqlite3_exec(handle, "PRAGMA user_version = 471; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE", nullptr, nullptr,
                       nullptr) == SQLITE_OK);
  sqlite3_close(handle);
  const std::string before = read("tune.db");
  expect(attune(tune_words()), 5, {database, "471"});
  expect(attune({"show"}), 5, {"471"});
  CHECK(read("tune.db") == before);
}

TEST_CASE_FIXTURE(Cli, "a damaged database is set aside by a writer, named and kept") {
  REQUIRE(attune(tune_words()).exit_code == 0);
  std::string bytes = read("tune.db");
  bytes.replace(4096, 4096, std::string(4096, 'x'));
  write("tune.db", bytes);
  const auto result = attune(tune_words());
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, database + ".corrupt-"));
}

TEST_CASE_FIXTURE(Cli, "a truncated recording is refused by name") {
  const std::string whole = read("synthetic.json.zst");
  write("synthetic.json.zst", whole.substr(0, whole.size() / 2));
  expect(attune(tune_words()), 3, {recording});
  write("synthetic.json.zst", "");
  expect(attune(tune_words()), 3, {recording});
}

TEST_CASE_FIXTURE(Cli, "a recording of another version of the template is refused") {
  write("double_it/double_it.cu", std::string(test::small_template_source()) + "// changed\n");
  expect(attune(tune_words()), 2, {"recorded with version"});
}

TEST_CASE_FIXTURE(
    Cli, "without HOME, XDG folders and ATTUNE_DB tuning warns, explains the database rule and prints results that it does not store") {
  auto words = tune_words();
  words.insert(words.begin(), {"env", "-i", ATTUNE_EXECUTABLE});
  const auto result = test::run(words);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "none of ATTUNE_DB, XDG_DATA_HOME and HOME is set"));
  CHECK(contains(result.err, "are not stored"));
  CHECK(contains(result.out, "block_size="));
  write("file.txt", "");
  words.insert(words.end(), {"--db", (folder / "file.txt" / "tune.db").string()});
  expect(test::run(words), 5, {"file.txt"});
}

}  // namespace test_bad_input
