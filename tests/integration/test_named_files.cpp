// Options that name a database or a file to write, with an empty name: what a script's unset variable makes of them.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.hpp"

namespace test_named_files {

using namespace attune;
using test::Cli;
namespace fs = std::filesystem;

namespace {

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Named : Cli {
  void refuses(const std::vector<std::string>& words, const std::string& part) const {
    CAPTURE(words[0]);
    CAPTURE(words.size() > 1 ? words[1] : "");
    const auto result = attune(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(says(result.err, part));
    CHECK_FALSE(fs::exists(database));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Named, "an empty name of a database is wrong usage of every command, and the user's own stays untouched") {
  const std::string part = "--db: the name is empty";
  refuses(tune_words({"--db", ""}), part);
  for (const auto& words : std::vector<std::vector<std::string>>{{"db", "merge", "--db", "", recording},
                                                                 {"db", "import", "--db", "", recording},
                                                                 {"db", "vacuum", "--db", ""},
                                                                 {"db", "check", "--db", ""},
                                                                 {"db", "prune", "--db", "", "--older-than", "1d", "--yes"},
                                                                 {"fleet", "merge", folder.path().string(), "--db", ""},
                                                                 {"fleet", "sbatch", folder.path().string(), "--db", ""},
                                                                 {"renew", "--db", ""},
                                                                 {"show", "--db", ""},
                                                                 {"report", "--db", ""},
                                                                 {"devices", "--db", ""},
                                                                 {"explain", kernel, "--T", "f32", "--n", "1000", "--db", ""}})
    refuses(words, part);
}

TEST_CASE_FIXTURE(Named, "an empty name of a file to write is wrong usage, and the next option is no name of one") {
  refuses({"report", "--output", ""}, "--output: the name is empty");
  refuses({"ladder", "reduce", "--html", ""}, "--html: the name is empty");
  refuses({"layer", recording, "--output", ""}, "--output: the name is empty");
  refuses({"layer", recording, "-o", ""}, "--output: the name is empty");
  refuses({"db", "vacuum", "--db=", "--json"}, "write ./--json for a file that is called so");
  refuses({"db", "vacuum", "--db="}, "--db");
}

TEST_CASE_FIXTURE(Named, "an empty ATTUNE_DB counts as none") {
  environment["ATTUNE_DB"] = "";
  const auto result = attune({"db", "path"});
  CHECK(result.exit_code == 0);
  CHECK_FALSE(result.out.empty());
}

}  // namespace test_named_files
