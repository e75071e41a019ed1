#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "bench/support/scored_spaces.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/json.hpp"

namespace test_scored_spaces {

using namespace attune;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Folders of recorded spaces, one configuration each.
struct Folders {
  test::TempFolder root;

  fs::path write(const std::string& name, const std::vector<std::string>& parameters) const {
    json entry{{"time", 1.0}};
    for (const auto& parameter : parameters) entry[parameter] = 1;
    const fs::path path = root / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << base::dump_json({{"tune_params_keys", parameters}, {"cache", {{"1", entry}}}});
    return path;
  }
};

std::vector<std::string> names(const std::vector<std::size_t>& places, const std::vector<bench::ScoredSpace>& spaces) {
  std::vector<std::string> all;
  for (const std::size_t place : places) all.push_back(spaces[place].name);
  return all;
}

}  // namespace

TEST_CASE("a space's short name is its folder's and file's, wherever the folder lies and however it was written") {
  CHECK(bench::short_name("/home/me/spaces/convolution_milo/A100_T4.json.gz") == "convolution_milo/A100_T4.json.gz");
  CHECK(bench::short_name("/elsewhere/convolution_milo/x/../A100_T4.json.gz") == "convolution_milo/A100_T4.json.gz");
  CHECK(bench::short_name("A100_T4.json.gz") == fs::current_path().filename().string() + "/A100_T4.json.gz");
  CHECK(bench::short_name("/a/b/c.json", "n=4") == "b/c.json n=4");
}

TEST_CASE_FIXTURE(Folders, "a folder stands for the recordings in it, and what lies below or is none stays out") {
  write("gemm/b.json", {"x"});
  write("gemm/a.json", {"x"});
  write("gemm/below/c.json", {"x"});
  std::ofstream(root / "gemm" / "README.md") << "none";
  const auto files = bench::recorded_files({root / "gemm"});
  REQUIRE(files.size() == 2);
  CHECK(files[0].filename() == "a.json");
  CHECK(files[1].filename() == "b.json");
}

TEST_CASE_FIXTURE(Folders, "files that results could not tell apart are refused, and so are folders of nothing") {
  const auto one = write("here/gemm/a.json", {"x"}), other = write("there/gemm/a.json", {"x"});
  CHECK_THROWS_WITH_AS(static_cast<void>(bench::recorded_files({one, other})), doctest::Contains("are both 'gemm/a.json'"), UsageError);
  CHECK_THROWS_WITH_AS(static_cast<void>(bench::recorded_files({one, one})), doctest::Contains("are both"), UsageError);
  CHECK_THROWS_AS(static_cast<void>(bench::recorded_files({root / "here"})), UsageError);
  CHECK_THROWS_AS(static_cast<void>(bench::recorded_files({root / "nowhere"})), UsageError);
}

TEST_CASE_FIXTURE(Folders, "a space is learnt about from others of its folder and parameters, never from itself") {
  const auto spaces = bench::read_scored_spaces(
      bench::recorded_files({write("gemm/a.json", {"x", "y"}), write("gemm/b.json", {"y", "x"}), write("gemm/c.json", {"x", "y"}),
                             write("gemm/other.json", {"x", "z"}), write("elsewhere/d.json", {"x", "y"})}));
  REQUIRE(spaces.size() == 5);
  REQUIRE(spaces[1].name == "gemm/a.json");
  CHECK(names(bench::sources_for(1, spaces), spaces) == std::vector<std::string>{"gemm/b.json", "gemm/c.json"});
  CHECK(names(bench::sources_for(2, spaces), spaces) == std::vector<std::string>{"gemm/a.json", "gemm/c.json"});
  CHECK(bench::sources_for(0, spaces).empty());
  CHECK(bench::sources_for(4, spaces).empty());
}

TEST_CASE_FIXTURE(Folders, "problems of one file are one device's, so that none tells of another") {
  auto spaces = bench::read_scored_spaces({write("gemm/a.json", {"x"}), write("gemm/b.json", {"x"})});
  spaces.push_back(spaces[0]);  // as a recording of two problems gives them
  spaces[2].name += " n=4";
  CHECK(names(bench::sources_for(2, spaces), spaces) == std::vector<std::string>{"gemm/b.json"});
}

TEST_CASE_FIXTURE(Folders, "what several devices measured is called by its folder, what one did by itself") {
  const auto spaces = bench::read_scored_spaces({write("gemm/a.json", {"x"}), write("gemm/b.json", {"x"}), write("gemm/c.json", {"z"})});
  CHECK(bench::common_name(0, spaces) == "gemm");
  CHECK(bench::common_name(2, spaces) == "gemm/c.json");
}

TEST_CASE_FIXTURE(Folders, "the digest of a space tells its file from one of other contents") {
  const auto first = bench::read_scored_spaces({write("gemm/a.json", {"x"})}).at(0).digest;
  CHECK(bench::read_scored_spaces({write("gemm/a.json", {"x"})}).at(0).digest == first);
  CHECK(bench::read_scored_spaces({write("gemm/a.json", {"y"})}).at(0).digest != first);
}

}  // namespace test_scored_spaces
