// `attune template import` of Kernel Tuner's scripts, which are run with a stand-in for that package. What the stand-in catches is tested
// in build_tools/test_import_script*.py; scripts here need no NumPy, those of test_script_import_answers.cpp do.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/write_bytes.hpp"

namespace test_script_import {

using namespace attune;
using test::Cli;

namespace {

struct Script : Cli {
  [[nodiscard]] test::CommandResult import(const std::string& text, const std::vector<std::string>& more = {}) const {
    write("tune.py", text);
    std::vector<std::string> words = {"template", "import", (folder / "tune.py").string(), "-o", (folder / "out").string()};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  void refuses(const std::string& text, int code, const std::string& message, const std::vector<std::string>& more = {}) const {
    const auto result = import(text, more);
    CAPTURE(result.err);
    CHECK(result.exit_code == code);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
  }
};

/// A copy of the command with a prefix of its own, as one that is installed.
struct Installed : Script {
  Installed() {
    std::filesystem::create_directories(program.parent_path());
    std::filesystem::copy_file(ATTUNE_EXECUTABLE, program);
  }
  /// A file below share/attune of this mode in a folder of that one; the folders between are the user's alone.
  void put(const std::filesystem::path& name, const std::string& text, int file_mode, int folder_mode = 0755) const {
    const auto path = data / name;
    std::filesystem::create_directories(path.parent_path());
    for (const auto& between : {prefix, prefix / "share", data, path.parent_path().parent_path()})
      std::filesystem::permissions(between, std::filesystem::perms(0755));
    std::filesystem::permissions(path.parent_path(), std::filesystem::perms(folder_mode));
    test::write_bytes(path, text);
    std::filesystem::permissions(path, std::filesystem::perms(file_mode));
  }
  [[nodiscard]] test::CommandResult run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"env", "-C", prefix.string(), program.string()});  // no recordings lie in that working directory
    return test::run(words, environment);
  }
  std::filesystem::path prefix = folder / "prefix", data = prefix / "share/attune", program = prefix / "bin/attune";
};

constexpr char kArguments[] = R"(
import sys
import kernel_tuner
print("what the script prints")
kernel_tuner.tune_kernel("one", "void one() {}", 100, [], {"block_size_x": [32, int(sys.argv[1])]}, lang="C")
)";

}  // namespace

TEST_CASE_FIXTURE(Script, "a script that cannot be read is refused with its line and column") {
  refuses("import kernel_tuner\ndef f(:\n  pass\n", 3, "tune.py:2:7: SyntaxError");
}

TEST_CASE_FIXTURE(Script, "a script that tunes nothing, or ends before it does, is refused with the reason") {
  refuses("import kernel_tuner\n", 2, "it does not call tune_kernel");
  refuses("import kernel_tuner\nkernel_tuner.run_kernel('a', '', 1, [], {})\n", 2, "it calls run_kernel only");
  refuses("import a_package_that_nobody_has\n", 2, "pip install a_package_that_nobody_has");
  refuses("import kernel_tuner\nraise ValueError('too early')\n", 2, "tune.py:2: ValueError: too early");
}

TEST_CASE_FIXTURE(Script, "without an interpreter, or with the options of T1 files, it is refused") {
  refuses("", 2, "leave --kernel-file away", {"--kernel-file", "a.cu"});
  ::setenv("ATTUNE_PYTHON", "/nowhere/python3", 1);
  refuses("", 4, "failed starting /nowhere/python3");
  ::unsetenv("ATTUNE_PYTHON");
}

