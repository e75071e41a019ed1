// `attune ladder` from recordings, through the real executable.
#include <doctest/doctest.h>

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "db/database.hpp"
#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_ladder {

using namespace attune;
using nlohmann::json;
using test::Cli;

namespace {

/// A driver that is here has no device for the command.
const std::map<std::string, std::string> kNoGpu = {{"CUDA_VISIBLE_DEVICES", ""}};

/// The small template with a ladder: the recording's times are 5 + (7 i mod 11) us in the order of the enumeration.
struct Ladder : Cli {
  Ladder() { write("double_it/ladder.json", text()); }

  static std::string text() {
    return R"json({
  "attune_ladder": 1,
  "defaults": {"T": "f32"},
  "tables": ["items"],
  "rungs": [
    {"name": "small blocks", "why": "a beginning", "where": "block_size == 64",
     "published": [{"text": "1 GB/s", "hardware": "X100", "source": "a paper"}]},
    {"name": "none", "why": "impossible here", "where": "block_size == 64 and n < 5"},
    {"name": "two waves", "why": "more blocks", "where": "waves == 2"},
    {"name": "all", "why": "everything", "where": "True"}
  ]
})json";
  }
  std::vector<std::string> words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"ladder", kernel, "--size", "1000", "--replay", recording};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<json> events(const std::vector<std::string>& more, const std::string& name) const {
    auto all = words(more);
    all.push_back("--json");
    const auto result = attune(all);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    std::vector<json> found;
    std::size_t start = 0;
    for (std::size_t end = result.out.find('\n'); end != std::string::npos; start = end + 1, end = result.out.find('\n', start)) {
      auto event = base::parse_json(result.out.substr(start, end - start));
      if (event["event"] == name) found.push_back(std::move(event));
    }
    return found;
  }
  /// The fastest time among the stored records that `counts` admits.
  template <class Counts>
  double fastest(Counts counts) const {
    double us = 1e9;
    for (const auto& row : db::Database::open(database, db::OpenMode::ReadOnly).records({})) {
      if (counts(base::parse_json(row.configuration))) us = std::min(us, row.median_us);
    }
    return us;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Ladder, "each rung shows the fastest of its part of the space, an empty one says so, and none is left out") {
  const auto ladders = events({}, "ladder");
  REQUIRE(ladders.size() == 1);
  const json& rungs = ladders[0]["rungs"];
  REQUIRE(rungs.size() == 4);
  CHECK(rungs[0]["name"] == "small blocks");
  CHECK(rungs[0]["configurations"] == 6);
  CHECK(rungs[0]["median_us"] == fastest([](const json& c) { return c["block_size"] == 64; }));
  CHECK(rungs[1]["configurations"] == 0);
  CHECK(rungs[1]["median_us"].is_null());
  CHECK(rungs[2]["median_us"] == fastest([](const json& c) { return c["waves"] == 2; }));
  CHECK(rungs[3]["configurations"] == space_size);
  CHECK(rungs[3]["median_us"] == fastest([](const json&) { return true; }));
  // The step passes over the empty rung.
  CHECK(rungs[2]["step"].get<double>() == doctest::Approx(rungs[0]["median_us"].get<double>() / rungs[2]["median_us"].get<double>()));
  CHECK(rungs[0]["step"].is_null());
  // 8000 bytes of the problem, 4 TB/s of the recording.
  CHECK(rungs[0]["bytes_per_s"].get<double>() == doctest::Approx(8000 / (rungs[0]["median_us"].get<double>() * 1e-6)));
  CHECK(rungs[0]["ceiling_share"].get<double>() == doctest::Approx(rungs[0]["bytes_per_s"].get<double>() / 4e12));
  CHECK(rungs[0]["published"][0]["hardware"] == "X100");
}

