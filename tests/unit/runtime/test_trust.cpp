// Whose code runs: default layers and the compile cache of which others could have decided the contents give none.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/skip.hpp"
#include "tests/support/write_bytes.hpp"
#include "tests/unit/runtime/environment.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/private_folder.hpp"
#include "tuner/runtime/code_store.hpp"

namespace test_trust {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

namespace {

/// The user's default database with a best row and its cubin, in a folder of its own.
struct Fixture {
  TempFolder root;
  fs::path folder = root / "data" / "attune";
  fs::path file = folder / "attune.db";
  Variable named{"ATTUNE_DB", std::nullopt};
  Variable data{"XDG_DATA_HOME", (root / "data").string()};
  Variable shipped{"ATTUNE_SHIPPED_DB", (root / "none.db").string()};
  spec::KernelTemplate kernel = twice_template();
  spec::DeviceInfo here = device("sm_90", "Here", 132);
  spec::Problem problem = twice_problem(1000);
  runtime::CodeRequest request =
      runtime::make_code_request(kernel, problem, spec::configuration_from_text(kernel, configuration(64)), here);

  Fixture() { store(configuration(64)); }

  void store(const std::string& chosen) {
    REQUIRE(base::PrivateFolder::open(folder, base::IfMissing::Create).is_open());
    LayerFile layer(file);
    auto row = best_row(kernel, problem, here, chosen);
    row.cubin_key = "cafe";
    row.detail_json = base::dump_json(nlohmann::json{{"source_key", request.source_key}});
    layer.add(row, here);
    layer.database().put_cubin("cafe", "machine code", "{}");
  }

