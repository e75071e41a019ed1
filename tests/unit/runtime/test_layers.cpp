#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "attune/error.hpp"
#include "tests/unit/runtime/environment.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/runtime/layers.hpp"

namespace test_layers {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

namespace {

/// Default layers are in a fresh folder: user.db and shipped.db.
struct Fixture {
  TempFolder folder;
  Variable user{"ATTUNE_DB", (folder / "user.db").string()};
  Variable shipped{"ATTUNE_SHIPPED_DB", (folder / "shipped.db").string()};

  void create(const std::string& name) const { LayerFile file(folder / name); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "default layers that are missing are noted and left out") {
  const auto opened = runtime::open_layers({});
  CHECK(opened.layers.empty());
  REQUIRE(opened.notices.size() == 2);
  CHECK(opened.notices[0] == "no tuning database at " + (folder / "user.db").string() + ": nothing was tuned by this user yet");
  CHECK(opened.notices[1] == "no shipped database at " + (folder / "shipped.db").string());
}

TEST_CASE_FIXTURE(Fixture, "the user's layer comes before the shipped one") {
  create("user.db");
  create("shipped.db");
  const auto opened = runtime::open_layers({});
  CHECK(opened.notices.empty());
  REQUIRE(opened.layers.size() == 2);
  CHECK(opened.layers[0].path == folder / "user.db");
  CHECK(opened.layers[1].path == folder / "shipped.db");
}

TEST_CASE_FIXTURE(Fixture, "a damaged default layer is noted and left out, the other one serves") {
  create("shipped.db");
  std::ofstream(folder / "user.db") << "this is no database, and long enough to be taken for one by nobody at all";
  const auto opened = runtime::open_layers({});
  REQUIRE(opened.layers.size() == 1);
  CHECK(opened.layers[0].path == folder / "shipped.db");
  REQUIRE(opened.notices.size() == 1);
  CHECK(opened.notices[0].find("user.db") != std::string::npos);
  CHECK(opened.notices[0].ends_with("; dispatching without it"));
  CHECK(fs::exists(folder / "user.db"));  // dispatch sets nothing aside
}

TEST_CASE_FIXTURE(Fixture, "named layers replace the default ones") {
  create("user.db");
  create("mine.db");
  const auto opened = runtime::open_layers({folder / "mine.db"});
  REQUIRE(opened.layers.size() == 1);
  CHECK(opened.layers[0].path == folder / "mine.db");
  CHECK(opened.notices.empty());
}

TEST_CASE_FIXTURE(Fixture, "a named layer that does not exist is misuse, one that is damaged a database error") {
  CHECK_THROWS_AS(static_cast<void>(runtime::open_layers({folder / "absent.db"})), UsageError);
  CHECK_FALSE(fs::exists(folder / "absent.db"));
  std::ofstream(folder / "broken.db") << "this is no database, and long enough to be taken for one by nobody at all";
  CHECK_THROWS_AS(static_cast<void>(runtime::open_layers({folder / "broken.db"})), DatabaseError);
}

TEST_CASE_FIXTURE(Fixture, "code of a default layer is trusted only when no other user can write it") {
  create("user.db");
  CHECK(runtime::open_layers({}).layers.at(0).trusted);
  fs::permissions(folder / "user.db", fs::perms::others_write, fs::perm_options::add);
  CHECK_FALSE(runtime::open_layers({}).layers.at(0).trusted);
  CHECK(runtime::open_layers({folder / "user.db"}).layers.at(0).trusted);  // the program says so
}

TEST_CASE_FIXTURE(Fixture, "without a home a user has no default database, which is noted") {
  const Variable none("ATTUNE_DB", std::nullopt), no_home("HOME", std::nullopt), no_data("XDG_DATA_HOME", std::nullopt);
  const auto opened = runtime::open_layers({});
  REQUIRE(opened.notices.size() == 2);
  CHECK(opened.notices[0].ends_with("; dispatching without a database of the user's"));
}

TEST_CASE_FIXTURE(Fixture, "without the variable the shipped database is looked for beside the program first") {
  CHECK(runtime::shipped_database_paths() == std::vector<fs::path>{folder / "shipped.db"});
  const Variable unset("ATTUNE_SHIPPED_DB", std::nullopt);
  const auto paths = runtime::shipped_database_paths();
  REQUIRE(paths.size() == 3);
  const auto program_folder = fs::read_symlink("/proc/self/exe").parent_path();
  CHECK(paths[0] == program_folder.parent_path() / "share/attune/shipped.db");
  CHECK(paths[1].string().ends_with("share/attune/shipped.db"));
  CHECK(paths[2] == fs::path(ATTUNE_BINARY_DIR) / "share/shipped.db");
}

TEST_CASE_FIXTURE(Fixture, "a recorded device is found by name, slug, key or an architecture that only it has") {
  const auto kernel = twice_template();
  const auto h = device("sm_90", "NVIDIA H200", 132);
  {
    LayerFile file(folder / "user.db");
    file.add(kernel, 1000, h, configuration(64));
  }
  const auto opened = runtime::open_layers({});
  for (const auto& text : {std::string("NVIDIA H200"), std::string("nvidia_h200"), h.hard_key(), std::string("sm_90")}) {
    CHECK(runtime::device_by_name(opened.layers, text).name == "NVIDIA H200");
  }
}

TEST_CASE_FIXTURE(Fixture, "an architecture that several recorded devices share must be told apart by name") {
  {
    LayerFile file(folder / "user.db");
    file.add(twice_template(), 1000, device("sm_90", "One", 114), configuration(64));
    file.add(twice_template(), 1000, device("sm_90", "Two", 132), configuration(64));
  }
  const auto opened = runtime::open_layers({});
  try {
    static_cast<void>(runtime::device_by_name(opened.layers, "sm_90"));
    FAIL("no error");
  } catch (const UsageError& error) {
    const std::string message = error.what();
    CHECK(message.find("One") != std::string::npos);
    CHECK(message.find("Two") != std::string::npos);
  }
}

TEST_CASE("an architecture without records gives its stand-in, and an unknown device is misuse") {
  CHECK(runtime::device_by_name({}, "sm_80").compute_capability == 80);
  CHECK_THROWS_AS(static_cast<void>(runtime::device_by_name({}, "Voodoo 2")), UsageError);
}

}  // namespace test_layers