TEST_CASE_FIXTURE(Ladder, "the winning rung is tabulated by the values of the ladder's parameters") {
  const auto ladders = events({}, "ladder");
  const json& tables = ladders.at(0)["tables"];
  REQUIRE(tables.size() == 1);
  CHECK(tables[0]["parameter"] == "items");
  const json& rungs = ladders[0]["rungs"];
  const auto best = std::find_if(rungs.begin(), rungs.end(), [&](const json& rung) { return rung["median_us"] == rungs[3]["median_us"]; });
  CHECK(tables[0]["rung"] == (*best)["name"]);
  const bool small = (*best)["name"] == "small blocks", waves = (*best)["name"] == "two waves";
  REQUIRE(tables[0]["cells"].size() == 3);
  for (const json& cell : tables[0]["cells"]) {
    CHECK(cell["median_us"] == fastest([&](const json& c) {
            return base::dump_json(c["items"]) == cell["value"] && (!small || c["block_size"] == 64) && (!waves || c["waves"] == 2);
          }));
  }
}

TEST_CASE_FIXTURE(Ladder, "a sampled rung takes as many as it says, drawn by the seed, and the table says of how many") {
  write("double_it/ladder.json",
        R"({"attune_ladder": 1, "defaults": {"T": "f32"}, "rungs": [{"name": "all", "why": "w", "where": "True", "sample": 5}]})");
  const json first = events({}, "ladder").at(0);
  CHECK(first["planned"] == 5);
  CHECK(first["measured"] == 5);
  CHECK(first["rungs"][0]["decided"] == 5);
  CHECK(first["rungs"][0]["configurations"] == space_size);
  const auto again = attune(words());  // the same seed
  CHECK(again.out.find(fmt::format("at most 5 of {} configurations", space_size)) != std::string::npos);
  CHECK(again.out.find(fmt::format("(of 5 of {} tried)", space_size)) != std::string::npos);
  CHECK(events({"--seed", "2"}, "ladder").at(0)["measured"].get<int>() > 0);
  // A budget of the command's takes the place of the ladder's samples.
  CHECK(events({"--budget", "100%"}, "ladder").at(0)["rungs"][0]["decided"] == space_size);
}

TEST_CASE_FIXTURE(Ladder, "a second ladder measures nothing, and tune finds everything of the ladder's rungs known") {
  REQUIRE(events({}, "ladder").at(0)["measured"] == space_size);
  CHECK(events({}, "ladder").at(0)["measured"] == 0);
  auto again = tune_words({"--json"});
  again[5] = "1000";
  const auto tuned = attune(again);
  CHECK(tuned.out.find("\"nothing_left\":true") != std::string::npos);
}

TEST_CASE_FIXTURE(Ladder, "as text every rung has its line, and the first line says that nothing is measured") {
  const auto result = attune(words());
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.out.find("REPLAY, nothing is measured here") == 0);
  for (const char* name : {"\nsmall blocks ", "\nnone ", "\ntwo waves ", "\nall "}) CHECK(result.out.find(name) != std::string::npos);
  CHECK(result.out.find("empty here") != std::string::npos);
  CHECK(result.out.find("read ceiling 4000 GB/s") != std::string::npos);
  CHECK(result.out.find("published: 1 GB/s (X100; a paper)") != std::string::npos);
  CHECK(result.out.find("times of one run-off") != std::string::npos);  // the recording ran the rungs' fastest off
}

