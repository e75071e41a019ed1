// Where the command is looked for that tunes on a miss.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "attune/error.hpp"
#include "tests/unit/runtime/environment.hpp"
#include "tuner/runtime/tuning_worker.hpp"

/// As in a program that found attune in this prefix (cmake/attuneConfig.cmake.in).
extern "C" __attribute__((weak)) const char* const attune_found_worker;
extern "C" {
const char* const attune_found_worker = ATTUNE_BINARY_DIR "/tests/unit/runtime/found_prefix/bin/attune";
}

namespace test_tuning_worker {

using namespace attune;
namespace fs = std::filesystem;

namespace {

struct Prefix {
  test::Variable worker{"ATTUNE_WORKER", std::nullopt};
  fs::path command = attune_found_worker;
  fs::path prefix = command.parent_path().parent_path();

  Prefix() {
    fs::remove_all(prefix);
    fs::create_directories(command.parent_path());
    std::ofstream(command) << "#!/bin/sh\n";
    fs::permissions(command, fs::perms::owner_all);
  }
  ~Prefix() { fs::remove_all(prefix); }
  Prefix(const Prefix&) = delete;
  Prefix& operator=(const Prefix&) = delete;
};

}  // namespace

TEST_CASE_FIXTURE(Prefix, "the command of the prefix that attune was found in comes before those of places that were configured") {
  CHECK(runtime::find_tuning_worker({}) == command);
}

TEST_CASE_FIXTURE(Prefix, "a command that others could have put into that prefix is not started") {
  fs::permissions(command, fs::perms::others_write, fs::perm_options::add);
  std::string found;
  try {
    found = runtime::find_tuning_worker({}).string();  // where the build tree has one it is that
  } catch (const EnvironmentError& error) {
    CHECK(std::string(error.what()).find(command.string() + " (not trusted: ") != std::string::npos);
  }
  CHECK(found != command);
}

TEST_CASE_FIXTURE(Prefix, "a command that the program or the environment names is taken, and no other") {
  const test::Variable named("ATTUNE_WORKER", "/nonexistent/attune");
  CHECK_THROWS_WITH_AS(static_cast<void>(runtime::find_tuning_worker({})), doctest::Contains("/nonexistent/attune"), EnvironmentError);
  CHECK(runtime::find_tuning_worker(command) == command);
}

}  // namespace test_tuning_worker
