// attune report --issue: what a report of a bug needs, and nothing that says whose machine it comes from.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/fake_gpu/renew_fixture.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/files.hpp"

namespace test_issue {

using namespace attune;
using test::RenewFixture;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Somebody with a name, on a host with a name, whose database and templates lie at home.
struct Somebody : RenewFixture {
  Somebody() {
    fs::create_directories(home);
    environment["HOME"] = home.string();
    environment["USER"] = environment["LOGNAME"] = "wilhelmina";
    environment["HOSTNAME"] = "secretnode.example.org";
    environment["CUDA_HOME"] = (home / "wilhelmina-toolkit").string();
    environment["ATTUNE_PRIVATE_TOKEN"] = "0123secret";
    environment.erase("ATTUNE_TEMPLATES");
    database = (home / "tune.db").string();
    environment["ATTUNE_DB"] = database;
  }
  /// The report, which has to be made whatever is wrong.
  std::string report(const std::vector<std::string>& more = {}) {
    const std::string file = (folder / ("issue-" + std::to_string(++made) + ".md")).string();
    std::vector<std::string> words = {"report", "--issue", "--output", file};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = attune(words);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(mentions(result.out, "Read it before you send it"));
    CHECK(mentions(result.out, file));
    const std::string text = base::read_file(file);
    for (const std::string& secret : {home.string(), std::string("wilhelmina"), std::string("secretnode"), std::string("0123secret"),
                                      std::string("66000000-0000-0000")}) {
      CAPTURE(secret);
      CHECK_FALSE(mentions(text, secret));
    }
    return text;
  }

  const fs::path home = folder / "homes" / "wilhelmina";
  int made = 0;
};

}  // namespace

TEST_CASE_FIXTURE(Somebody, "it has version, system, findings, devices and counts; of the database no rows unless they are asked for") {
  tune("1000,2000");
  const std::string text = report();
  for (const char* part : {"built with CUDA", "glibc", "## Findings of attune doctor", "Fake GPU", "GPU-#", "2 best rows", "schema 3",
                           "ATTUNE_DB=~/tune.db", "CUDA_HOME=~/USER-toolkit", "HOME=~\n", "strategy", "No failed configuration"}) {
    CAPTURE(part);
    CHECK(mentions(text, part));
  }
  CHECK_FALSE(mentions(text, "median_us"));
  const std::string rows = report({"--db-rows"});
  CHECK(mentions(rows, "2 best rows"));
  CHECK(mentions(rows, "\"row\":\"record\""));
  const std::string of_one = report({"brief", "--problem", "n=2000"});
  CHECK(mentions(of_one, "1 best rows"));
  CHECK_FALSE(mentions(of_one.substr(of_one.find("## Rows")), "\"n\":1000"));
}

TEST_CASE_FIXTURE(Somebody, "failures come with their logs, and with sources only where they are asked for") {
  std::ofstream(templates / "brief" / "brief.cu", std::ios::app) << "\n#if ATTUNE_BLOCK_SIZE == 256\n#error no_such_thing_here\n#endif\n";
  std::vector<std::string> words = {"tune",   "brief", "--template-folder", templates, "--T", "i32", "--end", "well",
                                    "--size", "1000",  "--compile-workers", "2"};
  REQUIRE(attune(words).exit_code == 0);
  const std::string text = report();
  CHECK(mentions(text, "compile_failed of brief"));
  CHECK(mentions(text, "no_such_thing_here"));
  CHECK_FALSE(mentions(text, "source, compiled with"));
  const std::string with_sources = report({"--with-sources"});
  CHECK(mentions(with_sources, "source, compiled with"));
  CHECK(mentions(with_sources, "__global__"));
}

TEST_CASE_FIXTURE(Somebody,
                  "a template or a problem that is neither stored nor known is refused, and nothing is written; a known one is not") {
  tune("1000");
  const std::string file = (folder / "none.md").string();
  const auto refused = [&](std::vector<std::string> more, const std::string& part) {
    const std::vector<std::string> words = {"report", "--issue", "--output", file};
    more.insert(more.begin(), words.begin(), words.end());
    const auto result = attune(more);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(mentions(result.err, part));
    CHECK_FALSE(fs::exists(file));
  };
  refused({"nobody"},
          "failed reporting on template 'nobody': the database holds nothing of it, and there is no template 'nobody'; known: ");
  refused({"brief", "--problem", "T=f99"},
          "failed reporting on problem T=f99: the database holds nothing of such a problem of template 'brief'");
  refused({"--problem", "T=f99"}, "the database holds nothing of such a problem; leave --problem away");
  CHECK(mentions(report({"reduce"}), "No failed configuration"));  // known, though nothing of it is stored
  CHECK(mentions(report({"brief", "--problem", "n=1000"}), "1 best rows"));
  // Of a file that cannot be read nothing is known.
  test::write_bytes(database, std::string(5000, 'x'));
  CHECK(mentions(report({"brief", "--problem", "T=f99"}), "wrong  database"));
}

TEST_CASE_FIXTURE(Somebody,
                  "it is made without a GPU, without a database, of a damaged one, and without a home; a file that is there stays") {
  CHECK(mentions(report(), "none at ~/tune.db"));
  environment["ATTUNE_FAKE_CUDA"] = "{}";
  environment["LD_LIBRARY_PATH"] = "/nowhere";
  CHECK(mentions(report(), "wrong  driver"));
  test::write_bytes(database, std::string(5000, 'x'));
  CHECK(mentions(report(), "wrong  database"));
  CHECK(base::read_file(database) == std::string(5000, 'x'));
  environment["HOME"] = environment["ATTUNE_DB"] = environment["XDG_DATA_HOME"] = "";
  CHECK(mentions(report(), "none of ATTUNE_DB, XDG_DATA_HOME and HOME is set"));
  const std::string file = (folder / "read.md").string();
  test::write_bytes(file, "what I wrote");
  const auto refused = attune({"report", "--issue", "--output", file});
  CHECK(refused.exit_code == 2);
  CHECK(mentions(refused.err, "is there already"));
  CHECK(base::read_file(file) == "what I wrote");
  CHECK(attune({"report", "--issue", "--format", "md"}).exit_code == 2);
  CHECK(attune({"report", "--with-sources"}).exit_code == 2);
}

}  // namespace test_issue