TEST_CASE_FIXTURE(Script,
                  "a script has its arguments, what it prints is no output of ours, and a call that can become no template says why") {
  refuses(kArguments, 2, "IndexError");
  const auto result = import(kArguments, {"--", "64"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 3);
  CHECK(result.out.find("what the script prints") == std::string::npos);
  CHECK(result.err.find("what the script prints") != std::string::npos);
  CHECK(result.out.find("no template of one: ") != std::string::npos);
  CHECK(result.err.find("each of its calls says why") != std::string::npos);
}

TEST_CASE_FIXTURE(Script, "a script that ends the interpreter itself is refused with what that says") {
  refuses("import os\nos._exit(7)\n", 2, "ended with code 7 before it could tell");
}

TEST_CASE_FIXTURE(Script, "an import that is stopped ends its script and leaves nothing") {
  write("tune.py", R"(
import os, time
with os.fdopen(os.open("pid.part", os.O_CREAT | os.O_WRONLY), "w") as file: file.write(str(os.getpid()))
os.rename("pid.part", "pid")
while True:
    try: time.sleep(0.05)
    except BaseException: pass
)");
  std::filesystem::create_directory(folder / "tmp");
  write("stop.sh", "export TMPDIR=tmp\n" ATTUNE_EXECUTABLE
                   " template import tune.py -o out & import=$!\n"
                   "while [ ! -e pid ]; do sleep 0.05; done\n"
                   "kill -TERM $import; wait $import; echo code $?\n"
                   "kill -0 $(cat pid) 2>/dev/null && echo the script runs on\n"
                   "ls tmp\n");
  const auto stopped = test::run({"/bin/sh", "-c", "cd '" + (folder / "").string() + "' && exec timeout 60 /bin/sh stop.sh"}, environment);
  CAPTURE(stopped.err);
  CHECK(stopped.out == "code 130\n");
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_CASE_FIXTURE(Installed,
                  "the installed program that runs scripts is run where nobody else may write it, its folder or what it imports") {
  const auto mark = folder / "mark";
  const std::string text = "open('" + mark.string() + "', 'w').write('ran')\n", program_name = "python/import_script.py";
  write("tune.py", "");
  const std::vector<std::string> words = {"template", "import", (folder / "tune.py").string(), "-o", (folder / "out").string()};
  const auto is_refused = [&] {
    const auto result = run(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 4);
    CHECK(result.err.find("is not run, because others could have written it") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(mark));
  };
  CHECK(run(words).err.find("there is no import_script.py in " + (data / "python").string()) != std::string::npos);
  put(program_name, text, 0666);
  is_refused();
  put(program_name, text, 0644, 0777);
  is_refused();
  put("python/kernel_tuner/interface.py", "", 0666);
  put(program_name, text, 0644);
  is_refused();
  std::filesystem::remove_all(data / "python/kernel_tuner");
  std::filesystem::create_directory_symlink(folder / "", data / "python/kernel_tuner");
  is_refused();
  std::filesystem::remove(data / "python/kernel_tuner");
  CHECK(run(words).exit_code != 0);  // it catches nothing
  CHECK(std::filesystem::exists(mark));
}

TEST_CASE_FIXTURE(Installed, "installed recordings that anybody may write are not replayed, which is said") {
  environment["CUDA_VISIBLE_DEVICES"] = "";  // a GPU would measure instead
  const std::string name = "recordings/reduce/other.json.zst";
  const auto error = [&] {
    const auto result = run({"tune", "reduce", "--T", "f32", "--op", "sum", "--size", "2^10", "--budget", "1"});
    CHECK(result.exit_code != 0);
    return result.err;
  };
  const auto place = data / "recordings/reduce", file = data / name;
  put(name, "no recording", 0644, 0777);
  CHECK(error().find(place.string() + " is not replayed") != std::string::npos);
  put(name, "no recording", 0666);
  CHECK(error().find(file.string() + " is not replayed") != std::string::npos);
  put("recordings/reduce/notes", "", 0666);
  put(name, "no recording", 0644);
  const auto tried = error();
  CHECK(tried.find("is not replayed") == std::string::npos);
  CHECK(tried.find(file.string() + ": failed reading the recording") != std::string::npos);
}

}  // namespace test_script_import
