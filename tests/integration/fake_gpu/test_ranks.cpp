// Options::agree: processes that are ranks of a job, with databases of their own, on the fake driver.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/on_miss_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_ranks {

using namespace attune;
using nlohmann::json;
using test::best_configuration;
using test::default_configuration;
using test::Said;

namespace {

constexpr const char* kOther = R"({"block_size":64,"waves":4})";

/// A rank of a job: its database, its options beside those of all, and what it does.
struct Rank {
  std::string database;
  std::vector<std::string> steps;
  std::vector<std::string> options = {};
};

struct Job : test::OnMissProgram {
  Job() { std::filesystem::create_directories(folder / "exchange"); }

  [[nodiscard]] std::vector<Said> run(const std::vector<Rank>& ranks, const std::string& on_miss = "default") const {
    std::vector<Said> said(ranks.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      threads.emplace_back([&, rank] {
        std::vector<std::string> options = {"--exchange", (folder / "exchange").string(), "--rank", std::to_string(rank),
                                            "--ranks",    std::to_string(ranks.size())};
        if (!ranks[rank].database.empty()) options.insert(options.end(), {"--db", ranks[rank].database});
        options.insert(options.end(), ranks[rank].options.begin(), ranks[rank].options.end());
        said[rank] = program(on_miss, ranks[rank].steps, options);
      });
    }
    for (auto& thread : threads) thread.join();
    return said;
  }

