#include <doctest/doctest.h>

#include <algorithm>

#include "attune/error.hpp"
#include "bench/support/json.hpp"
#include "bench/support/search_cases.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/space/search_space.hpp"

namespace test_search_cases {

using namespace attune;
using bench::CaseFile;
using bench::Json;
using bench::MarkKind;
using bench::SearchCase;

namespace {

const std::string kBench = ATTUNE_SOURCE_DIR "/bench/";

SearchCase with_goal(double behind, std::optional<double> command_s = std::nullopt) {
  SearchCase one;
  one.goal_behind = behind;
  one.goal_command_s = command_s;
  return one;
}

}  // namespace

TEST_CASE("every mark of the repository is a configuration of its problem's space, and a recorded one won there") {
  const session::Recording recording = session::Recording::load(kBench + "spaces/h200_reduce_f32_sum_2_22.json.zst");
  const auto won = [](const std::string& file) {
    return session::Recording::load(ATTUNE_SOURCE_DIR "/" + file).problems.at(0).finalists.at(0);
  };
  const CaseFile file(kBench + "marks.json");
  REQUIRE(file.cases().size() == 3);
  for (const SearchCase& one : file.cases()) {
    CAPTURE(one.name);
    CHECK((one.mark.kind == MarkKind::Dispatched) == one.mark.configuration.empty());
    if (one.mark.configuration.empty()) continue;
    const auto kernel = spec::TemplateLibrary().find(one.template_name);
    const auto space = space::SearchSpace::build(kernel, one.problem, recording.device);
    CHECK(space.find(spec::configuration_from_text(kernel, one.mark.configuration)).has_value());
    if (one.mark.kind != MarkKind::Recorded) continue;
    CHECK(won(one.mark.from) == one.mark.configuration);
    for (const auto& [device, own] : one.marks_on) {
      CAPTURE(device);
      CHECK(won(own.from) == own.configuration);
      CHECK(session::Recording::load(ATTUNE_SOURCE_DIR "/" + own.from).device.name == device);
    }
  }
}

TEST_CASE("a case is tuned by the words of its problem and its options") {
  const auto cases = CaseFile(kBench + "marks.json").named({"gemm"});
  REQUIRE(cases.size() == 1);
  auto words = bench::words_of(cases.front());
  CHECK(words.front() == ATTUNE_SOURCE_DIR "/examples/templates/gemm");
  words.erase(words.begin());
  CHECK(words == std::vector<std::string>{"--k", "4096", "--m", "4096", "--n", "4096"});
  SearchCase part = cases.front();
  part.options = {"--where", "stages == 1"};
  CHECK(bench::words_of(part).back() == "stages == 1");
}

TEST_CASE("a goal is reached by time and command both, and a goal of 0 by what cannot be told from the mark") {
  CHECK(bench::reaches(with_goal(0.01), 0.01, 0.005, 99));
  CHECK_FALSE(bench::reaches(with_goal(0.01), 0.011, -0.005, 99));
  CHECK(bench::reaches(with_goal(0.01, 9), 0, 0, 9));
  CHECK_FALSE(bench::reaches(with_goal(0.01, 9), 0, 0, 9.1));
  CHECK(bench::reaches(with_goal(0), 0.001, -0.001, 99));
  CHECK_FALSE(bench::reaches(with_goal(0), 0.001, 0.0005, 99));
}

TEST_CASE("another mark changes nothing else of the file") {
  const test::TempFolder folder;
  const auto path = folder / "marks.json";
  Json before = bench::parse_json(base::read_file(kBench + "marks.json"));
  for (Json& one : before.at("cases")) {
    if (one.at("case") == "gemm") one.at("template") = ATTUNE_SOURCE_DIR "/examples/templates/gemm";
  }
  test::write_bytes(path, bench::dump_json(before));
  CaseFile file(path);
  auto configuration = before.at("cases")[2].at("mark").at("configuration");
  configuration["pad"] = 0;
  file.replace_mark("gemm", bench::dump_json(configuration), "a search");
  Json after = bench::parse_json(base::read_file(path));
  CHECK(after.at("cases")[2].at("mark") == Json{{"is", "found"}, {"configuration", configuration}, {"from", "a search"}});
  CHECK(file.named({"gemm"}).front().mark.from == "a search");
  after.at("cases")[2].at("mark") = before.at("cases")[2].at("mark");
  CHECK(after == before);
}

TEST_CASE("what a file of marks has wrong is told with the file's name") {
  const test::TempFolder folder;
  const auto path = folder / "marks.json";
  const auto refusal = [&](const std::string& text) {
    test::write_bytes(path, text);
    try {
      const CaseFile file(path);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal("{").find(path.string()) != std::string::npos);
  CHECK(refusal(R"({"cases": [{"case": "one"}]})").find("template") != std::string::npos);
  const std::string wrong = refusal(
      R"({"cases": [{"case": "one", "template": "reduce", "problem": {"T": "f32", "op": "sum", "n": 8}, "budget_s": 1, "goal_behind": 0,
          "mark": {"is": "guessed", "from": "nowhere"}}]})");
  CHECK(wrong.find("\"guessed\"") != std::string::npos);
  CHECK_THROWS_WITH_AS((void)CaseFile(kBench + "marks.json").named({"gem"}), doctest::Contains("none called 'gem'"), UsageError);
}

}  // namespace test_search_cases
