// Damaged files under dispatch: the right row or a miss, never a wrong configuration, never an exception.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/integration/broken_databases/dispatch.hpp"
#include "tests/support/figures.hpp"
#include "tests/support/write_bytes.hpp"

namespace test_damage {

using namespace attune;
using namespace attune::test;
namespace fs = std::filesystem;

namespace {

/// What became of many launches, each over a file that was damaged in another way.
struct Tally {
  int launches = 0, exact = 0, other_row = 0, missed = 0, noticed = 0, wrong = 0, exceptions = 0;
  std::string first_wrong;

  void count(const World& world, std::int64_t n, const std::string& what) {
    ++launches;
    try {
      const Dispatched result = world.dispatch(n);
      const bool right = result.right_result && world.is_honest(result.decision, n);
      if (!right) {
        ++wrong;
        if (first_wrong.empty()) first_wrong = what + ": " + describe(result.decision);
      }
      ++(result.decision.tier == Tier::ExactSize ? exact : result.decision.tier == Tier::Default ? missed : other_row);
      noticed += result.notices.empty() ? 0 : 1;
    } catch (const std::exception& error) {
      ++exceptions;
      if (first_wrong.empty()) first_wrong = what + ": " + error.what();
    }
  }

  void check() const {
    CAPTURE(first_wrong);
    CHECK(launches > 0);
    CHECK(wrong == 0);
    CHECK(exceptions == 0);
  }