  /// The tuned database under another name, after `change` of its one result.
  [[nodiscard]] std::string copy(const std::string& name, const std::function<void(db::BestRow&)>& change) const {
    const auto path = folder / name;
    db::Database::open(database, db::OpenMode::ReadOnly).export_to(path);
    auto copied = db::Database::open(path, db::OpenMode::ReadWrite);
    auto row = copied.best({}).at(0);
    change(row);
    row.cubin_key.clear();
    copied.replace(row);
    return path.string();
  }
  [[nodiscard]] std::string with_other_configuration(const std::string& name, double times) const {
    return copy(name, [times](db::BestRow& row) {
      row.configuration = kOther;
      row.median_us *= times;
    });
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(Job, "ranks with different local databases launch one configuration, and the rank that differs says so") {
  tune("1000");
  const std::string slower = with_other_configuration("slower.db", 2);
  const std::vector<std::string> steps = {"launch:1000", "launch:1000", "counters"};
  const auto said = run({{database, steps}, {slower, steps}, {database, steps}});
  for (const auto& rank : said) {
    CHECK_MESSAGE(rank.exit_code == 0, rank.errors);
    REQUIRE(rank.all("launch").size() == 2);
    for (const auto& launch : rank.all("launch")) {
      CHECK(launch["configuration"] == best_configuration());
      CHECK(launch["tier"] == "exact size");
      CHECK(launch["right"] == true);
    }
    CHECK(rank.last("counters")["exchanges"] == 2);  // of the Runtime and of the problem; the second launch needs none
    CHECK(rank.last("counters")["diverged"] == 1);
  }
  CHECK(said[0].notices_with("rank").empty());
  CHECK(said[2].notices_with("rank").empty());
  const auto differs = said[1].notices_with("rank 1 differs from rank 0 in what decides plans: databases: 1 result(s) in " + slower);
  REQUIRE(differs.size() == 1);
  CHECK(has(differs[0], "1 result(s) in " + database));
  const auto taken = said[1].notices_with("rank 1 would have taken " + std::string(kOther) + " (exact size, " + slower + ")");
  REQUIRE(taken.size() == 1);
  CHECK(has(taken[0], "kernel 'brief' at {\"T\":\"i32\",\"end\":\"well\",\"n\":1000}"));
  CHECK(has(taken[0], "all ranks take {\"block_size\":256,\"waves\":2} of rank 0 (exact size, " + database + ")"));
  CHECK(said[0].last("launch")["layer"] == database);
  CHECK(said[1].last("launch")["layer"] == database + " (rank 0)");
  CHECK(has(said[1].last("launch")["agreement"], "all ranks take"));
}

TEST_CASE_FIXTURE(Job, "the faster result is taken by all, whichever rank has it, and the others say so") {
  tune("1000");
  const std::string faster = with_other_configuration("faster.db", 0.5);
  const std::vector<std::string> steps = {"launch:1000", "counters"};
  const auto said = run({{database, steps}, {faster, steps}});
  for (const auto& rank : said) {
    CHECK(rank.last("launch")["configuration"] == base::parse_json(kOther));
    CHECK(rank.last("launch")["right"] == true);
  }
  CHECK(said[0].notices_with("rank 0 would have taken").size() == 1);
  CHECK(said[1].notices_with("would have taken").empty());
}

TEST_CASE_FIXTURE(Job, "ranks whose databases have the same results in different files differ in nothing") {
  tune("1000");
  const std::string same = copy("same.db", [](db::BestRow&) {});
  const std::vector<std::string> steps = {"launch:1000", "counters"};
  for (const auto& rank : run({{database, steps}, {same, steps}})) {
    CHECK(rank.last("launch")["configuration"] == best_configuration());
    CHECK(rank.last("launch")["agreement"] == "");
    CHECK(rank.last("counters")["exchanges"] == 2);
    CHECK(rank.last("counters")["diverged"] == 0);
    CHECK(rank.last("counters")["notices"].empty());
  }
}

TEST_CASE_FIXTURE(Job, "a problem that one rank has tuned is no miss for any, and one that none has tuned is an error for all") {
  tune("1000");
  const std::string nothing = copy("nothing.db", [](db::BestRow& row) { row.policy = "hot/graph"; });
  auto empty = db::Database::open(nothing, db::OpenMode::ReadWrite);
  const auto row = empty.best({.policy = "cold/graph"}).at(0);
  empty.forget_best({.template_hash = row.template_hash, .problem = row.problem, .device_key = row.device_key, .policy = row.policy});
  const std::vector<std::string> steps = {"launch:1000", "launch:100000000", "counters"};
  for (const auto& rank : run({{nothing, steps}, {database, steps}}, "error")) {
    CHECK(rank.all("launch").size() == 1);
    CHECK(rank.last("launch")["configuration"] == best_configuration());
    CHECK(rank.last("error")["type"] == "NotTunedError");
    CHECK(rank.last("error")["step"] == "launch:100000000");
  }
}

TEST_CASE_FIXTURE(Job, "ranks on different architectures that would take different configurations take the default") {
  settings["devices"] = {json::object(), {{"name", "Fake A100"}, {"compute_capability", 80}, {"sm_count", 108}}};
  tune("1000");
  const std::string other = with_other_configuration("other.db", 1);
  const auto said = run({{database, {"launch:1000", "counters"}}, {other, {"device:1", "launch:1000", "counters"}}});
  for (const auto& rank : said) {
    CHECK(rank.last("launch")["configuration"] == default_configuration());
    CHECK(rank.last("launch")["right"] == true);
  }
  CHECK(said[0].notices_with("all ranks take the template's default").size() == 1);
}

TEST_CASE_FIXTURE(Job, "ranks that are out of step throw, each naming both problems, and may go on together") {
  const auto said = run({{"", {"launch:1000", "launch:3000", "counters"}}, {"", {"launch:2000", "launch:3000", "counters"}}});
  for (const auto& rank : said) {
    const auto error = rank.last("error");
    CHECK(error["type"] == "AgreementError");
    CHECK(has(error["what"], "out of step"));
    CHECK(has(error["what"], "\"n\":1000"));
    CHECK(has(error["what"], "\"n\":2000"));
    REQUIRE(rank.all("launch").size() == 1);
    CHECK(rank.last("launch")["right"] == true);
  }
}

TEST_CASE_FIXTURE(Job, "an exchange that returns cut texts, too few or none is an error that says so, and launches nothing") {
  for (const auto& [fault, type, words] :
       std::vector<std::array<std::string, 3>>{{"cut", "AgreementError", "of rank 1 is no text of a rank (it is no JSON; was it cut off?)"},
                                               {"few", "AgreementError", "returned 1 texts, and 2 when the Runtime was made"},
                                               {"throw", "exception", "the exchange itself has failed"}}) {
    CAPTURE(fault);
    std::filesystem::remove_all(folder / "exchange");
    std::filesystem::create_directories(folder / "exchange");
    const auto said = run({{"", {"launch:1000", "counters"}, {"--fault", fault, "--fault-at", "2"}}, {"", {"launch:1000", "counters"}}});
    CHECK(said[0].last("launch").is_null());
    CHECK(said[0].last("error")["type"] == type);
    CHECK(has(said[0].last("error")["what"], words));
    CHECK(said[1].last("launch")["right"] == true);
  }
}

TEST_CASE_FIXTURE(Job, "while ranks talk about a new problem, other threads launch known ones") {
  const auto said = run({{"", {"launch:1000", "meanwhile:5000"}}, {"", {"launch:1000", "hold:5", "launch:5000"}}});
  CHECK(said[0].last("meanwhile")["right"] == true);
  CHECK(said[0].last("meanwhile")["under_way"] == true);
  CHECK(said[1].all("launch").size() == 2);
}

TEST_CASE_FIXTURE(Job, "threads of one rank that come to the same new problem exchange it once") {
  const auto said = run({{"", {"race:1000", "counters"}}, {"", {"launch:1000", "counters"}}});
  CHECK(said[0].last("race")["right"] == 4);
  for (const auto& rank : said) CHECK(rank.last("counters")["exchanges"] == 2);
}

}  // namespace test_ranks
