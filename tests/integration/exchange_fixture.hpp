#pragma once
// A tuned database, and what the command line exports of it.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.hpp"
#include "tuner/base/json.hpp"

namespace attune::test {

/// The lines of an export.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// A database that was tuned, and the path of another one to import it into.
struct Exchange : Cli {
  std::string other = (folder / "other.db").string();

  Exchange() { REQUIRE(attune(tune_words()).exit_code == 0); }

  /// What a database exports.
  std::string exported(const std::string& path) const {
    const auto result = attune({"db", "export", "--db", path});
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  }
  /// What dispatch would use of a database for n = 1000.
  nlohmann::json explained(const std::string& path) const {
    const auto result = attune({"explain", kernel, "--T", "f32", "--n", "1000", "--device", "sm_90", "--db", path, "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return base::parse_json(result.out).at(0);
  }
  [[nodiscard]] bool nothing_stored() const { return lines_of(exported(other)).size() == 2; }  // header and end
};

}  // namespace attune::test