  /// The notice about the code that is not used; empty when it is used, in which case it must be found.
  std::string refusal(const std::vector<fs::path>& databases = {}) const {
    const auto opened = runtime::open_layers(databases);
    REQUIRE(opened.layers.size() == 1);
    const auto choice = runtime::choose(kernel, problem, here, opened.layers, {"cold/graph"});
    CHECK(choice.decision.tier == Tier::ExactSize);  // a configuration is used wherever it comes from
    const auto code = runtime::CodeStore(root / "cubins").find(request, choice, opened.layers);
    for (const auto& notice : opened.notices) {
      if (notice.find("is not used, only its configurations") == std::string::npos) continue;
      CHECK_FALSE(code.has_value());
      CHECK(notice.find(file.string()) != std::string::npos);
      return notice;
    }
    REQUIRE(code.has_value());
    CHECK(code->cubin == "machine code");
    return "";
  }
};

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool give_away(const fs::path& path) {
  if (::lchown(path.c_str(), 65533, 65533) == 0) return true;
  skip("only root can give files away");
  return false;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "code of the user's own private database is used") { CHECK(refusal().empty()); }

TEST_CASE_FIXTURE(Fixture, "code of a default database that others can write is refused, and the notice says which and why") {
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  CHECK(mentions(refusal(), "can be written by others"));
}

TEST_CASE_FIXTURE(Fixture, "code of a default database in a folder that others can write is refused") {
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  CHECK(mentions(refusal(), folder.string() + "' can be written by others"));
}

TEST_CASE_FIXTURE(Fixture, "code of a default database of another owner is refused") {
  if (!give_away(file)) return;
  CHECK(mentions(refusal(), "belongs to uid 65533"));
}

TEST_CASE_FIXTURE(Fixture, "code of a default database in another owner's folder is refused") {
  if (!give_away(folder)) return;
  CHECK(mentions(refusal(), folder.string() + "' belongs to uid 65533"));
}

TEST_CASE_FIXTURE(Fixture, "a default database that is a symbolic link is judged by where it leads") {
  fs::create_directory(root / "other");
  fs::permissions(root / "other", fs::perms::owner_all);
  for (const char* suffix : {"", ".lock"}) fs::rename(file.string() + suffix, (root / "other" / "real.db").string() + suffix);
  fs::create_symlink(root / "other" / "real.db", file);
  CHECK(refusal().empty());
  fs::permissions(root / "other", fs::perms::all);
  CHECK(mentions(refusal(), (root / "other").string() + "' can be written by others"));
  fs::permissions(root / "other", fs::perms::owner_all);
  if (!give_away(file)) return;
  CHECK(mentions(refusal(), "the symbolic link"));
}

TEST_CASE_FIXTURE(Fixture, "a file that the program names is trusted as it is") {
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  CHECK(refusal({file}).empty());
}

TEST_CASE_FIXTURE(Fixture, "a cubin that does not match its checksum is absent") {
  std::string bytes = base::read_file(file);
  const auto at = bytes.find("machine code");
  REQUIRE(at != std::string::npos);
  bytes[at] = 'M';
  test::write_bytes(file, bytes);
  const auto opened = runtime::open_layers({});
  const auto choice = runtime::choose(kernel, problem, here, opened.layers, {"cold/graph"});
  CHECK_FALSE(runtime::CodeStore(root / "cubins").find(request, choice, opened.layers).has_value());
}

TEST_CASE_FIXTURE(Fixture, "a configuration outside the declared space is passed over, wherever it comes from") {
  fs::remove(file);
  store(base::dump_json(nlohmann::json{{"block_size", 64}, {"style", "plain; rm -rf /"}, {"blocks_per_sm", 4}}));
  const auto opened = runtime::open_layers({file});
  const auto choice = runtime::choose(kernel, problem, here, opened.layers, {"cold/graph"});
  CHECK(choice.decision.tier == Tier::Default);
  REQUIRE(choice.decision.passed_over.size() == 1);
  CHECK(mentions(choice.decision.passed_over[0], "is not in the template's space"));
}

TEST_CASE_FIXTURE(Fixture, "a compile cache that others can write, or own, is not used, and the warning says why") {
  const fs::path cache = root / "cache" / "cubins";
  compile::CompileResult result;
  result.status = compile::CompileStatus::Ok;
  result.key = request.cache_key;
  result.cubin = "machine code";
  compile::CubinCache(cache).store(request.cache_key, result);
  const auto found = [&] { return runtime::CodeStore(cache).find(request, {}, {}).has_value(); };
  REQUIRE(found());
  fs::permissions(cache, fs::perms::group_write, fs::perm_options::add);
  CHECK_FALSE(found());
  CHECK(mentions(runtime::CodeStore(cache).warning(), "is not used: the folder '" + cache.string() + "' can be written by others"));
  fs::permissions(cache, fs::perms::owner_all);
  CHECK(found());
  fs::permissions(cache.parent_path(), fs::perms::all);
  CHECK_FALSE(found());
  fs::permissions(cache.parent_path(), fs::perms::owner_all);
  if (!give_away(cache)) return;
  CHECK_FALSE(found());
  CHECK(mentions(runtime::CodeStore(cache).warning(), "belongs to uid 65533"));
}

TEST_CASE_FIXTURE(Fixture, "code of a default database is refused when others can write what SQLite takes for a part of it") {
  for (const char* const suffix : {"-wal", "-shm", "-journal"}) {
    CAPTURE(suffix);
    const fs::path beside = file.string() + suffix;
    for (const char* const left : {"-wal", "-shm"}) fs::remove(file.string() + left);  // what an earlier reader left
    test::write_bytes(beside, "");
    fs::permissions(beside, fs::perms(0666));
    CHECK(mentions(refusal(), "'" + beside.string() + "' can be written by others"));
    fs::remove(beside);
  }
  for (const char* const left : {"-wal", "-shm"}) fs::remove(file.string() + left);
  CHECK(refusal().empty());
}

TEST_CASE_FIXTURE(Fixture, "a cubin in a cache folder of which others could have made the contents is compiled anew, and told") {
  const fs::path cache = root / "cache" / "cubins";
  compile::CompileResult result;
  result.status = compile::CompileStatus::Ok;
  result.key = request.cache_key;
  result.cubin = "planted code";
  compile::CubinCache(cache).store(request.cache_key, result);
  const fs::path folder_of_key = cache / request.cache_key.substr(0, 2);
  fs::permissions(folder_of_key, fs::perms::all);
  const runtime::CodeStore store(cache);
  CHECK(store.warning().empty());
  CHECK_FALSE(store.cached(request).has_value());
  CHECK(mentions(store.warning(), "is not used: the folder '" + folder_of_key.string() + "' can be written by others"));
  fs::permissions(folder_of_key, fs::perms::owner_all);
  CHECK(runtime::CodeStore(cache).cached(request).has_value());
  const fs::path stored = folder_of_key / (request.cache_key + ".cubin");
  if (!give_away(stored)) return;
  CHECK_FALSE(store.cached(request).has_value());
  if (!give_away(folder_of_key)) return;
  CHECK_FALSE(store.cached(request).has_value());
}

TEST_CASE_FIXTURE(Fixture, "a cached cubin that does not match its digest is a miss") {
  const fs::path cache = root / "cubins";
  compile::CompileResult result;
  result.status = compile::CompileStatus::Ok;
  result.key = request.cache_key;
  result.cubin = "machine code";
  compile::CubinCache(cache).store(request.cache_key, result);
  const fs::path stored = cache / request.cache_key.substr(0, 2) / (request.cache_key + ".cubin");
  std::string bytes = base::read_file(stored);
  const auto at = bytes.find("machine code");
  REQUIRE(at != std::string::npos);
  bytes[at] = 'M';
  test::write_bytes(stored, bytes);
  CHECK_FALSE(runtime::CodeStore(cache).find(request, {}, {}).has_value());
}

}  // namespace test_trust
