// What a second process finds of what the first one tuned or compiled, and what it does when that is damaged.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tests/support/figures.hpp"
#include "tuner/base/json.hpp"
#include "tuner/compile/cubin_cache.hpp"

namespace test_restart {

using namespace attune;
using namespace attune::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kTemplates = ATTUNE_SOURCE_DIR "/tests/support/fake_templates";

/// A program that dispatches, started as often as asked, with a database and a compile cache of its own.
struct Restart : FakeGpu {
  fs::path cache = folder / "cache";

  [[nodiscard]] CommandResult start_dispatch(const std::string& kernel, int launches = 1) const {
    auto with = environment;
    with["ATTUNE_FAKE_CUDA"] = base::dump_json(settings);
    with["XDG_CACHE_HOME"] = cache.string();
    return run({ATTUNE_DISPATCH_ONCE, kTemplates, kernel, "1000", std::to_string(launches)}, with);
  }
  /// What it told. Requires: it ended well, with the right result.
  [[nodiscard]] json dispatch(const std::string& kernel = "copy") const {
    const auto result = start_dispatch(kernel);
    REQUIRE_MESSAGE(result.exit_code == 0, result.err);
    return base::parse_json(result.out);
  }
  /// The real command tunes the copy at n = 1000, 48 configurations.
  void tune() const {
    const auto result = attune(tune_words("none"));
    REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  }
  [[nodiscard]] std::vector<fs::path> cached_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(cache)) {
      if (entry.path().extension() == ".cubin") files.push_back(entry.path());
    }
    return files;
  }
  /// Replaces the cubin of the one result; the row's digest is right.
  void store_cubin(const std::string& cubin) const {
    auto open = db::Database::open(database, db::OpenMode::ReadWrite);
    open.put_cubin(open.best({}).at(0).cubin_key, cubin, "{}");
  }
};

void flip_byte_in_the_middle(const fs::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(fs::file_size(path) / 2);
  file.seekg(middle);
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(middle);
  file.put(byte);
}

/// A sound cubin that the driver refuses: of another architecture.
std::string foreign_cubin() {
  const auto result = compile::Nvrtc().compile({"extern \"C\" __global__ void synthetic() {}", "foreign.cu", "sm_80", {}});
  REQUIRE_MESSAGE(result.status == compile::CompileStatus::Ok, result.log);
  return result.cubin;
}

/// Puts other code under the name of a cached result; its digest is right.
void replace_code(const fs::path& path, const std::string& cubin) {
  compile::CompileResult result;
  result.status = compile::CompileStatus::Ok;
  result.key = path.stem().string();
  result.cubin = cubin;
  compile::CubinCache(path.parent_path().parent_path()).store(result.key, result);
}