TEST_CASE_FIXTURE(Ladder, "the page holds the ladder with its peers, and later reports keep the ladder") {
  json file = {{"bench", "x"}, {"driver", "1"}, {"date", "2026-01-01T00:00:00Z"}, {"peer_version", "Lib 2"}, {"rows", json::array()}};
  file["device"] = base::parse_json(attune({"ladder", kernel, "--size", "1000", "--replay", recording}).exit_code == 0
                                        ? db::Database::open(database, db::OpenMode::ReadOnly).devices().at(0).info_json
                                        : "{}");
  const json problem = {{"T", "f32"}, {"n", 1000}};
  file["rows"].push_back({{"problem", problem}, {"policy", "cold/graph"}, {"peer", "lib::Double"}, {"peer_us", 16.0}});
  file["rows"].push_back({{"problem", problem}, {"policy", "hot/graph"}, {"peer", "lib::Hot"}, {"peer_us", 15.0}});
  file["rows"].push_back({{"problem", {{"T", "f32"}, {"n", 2000}}}, {"policy", "cold/graph"}, {"peer", "lib::Larger"}, {"peer_us", 14.0}});
  write("peers.json", base::dump_json(file));
  const std::string peers = (folder / "peers.json").string(), page = (folder / "ladder.html").string();
  const auto shown = attune(words({"--peers", peers, "--html", page}));
  CAPTURE(shown.err);
  REQUIRE(shown.exit_code == 0);
  CHECK(shown.out.find("peer lib::Double  16.000") != std::string::npos);
  CHECK(shown.out.find("lib::Hot") == std::string::npos);
  CHECK(shown.out.find("lib::Larger") == std::string::npos);
  const std::string html = read("ladder.html");
  CHECK(html.find("Ladder of published variants") != std::string::npos);
  CHECK(html.find("Peer: lib::Double") != std::string::npos);
  CHECK(html.find("small blocks") != std::string::npos);
  const json report = base::parse_json(attune({"report", "double_it", "--format", "json"}).out);
  CHECK(report["series"][0]["problems"][0]["ladder"]["rungs"].size() == 4);

  json lacking = file;
  lacking["rows"][1] = {{"policy", "cold/graph"}, {"peer", "lib::Hot"}, {"peer_us", 15.0}};
  write("peers.json", base::dump_json(lacking));
  const auto refused = attune(words({"--peers", peers}));
  CHECK(refused.exit_code == 3);
  CHECK(refused.err.find("peers.json: failed reading peers: row 2: field 'problem' is missing") != std::string::npos);

  file["device"]["sm_count"] = 7;
  write("peers.json", base::dump_json(file));
  const auto other = attune(words({"--peers", peers}));
  CHECK(other.exit_code == 0);
  CHECK(other.out.find("lib::Double") == std::string::npos);
  CHECK(other.err.find("another device") != std::string::npos);
  write("peers.json", "[]");
  CHECK(attune(words({"--peers", peers})).exit_code == 3);
  CHECK(attune(words({"--peers", (folder / "missing.json").string()})).exit_code == 2);
}

TEST_CASE_FIXTURE(Ladder, "a ladder that cannot be used is refused with its place, a template without one with a word what it is") {
  std::string wrong = text();
  wrong.replace(wrong.find("waves == 2"), 5, "wafes");
  write("double_it/ladder.json", wrong);
  for (const auto& command : {words(), std::vector<std::string>{"template", "check", kernel}}) {
    const auto result = attune(command);
    CHECK(result.exit_code == 3);
    CHECK(result.err.find("ladder.json:9:59: unknown variable 'wafes'") != std::string::npos);
    CHECK(result.err.find("did you mean 'waves'?") != std::string::npos);
  }
  CHECK(attune(tune_words()).exit_code == 0);  // tuning does not need it
  std::filesystem::remove(kernel + "/ladder.json");
  const auto none = attune(words());
  CHECK(none.exit_code == 2);
  CHECK(none.err.find("has no ladder") != std::string::npos);
}

