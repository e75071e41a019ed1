// A GPU worker that is lost within a search is replaced, and the problem prepared anew there, as long as the budget and the user wait.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/integration/fake_gpu/costly_fixture.hpp"

namespace test_lost_workers {

using namespace attune;
using test::Costly;
using test::replaced;

TEST_CASE_FIXTURE(Costly,
                  "what prepares anew after a worker's death ends with the budget, or by an interruption, and what was measured stays") {
  text = replaced(text, "1 * (end == 'crash')", "1 * (block_size == 256)");
  make_slow_kernels(1);
  // What is compiled for it is in the cache then, and the time of a loaded machine does not count.
  REQUIRE(attune(words({"--budget", "1", "--db", (folder / "other.db").string()})).exit_code == 0);
  make_slow_reference("700000000");  // several of them: 5 s and more
  write_template();
  SUBCASE("the budget") {
    const auto result = keep_promise(9, words({"--budget", "9s"}));
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.err.find("fit into the time of the budget") != std::string::npos);
    CHECK(result.err.find("could be measured in this run") == std::string::npos);
  }
  SUBCASE("an interruption") {
    const int pid = start(words({"--budget", "300s", "--json"}));
    const auto one_works = [&] {
      const auto rows = records();
      return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.outcome == "ok"; });
    };
    CHECK(test::wait_until(one_works));
    CHECK(says_that_it_waits_for("preparing inputs and what is expected of them", events().size()));
    CHECK(interrupt(pid) < test::kMore_s);
  }
  CHECK_FALSE(records().empty());
  REQUIRE(best().size() == 1);
  CHECK(detail_of_best().at("asked").empty());
}

TEST_CASE_FIXTURE(Costly, "a problem whose workers are killed for ever is given up with the reason, and the command ends in order") {
  make_slow_reference("100000000");
  make_slow_kernels(1);
  auto command = words({"--budget", "20", "--json"});
  std::replace(command.begin(), command.end(), std::string("1000"), std::string("1000,2000"));
  const int pid = start(command);
  const auto searches_second = [&] {
    const auto rows = records();
    return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return base::parse_json(row.problem).at("n") == 2000; });
  };
  REQUIRE(test::wait_until(searches_second));
  CHECK(test::wait_until([&] {
    for (const int worker : processes("worker-gpu")) ::kill(worker, SIGKILL);
    return processes("").empty();
  }));
  CHECK(test::wait_for(pid) == 4);
  std::vector<std::string> last;
  for (const auto& event : events())
    if (event.at("event") != "progress") last.push_back(event.at("event"));
  REQUIRE(last.size() > 2);
  CHECK(std::count(last.begin(), last.end(), "given_up") == 1);
  CHECK(last.back() == "end");
}

}  // namespace test_lost_workers
