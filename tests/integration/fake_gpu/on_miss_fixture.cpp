#include "tests/integration/fake_gpu/on_miss_fixture.hpp"

#include <doctest/doctest.h>

#include "tests/support/figures.hpp"

namespace attune::test {

using nlohmann::json;

json Said::last(const std::string& event) const {
  const auto found = all(event);
  return found.empty() ? json() : found.back();
}

std::vector<json> Said::all(const std::string& event) const {
  std::vector<json> found;
  for (const auto& one : events) {
    if (one["event"] == event) found.push_back(one);
  }
  return found;
}

std::vector<std::string> Said::notices_with(const std::string& words) const {
  std::vector<std::string> found;
  for (const std::string notice : last("counters").value("notices", json::array())) {
    if (notice.find(words) != std::string::npos) found.push_back(notice);
  }
  return found;
}

std::vector<std::string> OnMissProgram::words(const std::string& on_miss, const std::vector<std::string>& steps,
                                              const std::vector<std::string>& options) const {
  std::vector<std::string> words = {
      ATTUNE_ONLINE_PROGRAM, "--on-miss", on_miss, "--template-folder", ATTUNE_SOURCE_DIR "/tests/support/fake_templates", "--worker",
      ATTUNE_EXECUTABLE,     "--budget",  "600"};  // of the search: never cut short on a busy machine
  words.insert(words.end(), options.begin(), options.end());
  for (const auto& step : steps) words.insert(words.end(), {"--step", step});
  return words;
}

Said OnMissProgram::program(const std::string& on_miss, const std::vector<std::string>& steps,
                            const std::vector<std::string>& options) const {
  const auto result = run_program(words(on_miss, steps, options));
  Said said{result.exit_code, result.err, json_lines(result.out)};
  INFO(result.out);
  INFO(result.err);
  return said;
}

void OnMissProgram::tune(const std::string& sizes) const {
  const auto result = attune({"tune", ATTUNE_SOURCE_DIR "/tests/support/fake_templates/brief", "--T", "i32", "--end", "well", "--size",
                              sizes, "--compile-workers", "2"});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
}

void check_kept_in_memory(const Said& said, const std::string& place) {
  CHECK(said.exit_code == 0);
  REQUIRE(said.all("launch").size() == 2);
  for (const auto& launch : said.all("launch")) {
    CHECK(launch["tier"] == "exact size");
    CHECK(launch["configuration"] == best_configuration());
    CHECK(launch["cubin_source"] == "database");
    CHECK(launch["layer"] == ":memory:");
    CHECK(launch["right"] == true);
  }
  CHECK(said.last("counters")["finished"] == 2);
  CHECK(said.notices_with(kInMemory).size() == 1);
  record_figures(5, "online_" + place, {{"tuned", said.last("counters")["finished"]}, {"notices", said.notices_with(kInMemory).size()}});
}

json best_configuration() { return {{"block_size", 256}, {"waves", 2}}; }
json default_configuration() { return {{"block_size", 64}, {"waves", 1}}; }

}  // namespace attune::test