  [[nodiscard]] nlohmann::json figures() const {
    return {{"launches", launches}, {"exact", exact}, {"other_row", other_row},  {"missed", missed},
            {"noticed", noticed},   {"wrong", wrong}, {"exceptions", exceptions}};
  }
};

std::string with_flipped_bit(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  return bytes;
}

/// Half of them in the first pages, which hold the header and the tables' definitions: most of the consequences.
std::size_t any_bit(std::mt19937& random, std::size_t bytes) {
  const std::size_t span = random() % 2 == 0 ? std::min<std::size_t>(bytes, 5 * 4096) : bytes;
  return std::uniform_int_distribution<std::size_t>(0, span * 8 - 1)(random);
}

std::int64_t any_size(std::mt19937& random) { return World::kSizes[random() % 3]; }

}  // namespace

TEST_CASE("a sound database gives the exact row of every tuned size, code and all, without a notice") {
  const World world;
  world.tune(world.database);
  world.give_to_user();
  for (const std::int64_t n : World::kSizes) {
    const Dispatched result = world.dispatch(n);
    CHECK(result.right_result);
    CHECK(world.is_exact(result.decision, n));
    CHECK(result.decision.cubin_source == "database");
    CHECK(result.notices.empty());
  }
  CHECK(world.is_honest(world.dispatch(1010).decision, 1010));
}

TEST_CASE("after random bit flips in a database dispatch uses a row as it was stored or the default, and never throws") {
  const World world;
  world.tune(world.database);
  world.tune_and_die(world.folder / "died.db");
  const std::string sound = read_bytes(world.database);
  const std::string file = read_bytes(world.folder / "died.db"), wal = read_bytes(world.folder / "died.db-wal");
  const fs::path wal_path = world.database.string() + "-wal";
  const int flips = full_campaign() ? 10000 : 120;
  std::mt19937 random(4);
  Tally closed, in_wal;
  for (int flip = 0; flip < flips; ++flip) {
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(world.database.string() + suffix);
    // Two of three in a closed file, one in what a killed process left.
    if (flip % 3 < 2) {
      const std::size_t bit = any_bit(random, sound.size());
      write_bytes(world.database, with_flipped_bit(sound, bit));
      world.give_to_user();
      closed.count(world, any_size(random), "bit " + std::to_string(bit));
    } else {
      const std::size_t bit = any_bit(random, wal.size());
      write_bytes(world.database, file);
      write_bytes(wal_path, with_flipped_bit(wal, bit));
      world.give_to_user();
      in_wal.count(world, any_size(random), "WAL bit " + std::to_string(bit));
    }
  }
  closed.check();
  in_wal.check();
  CHECK(closed.exact > 0);
  CHECK(closed.missed + closed.other_row + closed.noticed > 0);  // some of them did hit what is read
  CHECK(in_wal.exact > 0);
  CHECK(in_wal.missed > 0);
  record_figures(4, "bit_flips", {{"flips", flips}, {"file", closed.figures()}, {"wal", in_wal.figures()}});
}

TEST_CASE("truncated at any length, with any page zeroed or a garbage header, a database never stops dispatch") {
  const World world;
  world.tune(world.database);
  world.give_to_user();
  const std::string sound = read_bytes(world.database);
  std::mt19937 random(40);
  Tally truncated, zeroed, headers;
  const std::size_t step = full_campaign() ? 64 : 4096 - 64;
  for (std::size_t length = 0; length < sound.size(); length += step) {
    write_bytes(world.database, sound.substr(0, length));
    truncated.count(world, any_size(random), "length " + std::to_string(length));
  }
  for (std::size_t page = 0; page * 4096 < sound.size(); ++page) {
    std::string damaged = sound;
    damaged.replace(page * 4096, 4096, std::string(4096, '\0'));
    write_bytes(world.database, damaged);
    for (const std::int64_t n : World::kSizes) zeroed.count(world, n, "page " + std::to_string(page));
  }
  for (int i = 0; i < (full_campaign() ? 500 : 20); ++i) {
    std::string damaged = sound;
    for (std::size_t k = 0; k < 100; ++k) damaged[k] = static_cast<char>(random());
    if (i % 2 == 1) damaged.replace(0, 16, sound.substr(0, 16));  // still called a database
    write_bytes(world.database, damaged);
    headers.count(world, any_size(random), "header " + std::to_string(i));
  }
  for (const Tally* tally : {&truncated, &zeroed, &headers}) tally->check();
  CHECK(truncated.missed > 0);
  CHECK(zeroed.exact > 0);  // pages of other tables
  CHECK(zeroed.missed > 0);
  record_figures(4, "broken_files",
                 {{"truncated", truncated.figures()}, {"zeroed_pages", zeroed.figures()}, {"garbage_headers", headers.figures()}});
}

TEST_CASE("where the user's database is damaged the shipped one serves, and one notice names the damaged file") {
  const World world;
  write_bytes(world.database, std::string(20000, 'x'));
  world.give_to_user();
  const fs::path shipped = world.folder / "tuned_shipped.db";
  world.tune(shipped);
  ::setenv("ATTUNE_SHIPPED_DB", shipped.c_str(), 1);
  const Dispatched result = world.dispatch(4000);
  CHECK(result.right_result);
  CHECK(world.is_exact(result.decision, 4000));
  CHECK(result.decision.layer == shipped);
  REQUIRE(result.notices.size() == 1);
  CHECK(about(result.notices, world.database) == 1);
}

TEST_CASE("a named layer that is damaged while the program runs costs its rows, one notice, and no launch") {
  const World world;
  const fs::path named = world.data / "named.db";
  const std::pair<std::string, std::function<std::string(std::string)>> ways[] = {
      {"garbage", [](const std::string& bytes) { return std::string(bytes.size(), 'x'); }},
      {"truncated", [](const std::string& bytes) { return bytes.substr(0, 4096); }},
      {"emptied", [](const std::string&) { return std::string(); }},
      {"all but the first page zeroed",
       [](const std::string& bytes) { return bytes.substr(0, 4096) + std::string(bytes.size() - 4096, '\0'); }}};
  for (const auto& [name, damage] : ways) {
    CAPTURE(name);
    fs::remove(named);
    world.tune(named);
    Options options = world.options;
    options.databases = {named};
    Runtime runtime(options);
    const Kernel synthetic = runtime.kernel("synthetic", {{"T", "i32"}, {"faults", "none"}});
    CHECK(world.launch(synthetic, 1000));
    const std::string sound = read_bytes(named);
    write_bytes(named, damage(sound));
    CHECK(world.launch(synthetic, 1000));
    CHECK(world.launch(synthetic, 4000));
    CHECK(world.is_honest(synthetic.explain({4000}), 4000));
    CHECK_NOTHROW(synthetic.prepare());
    CHECK_NOTHROW(static_cast<void>(synthetic.explain_on("sm_80", {16000})));
    CHECK(about(runtime.notices(), named) == 1);
  }
}

TEST_CASE("damaged rows are counted in one notice, and the others serve") {
  const World world;
  world.tune(world.database);
  std::string bytes = read_bytes(world.database);
  const std::string stored = world.rows.at(1000).sizes_json;
  const std::size_t at = bytes.find(stored + world.device.hard_key());
  REQUIRE(at != std::string::npos);
  bytes[at + stored.size() - 2] = '7';  // {"n":1007}
  write_bytes(world.database, bytes);
  world.give_to_user();
  const Dispatched result = world.dispatch(1000);
  CHECK(result.right_result);
  CHECK(result.decision.tier == Tier::NearestSize);
  CHECK(world.is_honest(result.decision, 1000));
  REQUIRE(result.notices.size() == 1);
  CHECK(result.notices[0].find("1 damaged row(s) were skipped") != std::string::npos);
  CHECK(about(result.notices, world.database) == 1);
}

}  // namespace test_damage
