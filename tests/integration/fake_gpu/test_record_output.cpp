// What attune record writes onto; tests/integration/test_outputs.cpp has the commands that need no GPU.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tuner/base/files.hpp"
#include "tuner/session/source/recording.hpp"

namespace test_record_output {

using namespace attune;
using test::FakeGpu;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> record_words(const FakeGpu& gpu, const std::string& output) {
  auto words = gpu.tune_words("none", {"--output", output});
  words.front() = "record";
  return words;
}

}  // namespace

TEST_CASE_FIXTURE(FakeGpu, "a recording is written through links, into pipes and to standard output, where it is alone") {
  fs::create_symlink("far.json", folder / "link.json");
  const auto linked = attune(record_words(*this, (folder / "link.json").string()));
  CAPTURE(linked.err);
  REQUIRE(linked.exit_code == 0);
  CHECK(fs::is_symlink(folder / "link.json"));
  const auto first = session::Recording::load(folder / "far.json");
  CHECK(linked.out.find("into " + (folder / "link.json").string()) != std::string::npos);
  for (const char* name : {"-", "/dev/stdout"}) {
    CAPTURE(name);
    const auto straight = attune(record_words(*this, name));
    REQUIRE(straight.exit_code == 0);
    CHECK(session::Recording::parse(straight.out, name).problems.size() == first.problems.size());
    CHECK(straight.err.find("recorded 1 problems") != std::string::npos);
  }
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  auto words = record_words(*this, (folder / "pipe").string());
  const int pid = start(words);
  const std::string piped = base::read_file(folder / "pipe");
  CHECK(test::wait_for(pid) == 0);
  CHECK(session::Recording::parse(piped, "pipe").problems.size() == first.problems.size());
  CHECK(fs::is_fifo(folder / "pipe"));
}

TEST_CASE_FIXTURE(FakeGpu,
                  "an output that cannot be is refused before anything is measured, a full one after it, and what was measured stays") {
  const auto refused = [&](const std::string& output, int exit_code) {
    CAPTURE(output);
    const auto result = attune(record_words(*this, output));
    CAPTURE(result.err);
    CHECK(result.exit_code == exit_code);
    CHECK(records().empty());
  };
  refused(database, 2);
  refused(database + ".lock", 2);
  refused(folder.path().string(), 2);
  refused("/dev/fd/77", 2);
  refused((folder / "none" / "file.json").string(), 4);
  CHECK(attune(record_words(*this, "/dev/full")).exit_code == 4);
  CHECK(fs::is_character_file("/dev/full"));
  CHECK_FALSE(records().empty());
}

}  // namespace test_record_output