bool has_notice(const json& told, const std::string& text) {
  for (const auto& notice : told.at("notices")) {
    if (notice.get<std::string>().find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE_FIXTURE(Restart, "a process after a tuning run dispatches its result: no benchmark, no compile") {
  tune();
  // A second launch of the kernel, or one of the reference that tuning checks against, would end the process.
  constexpr int kTrap = 1;  // counted from 0
  settings["faults"] = {{{"kernel", "synthetic"}, {"launch", kTrap}, {"fault", "process_killed"}},
                        {{"kernel", "synthetic_plain"}, {"launch", 0}, {"fault", "process_killed"}}};
  const auto told = dispatch();
  CHECK(told.at("tier") == "exact size");
  CHECK(told.at("code") == "database");
  CHECK(told.at("compiles") == 0);
  CHECK(told.at("launches") == 1);
  CHECK(told.at("plans_built") == 1);
  const auto configuration = base::parse_json(told.at("configuration").get<std::string>());
  CHECK(configuration.at("block_size") == 256);  // the default is 128 and 1; waves is a near tie
  CHECK(configuration.at("items") != 1);
  CHECK(start_dispatch("copy", 2).exit_code != 0);  // the trap works
  // The process lived, so the device saw at most kTrap launches, its own among them.
  record_figures(
      14, "restart",
      {{"benchmarks", kTrap - told.at("launches").get<int>()}, {"compiles", told.at("compiles")}, {"launches", told.at("launches")}});
}

TEST_CASE_FIXTURE(Restart, "an untuned program compiles its default once, and never again in later processes") {
  CHECK(dispatch().at("compiles") == 1);
  for (int process = 0; process < 2; ++process) {
    const auto told = dispatch();
    CHECK(told.at("tier") == "default");
    CHECK(told.at("code") == "cache");
    CHECK(told.at("compiles") == 0);
  }
}

TEST_CASE_FIXTURE(Restart, "a damaged cubin in the database is compiled again, once for all later processes") {
  tune();
  SQLite::Database(database, SQLite::OPEN_READWRITE).exec("UPDATE cubins SET cubin = zeroblob(length(cubin))");
  const auto first = dispatch();
  CHECK(first.at("tier") == "exact size");
  CHECK(first.at("code") == "compiled");
  CHECK(first.at("compiles") == 1);
  CHECK(has_notice(first, "damaged row"));
  const auto second = dispatch();
  CHECK(second.at("code") == "cache");
  CHECK(second.at("compiles") == 0);
  CHECK(second.at("configuration") == first.at("configuration"));
}

TEST_CASE_FIXTURE(Restart, "a damaged file of the compile cache is compiled again and stored again") {
  static_cast<void>(dispatch());
  const auto files = cached_files();
  REQUIRE(files.size() == 1);
  flip_byte_in_the_middle(files[0]);
  CHECK(dispatch().at("compiles") == 1);
  CHECK(cached_files() == files);
  CHECK(dispatch().at("compiles") == 0);
  fs::resize_file(files[0], 100);
  CHECK(dispatch().at("compiles") == 1);
  CHECK(dispatch().at("compiles") == 0);
}

TEST_CASE_FIXTURE(Restart, "a stored cubin that the driver refuses, though its digest is right, is compiled again instead of failing") {
  tune();
  const std::string foreign = foreign_cubin();
  store_cubin(foreign);
  const auto first = dispatch();
  CHECK(first.at("code") == "compiled");
  CHECK(first.at("compiles") == 1);
  CHECK(has_notice(first, "tune.db is not used: failed loading a cubin: cuModuleLoadData returned CUDA_ERROR_NO_BINARY_FOR_GPU"));
  CHECK(dispatch().at("code") == "cache");
  replace_code(cached_files().at(0), foreign);
  const auto third = dispatch();
  CHECK(third.at("compiles") == 1);
  CHECK(has_notice(third, "a cubin of the compile cache is not used"));
  CHECK(dispatch().at("compiles") == 0);
}

TEST_CASE_FIXTURE(Restart, "a stored cubin that is cut off, or none at all, never reaches the driver and is compiled again") {
  tune();
  const std::string whole = foreign_cubin();
  for (const std::string& bad : {std::string(), std::string("no cubin"), whole.substr(0, 64), whole.substr(0, whole.size() / 2),
                                 whole.substr(0, whole.size() - 1)}) {
    CAPTURE(bad.size());
    fs::remove_all(cache);
    store_cubin(bad);
    const auto told = dispatch();
    CHECK(told.at("code") == "compiled");
    CHECK(has_notice(told, "are no complete ELF image"));
  }
}

TEST_CASE_FIXTURE(Restart, "a cache that was compiled for another device's architecture does not serve this one") {
  CHECK(dispatch("sum").at("compiles") == 1);
  settings["devices"] = {{{"compute_capability", 80}, {"sm_count", 108}}};
  CHECK(dispatch("sum").at("compiles") == 1);
  CHECK(dispatch("sum").at("compiles") == 0);
  settings.erase("devices");
  CHECK(dispatch("sum").at("compiles") == 0);
}

TEST_CASE_FIXTURE(Restart, "processes that find the same damage at once all succeed, and leave a sound cache") {
  const std::size_t processes = full_campaign() ? 16 : 6;
  const int rounds = full_campaign() ? 10 : 1;
  tune();
  SQLite::Database(database, SQLite::OPEN_READWRITE).exec("UPDATE cubins SET cubin = zeroblob(length(cubin))");
  std::size_t succeeded = 0;
  for (int round = 0; round < rounds; ++round) {
    if (round == 0) static_cast<void>(dispatch());
    for (const auto& file : cached_files()) {
      if (round % 2 == 0)
        flip_byte_in_the_middle(file);
      else
        fs::remove(file);
    }
    std::vector<CommandResult> results(processes);
    std::vector<std::thread> threads;
    for (auto& result : results) threads.emplace_back([&] { result = start_dispatch("copy"); });
    for (auto& thread : threads) thread.join();
    for (const auto& result : results) {
      CHECK_MESSAGE(result.exit_code == 0, result.err);
      succeeded += result.exit_code == 0 ? 1 : 0;
    }
    const auto after = dispatch();
    CHECK(after.at("compiles") == 0);
    CHECK(after.at("code") == "cache");
    CHECK(cached_files().size() == 1);
  }
  record_figures(14, "rebuilds", {{"processes", processes}, {"rounds", rounds}, {"succeeded", succeeded}});
}

}  // namespace test_restart
