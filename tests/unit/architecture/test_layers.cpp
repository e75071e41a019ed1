#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/architecture/layers.hpp"

using attune::test::Breaches;
using attune::test::check_file;
using attune::test::check_tree;

namespace {

bool allowed(const std::string& path, const std::string& include) { return check_file(path, "#include " + include + "\n").empty(); }

}  // namespace

TEST_CASE("every include of tuner/, db/ and tools/ follows the arrows and no file is too long") {
  const Breaches breaches = check_tree(ATTUNE_SOURCE_DIR);
  for (const std::string& breach : breaches) {
    CAPTURE(breach);
    CHECK(breach.empty());
  }
}

TEST_CASE("a breach names file, line and both layers") {
  const Breaches breaches = check_file("tuner/spec/value.cpp", "#pragma once\n\n  #  include \"db/records.hpp\"\n");
  REQUIRE(breaches.size() == 1);
  CHECK(breaches[0].rfind("tuner/spec/value.cpp:3: ", 0) == 0);
  CHECK(breaches[0].find("tuner/spec may not know db") != std::string::npos);
}

TEST_CASE("spec and db know nothing of each other") {
  CHECK_FALSE(allowed("tuner/spec/value.hpp", "\"db/records.hpp\""));
  CHECK_FALSE(allowed("db/database.cpp", "\"tuner/spec/value.hpp\""));
}

TEST_CASE("arrows are never followed back") {
  CHECK(allowed("tuner/session/tune/session.cpp", "\"tuner/search/strategy.hpp\""));
  CHECK(allowed("tuner/session/tune/session.cpp", "\"tuner/spec/value.hpp\""));
  CHECK(allowed("tuner/session/tune/session.cpp", "\"db/database.hpp\""));
  CHECK(allowed("tuner/search/random.cpp", "\"tuner/space/search_space.hpp\""));
  CHECK(allowed("tuner/runtime/runtime.cpp", "\"tuner/compile/compiler.hpp\""));
  CHECK_FALSE(allowed("tuner/search/strategy.hpp", "\"tuner/session/tune/session.hpp\""));
  CHECK_FALSE(allowed("tuner/gpu/driver.cpp", "\"tuner/compile/compiler.hpp\""));
  CHECK_FALSE(allowed("tuner/runtime/runtime.cpp", "\"tuner/measure/measurement.hpp\""));
  CHECK_FALSE(allowed("tuner/session/tune/session.cpp", "\"tuner/report/report.hpp\""));
  CHECK_FALSE(allowed("tuner/report/report.cpp", "\"tools/commands.hpp\""));
}

TEST_CASE(
    "of a session, sources know nothing of tuning, tuning nothing of several devices and published variants, and these nothing of each other") {
  CHECK(allowed("tuner/session/tune/store.cpp", "\"tuner/session/source/recording.hpp\""));
  CHECK(allowed("tuner/session/variants/ladder_run.cpp", "\"tuner/session/tune/problem_tuner.hpp\""));
  CHECK_FALSE(allowed("tuner/session/source/recording.cpp", "\"tuner/session/tune/store.hpp\""));
  CHECK_FALSE(allowed("tuner/session/tune/session.cpp", "\"tuner/session/fleet/fleet.hpp\""));
  CHECK_FALSE(allowed("tuner/session/tune/session.cpp", "\"tuner/session/variants/ladder_run.hpp\""));
  CHECK_FALSE(allowed("tuner/session/fleet/fleet.cpp", "\"tuner/session/variants/ladder_run.hpp\""));
  CHECK_FALSE(allowed("tuner/session/variants/ladder_run.cpp", "\"tuner/session/fleet/fleet.hpp\""));
  CHECK_FALSE(allowed("tuner/session/session.cpp", "<vector>"));
}

TEST_CASE("an arrow that nobody uses is refused") {
  const attune::test::TempFolder folder;
  for (const char* name : {"tuner/verify", "db", "tools"}) std::filesystem::create_directories(folder / name);
  const auto unused = [&](const std::string& arrow) {
    const Breaches breaches = check_tree(folder.path());
    return std::any_of(breaches.begin(), breaches.end(), [&](const auto& breach) { return breach.find(arrow) != std::string::npos; });
  };
  CHECK(unused("nothing in tuner/verify includes tuner/gpu"));
  std::ofstream(folder / "tuner/verify/a.cpp") << "#include \"tuner/gpu/driver.hpp\"\n";
  CHECK_FALSE(unused("nothing in tuner/verify includes tuner/gpu"));
  CHECK(unused("nothing in tuner/verify includes tuner/spec"));
}

