// bench/winner_repeat, whose runs may be made in parts: what a file holds is added to, and never mixed.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"

namespace test_winner_repeat {

using namespace attune;
using nlohmann::json;
using test::FakeGpu;

namespace {

struct Repeated : FakeGpu {
  Repeated() { environment["ATTUNE_WORKER"] = ATTUNE_EXECUTABLE; }

  /// `options` of the program; `words`: of its tune command.
  test::CommandResult repeat(const std::vector<std::string>& options, const std::vector<std::string>& words) const {
    std::vector<std::string> all{ATTUNE_WINNER_REPEAT, "--output",   folder.path().string(),
                                 "--keep-cache",       "--template", ATTUNE_SOURCE_DIR "/tests/support/fake_templates/synthetic"};
    all.insert(all.end(), options.begin(), options.end());
    all.emplace_back("--");
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all);
  }

  /// The results; empty while there are none.
  std::filesystem::path file() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      if (entry.path().filename() == "winner_repeat.json") return entry.path();
    }
    return {};
  }

  json results() const {
    REQUIRE_FALSE(file().empty());
    return base::parse_json(base::read_file(file()));
  }
};

std::vector<std::string> one_of(const std::string& size) {
  return {"--T", "i32", "--faults", "none", "--size", size, "--compile-workers", "2", "--strategy", "random", "--budget", "1"};
}

}  // namespace

TEST_CASE_FIXTURE(Repeated, "--more adds runs to those of the file, which stay as they were, where both are of one command and content") {
  const auto refused = [&](const std::string& size, const std::string& why) {
    const auto result = repeat({"--runs", "1", "--more"}, one_of(size));
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.find(why) != std::string::npos);
  };
  refused("1000", "there is no such file; leave --more away");
  REQUIRE(repeat({"--runs", "1"}, one_of("1000")).exit_code == 0);
  const json before = results();
  CHECK(before.at("runs") == 1);
  const auto more = repeat({"--runs", "1", "--more"}, one_of("1000"));
  CAPTURE(more.err);
  REQUIRE(more.exit_code == 0);
  json after = results();
  CHECK(after.at("runs") == 2);
  REQUIRE(after.at("rows").size() == 2);
  for (const char* decided : {"winner", "tie_set", "best_us", "finalists", "command_s"}) {
    CAPTURE(decided);
    CHECK(after.at("rows")[0].at(decided) == before.at("rows")[0].at(decided));
  }
  refused("2000", "its \"arguments\" is");
  CHECK(results() == after);
  after["content"] = "0000000000000000";
  std::ofstream(file()) << base::dump_json(after);
  refused("1000", "its \"content\" is \"0000000000000000\"");
  CHECK(results() == after);
}

}  // namespace test_winner_repeat
