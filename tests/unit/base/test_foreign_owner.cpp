// Files of another owner: only root can make some.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/conditions.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/private_folder.hpp"

namespace test_foreign_owner {

namespace fs = std::filesystem;
using namespace attune::base;
using attune::test::TempFolder;
using attune::test::write_bytes;

namespace {

constexpr uid_t kSomebodyElse = 65533;

/// <folder>/home/data/file, all of it this user's alone.
struct Place {
  TempFolder folder;
  fs::path home = folder / "home";
  fs::path data = home / "data";
  fs::path file = data / "file";

  Place() {
    REQUIRE(PrivateFolder::open(data, IfMissing::Create).is_open());
    write_bytes(file, "x");
    ::chmod(file.c_str(), 0644);
  }
};

void give(const fs::path& path, uid_t owner = kSomebodyElse) { REQUIRE(::lchown(path.c_str(), owner, owner) == 0); }

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool is_root() {
  if (::geteuid() == 0) return true;
  attune::test::skip("only root can give files away");
  return false;
}

}  // namespace

TEST_CASE("what belongs to the owner of the running program is trusted with it, and what is a third user's is not") {
  if (!is_root()) return;
  const Place place;
  for (const fs::path& given : {place.file, place.data, place.home}) give(given);
  CHECK(why_not_trusted(place.file, kSomebodyElse).empty());
  CHECK(mentions(why_not_trusted(place.file, kSomebodyElse - 1), "belongs to uid 65533"));
  ::chmod(place.data.c_str(), 0775);
  CHECK(mentions(why_not_trusted(place.file, kSomebodyElse), "can be written by others"));
}

TEST_CASE("what belongs to another user is not private: file, folder, folder further up") {
  if (!is_root()) return;
  for (int which = 0; which < 3; ++which) {
    const Place place;
    const fs::path given = which == 0 ? place.file : which == 1 ? place.data : place.home;
    give(given);
    for (const std::string& reason : {why_not_private_database(place.file), why_not_trusted(place.file)}) {
      CHECK(mentions(reason, given.string()));
      CHECK(mentions(reason, "belongs to uid 65533"));
    }
  }
}

TEST_CASE("nothing of another user's is read through a private folder, wherever on the way it is, and owner and remedy are told") {
  if (!is_root()) return;
  for (const char* const which : {"", "home", "home/data", "home/data/file"}) {
    const Place place;
    const fs::path given = *which == '\0' ? place.folder.path() : place.folder / which;
    CAPTURE(given);
    give(given);
    const auto folder = PrivateFolder::open(place.data, IfMissing::Leave);
    const auto file = folder.open_file("file", 1000);
    CHECK_FALSE(file.fd.open());
    CHECK(mentions(folder.refusal() + file.refusal, given.string() + "' belongs to uid 65533"));
    CHECK(mentions(folder.refusal() + file.refusal, "chown"));
  }
}

TEST_CASE("a symbolic link of another user's is not private, even when it leads to a file of the user's") {
  if (!is_root()) return;
  const Place place, other;
  fs::create_symlink(other.file, place.data / "link");
  give(place.data / "link");
  CHECK(mentions(why_not_private_database(place.data / "link"), "the symbolic link"));
  fs::create_directory_symlink(other.data, place.home / "linked");
  give(place.home / "linked");
  CHECK_FALSE(PrivateFolder::open(place.home / "linked", IfMissing::Leave).is_open());
}

TEST_CASE("an ordinary user's file below root's folders, through a link of root's as of a moved /home, is private") {
  if (!is_root()) return;
  const Place place;
  for (const fs::path& path : {place.data, place.file}) give(path, 65534);
  ::chmod(place.folder.path().c_str(), 0755);
  ::chmod(place.home.c_str(), 0755);
  fs::create_directory_symlink(place.home, place.folder / "link");
  const attune::test::Unprivileged user;
  CHECK(why_not_private_database(place.file) == "");
  CHECK(why_not_private_database(place.folder / "link" / "data" / "file") == "");
  CHECK(PrivateFolder::open(place.folder / "link" / "data", IfMissing::Leave).is_writable());
}

}  // namespace test_foreign_owner