TEST_CASE("all may use the base and the errors, tools may use everything below") {
  for (const std::string path : {"db/database.hpp", "tuner/spec/value.cpp", "tuner/runtime/runtime.cpp", "tools/main.cpp"}) {
    CAPTURE(path);
    CHECK(allowed(path, "\"tuner/base/text.hpp\""));
    CHECK(allowed(path, "\"attune/error.hpp\""));
    CHECK(allowed(path, "\"attune_build/content_hash.hpp\""));
    CHECK(allowed(path, "<vector>"));
  }
  CHECK(allowed("tools/cmd_report.cpp", "\"tuner/report/writers.hpp\""));
  CHECK(allowed("tools/cmd_report.cpp", "\"db/database.hpp\""));
  CHECK_FALSE(allowed("tools/cmd_report.cpp", "\"tests/support/command.hpp\""));
}

TEST_CASE("of templates, verification may use what device and host code share, and nobody kernels and references") {
  CHECK(allowed("tuner/verify/support.hpp", "\"templates/include/attune/reference_types.cuh\""));
  for (const std::string file : {"templates/references/transpose/reference.cu", "templates/reduce/values.cu", "templates/included.cuh"}) {
    CAPTURE(file);
    CHECK_FALSE(allowed("tuner/verify/support.hpp", "\"" + file + "\""));
    CHECK_FALSE(allowed("tuner/spec/element.hpp", "\"" + file + "\""));
  }
  CHECK_FALSE(allowed("tuner/worker/timer.cpp", "\"templates/include/attune/reference_types.cuh\""));
}

TEST_CASE("every kind of source is read") {
  const attune::test::TempFolder folder;
  for (const char* name : {"tuner/verify", "db", "tools"}) std::filesystem::create_directories(folder / name);
  for (const char* name : {"a.hpp", "a.cpp", "a.cu", "a.cuh", "a.js", "a.txt"})
    std::ofstream(folder / "tuner/verify" / name) << "#include \"db/records.hpp\"\n";
  const Breaches breaches = check_tree(folder.path());
  const auto told = [&](const std::string& name) {
    return std::any_of(breaches.begin(), breaches.end(),
                       [&](const auto& breach) { return breach.starts_with("tuner/verify/" + name + ":1: "); });
  };
  for (const char* name : {"a.hpp", "a.cpp", "a.cu", "a.cuh", "a.js"}) CHECK(told(name));
  CHECK_FALSE(told("a.txt"));
}

TEST_CASE("the public runtime header is for the runtime and for programs") {
  CHECK(allowed("tuner/runtime/runtime.cpp", "\"attune/runtime.hpp\""));
  CHECK(allowed("tools/cmd_explain.cpp", "\"attune/runtime.hpp\""));
  CHECK_FALSE(allowed("tuner/session/tune/session.cpp", "\"attune/runtime.hpp\""));
  CHECK_FALSE(allowed("tuner/include/attune/runtime.hpp", "\"tuner/base/text.hpp\""));
}

TEST_CASE("CUDA headers stay where the device is driven") {
  CHECK(allowed("tuner/gpu/driver.cpp", "<cuda.h>"));
  CHECK(allowed("tuner/compile/nvrtc.cpp", "<nvrtc.h>"));
  CHECK_FALSE(allowed("db/database.cpp", "<cuda.h>"));
  CHECK_FALSE(allowed("tuner/session/tune/session.cpp", "<cuda_runtime.h>"));
  CHECK_FALSE(allowed("tuner/include/attune/runtime.hpp", "\"cuda.h\""));
}

TEST_CASE("includes are written from the repository root") {
  CHECK_FALSE(allowed("tuner/spec/value.cpp", "\"value.hpp\""));
  CHECK_FALSE(allowed("tuner/spec/value.cpp", "\"../base/text.hpp\""));
}

TEST_CASE("a folder without a layer is refused") { CHECK_FALSE(allowed("tuner/fleet/server.cpp", "<vector>")); }

TEST_CASE("a file may have 350 lines and no more") {
  std::string text;
  for (int i = 0; i < 350; ++i) text += "int a;\n";
  CHECK(check_file("tuner/spec/value.cpp", text).empty());
  const Breaches breaches = check_file("tuner/spec/value.cpp", text + "int a;\n");
  REQUIRE(breaches.size() == 1);
  CHECK(breaches[0].find("351") != std::string::npos);
}

TEST_CASE("a commented or textual include is no include") {
  CHECK(check_file("tuner/spec/value.cpp", "// #include \"db/records.hpp\"\nconst char* s = \"#include <cuda.h>\";\n").empty());
}