TEST_CASE_FIXTURE(Ladder, "its problems may come from a file or a recording") {
  write("problems.jsonl", R"({"T": "f32", "n": 1000})");
  for (const auto& file : {(folder / "problems.jsonl").string(), recording}) {
    const auto result = attune({"ladder", kernel, "--problems", file, "--replay", recording});
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("\nsmall blocks ") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Ladder, "template check counts each rung") {
  const json checked = base::parse_json(attune({"template", "check", kernel, "--json"}).out)[0];
  REQUIRE(checked["ladder"].size() == 4);
  CHECK(checked["ladder"][0]["configurations"] == 6);
  CHECK(checked["ladder"][1]["configurations"] == 0);
  CHECK(checked["ladder"][3]["configurations"] == space_size);
  CHECK(checked["ladder_planned"] == space_size);  // the last rung holds the others
}

TEST_CASE_FIXTURE(Ladder, "a page that could not be written is refused before anything is measured") {
  const auto refused = attune(words({"--html", (folder / "missing" / "page.html").string()}));
  CHECK(refused.exit_code == 4);
  CHECK(refused.err.find("there is no folder") != std::string::npos);
  CHECK(refused.out.empty());
}

TEST_CASE_FIXTURE(Cli, "problems that differ in one of two sizes are a table of rungs over it, and a curve of the page") {
  const auto page = (folder / "ladder.html").string();
  const auto result =
      attune({"ladder", "segmented_reduce", "--T", "f32", "--rows", "1024", "--columns", "1024,262144", "--html", page}, kNoGpu);
  CAPTURE(result.err);
  REQUIRE(result.out.find("REPLAY") != std::string::npos);
  REQUIRE(result.exit_code == 0);
  const auto table = result.out.find("\nGB/s over columns, T=f32 op=sum rows=2^10\nrung ");
  REQUIRE(table != std::string::npos);
  const std::string text = result.out.substr(table, result.out.find("\n\n", table + 1) - table);
  // A thread a row has nothing for so long rows; a block a row has.
  const auto line = [&](const std::string& rung) {
    const auto begin = text.find("\n" + rung + " ") + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  CHECK(line("thread").back() == '-');
  CHECK(line("block").back() != '-');
  for (const char* rung : {"\nsub-warp ", "\nticket ", "\nwhole space "}) CHECK(text.find(rung) != std::string::npos);
  CHECK(read("ladder.html")
            .find("<select data-curve=\"0\"><option value=\"columns:0,1\" selected>columns at rows = 2^10</option></select>") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Cli, "without a GPU the ladder of reduce comes from the shipped recordings, whichever hold its sizes") {
  // The rungs of 2^16 and 2^18 are in one recording; of 2^17 only what tuning measured is in another.
  const auto result = attune({"ladder", "reduce", "--T", "f32", "--size", "64K..256K", "--json"}, kNoGpu);
  CAPTURE(result.err);
  REQUIRE(result.out.find("\"replay\":true") != std::string::npos);
  REQUIRE(result.exit_code == 0);
  std::vector<json> ladders;
  json start;
  int left_out = 0;
  std::size_t begin = 0;
  for (std::size_t end = result.out.find('\n'); end != std::string::npos; begin = end + 1, end = result.out.find('\n', begin)) {
    const auto event = base::parse_json(result.out.substr(begin, end - begin));
    if (event["event"] == "start") start = event;
    if (event["event"] == "ladder") ladders.push_back(event);
    if (event["event"] == "notice" && event["text"].get<std::string>().find("not in the recording") != std::string::npos) ++left_out;
  }
  CHECK(left_out == 1);  // of both recordings together
  CHECK(start["origins"].size() == 2);
  REQUIRE(ladders.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(ladders[i]["problem"] == json({{"T", "f32"}, {"op", "sum"}, {"n", 65536 << i}}));
    // Recordings ran their own finalists off, not the rungs'; of 2^17 the few rungs that have a time may all be among those.
    if (i != 1) CHECK(ladders[i]["ran_off"] == false);
    CHECK(ladders[i]["read_ceiling_bytes_per_s"].get<double>() > 4e12);
    for (const json& rung : ladders[i]["rungs"]) {
      CAPTURE(base::dump_json(rung));
      if (rung["median_us"].is_number()) CHECK(rung["ceiling_share"].get<double>() < 1);
    }
    if (i == 1) continue;
    // Every rung that holds something has a time, and one launch beats two at these sizes on an H200.
    const auto us = [&](const char* name) {
      for (const json& rung : ladders[i]["rungs"]) {
        if (rung["name"] == name) return rung["median_us"].get<double>();
      }
      return 0.0;
    };
    for (const json& rung : ladders[i]["rungs"]) CHECK((rung["median_us"].is_number() || rung["configurations"] == 0));
    CHECK(us("ticket") < us("two launches"));
    CHECK(us("whole space") <= us("ticket"));
  }
}

}  // namespace test_ladder
