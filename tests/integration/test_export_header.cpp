// `attune export --header`: the header compiles alone as C++17 without a warning, holds what the database holds, and selects from it.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>

#include "db/database.hpp"
#include "tests/integration/export_header_fixture.hpp"
#include "tuner/base/json.hpp"

namespace test_export_header {

using namespace attune;
using namespace attune::test;

TEST_CASE_FIXTURE(HeaderExport, "the table holds exactly the database's best configurations, and the selector finds each at its size") {
  if (!has_compiler()) return;
  REQUIRE(attune(tune_words()).exit_code == 0);
  REQUIRE(exported({kernel}).exit_code == 0);
  const auto rows = db::Database::open(database, db::OpenMode::ReadOnly).best({});
  REQUIRE(rows.size() == 2);
  std::string checks = "static_assert(sizeof(kEntries) == 2 * sizeof(Entry) && sizeof(kDevices) == sizeof(Device));\n";
  for (const auto& row : rows) {
    const auto n = base::parse_json(row.problem)["n"].get<std::int64_t>();
    for (const char* device : {"Synthetic GPU", "sm_90"}) {
      checks += fmt::format("{{ constexpr Selection found = select(\"{}\", Problem{{TChoice::kF32, {}}});\n", device, n);
      checks += "static_assert(found.match == Match::kExact);\nconst Configuration c = found.configuration;\n";
      checks += same_members("c", base::parse_json(row.configuration));
      checks += fmt::format("EXPECT(found.entry->problem.n == {});\nEXPECT(found.entry->median_us == {});\n}}\n", n, row.median_us);
    }
  }
  CHECK(told("", checks) == "");
}

TEST_CASE_FIXTURE(HeaderExport, "between tuned sizes the nearest by logarithm counts, beyond them the last, for other types the default") {
  if (!has_compiler()) return;
  REQUIRE(attune(tune_words()).exit_code == 0);
  REQUIRE(exported({kernel}).exit_code == 0);
  // 1000 and 100000 were tuned: 10000 lies in the middle of their logarithms, 50500 in that of the sizes.
  CHECK(
      told("constexpr std::int64_t nearest(std::int64_t n) {\n  const Selection s = select(\"Synthetic GPU\", Problem{TChoice::kF32, n});\n"
           "  return s.match == Match::kNearest ? s.entry->problem.n : -1;\n}\n",
           R"(static_assert(nearest(1001) == 1000);
static_assert(nearest(9990) == 1000);
static_assert(nearest(10010) == 100000);
static_assert(nearest(50000) == 100000);
static_assert(nearest(0) == 1000);
static_assert(nearest(1) == 1000);
static_assert(nearest(std::int64_t{1} << 48) == 100000);
static_assert(nearest(1000) == -1);
constexpr Selection other = select("Synthetic GPU", Problem{TChoice::kF64, 1000});
static_assert(other.match == Match::kDefault && other.entry == nullptr);
static_assert(other.configuration.block_size == 128 && other.configuration.items == 1 && other.configuration.waves == 1);
static_assert(select("Another GPU", Problem{TChoice::kF32, 1000}).match == Match::kDefault);
static_assert(select("Another GPU", "sm_90", Problem{TChoice::kF32, 1000}).match == Match::kExact);
)") == "");
}

TEST_CASE_FIXTURE(TwiceExport,
                  "a configuration that the conditions forbid at a size gives way to the next, and to the default where none is allowed") {
  if (!has_compiler()) return;
  fill("twice.db", false);
  REQUIRE(exported({folder / "twice", "--db", folder / "twice.db"}).exit_code == 0);
  CHECK(told("", R"(
static_assert(sizeof(kDevices) == 2 * sizeof(Device) && sizeof(kEntries) == 3 * sizeof(Entry));
constexpr Selection below = select("NVIDIA H200", Problem{TChoice::kF32, 4000});
static_assert(below.match == Match::kNearest && below.configuration.block_size == 32 && below.entry->problem.n == 4096);
constexpr Selection above = select("NVIDIA H200", Problem{TChoice::kF32, 5000});
static_assert(above.match == Match::kNearest && above.configuration.block_size == 64 && above.entry->problem.n == 100);
static_assert(above.configuration.style == StyleValue::kFancy && above.configuration.blocks_per_sm == 1);
constexpr Selection beyond = select("NVIDIA H200", Problem{TChoice::kF32, 600000});
static_assert(beyond.match == Match::kDefault && beyond.configuration.block_size == 256);
static_assert(!allowed(Problem{TChoice::kF32, 600000}, beyond.configuration, kDevices[0]));
constexpr Selection a100 = select("sm_80", Problem{TChoice::kF32, 1000});
static_assert(a100.match == Match::kExact && kDevices[a100.entry->device].name == "NVIDIA A100");
constexpr Selection unknown = select("NVIDIA H100 PCIe", "sm_90", Problem{TChoice::kF32, 4096});
static_assert(unknown.match == Match::kExact && kDevices[unknown.entry->device].name == "NVIDIA H200");
)") == "");
}

TEST_CASE_FIXTURE(TwiceExport, "the bytes depend on what the database holds, not on the order in which it came") {
  fill("forth.db", false);
  fill("back.db", true);
  REQUIRE(exported({folder / "twice", "--db", folder / "forth.db"}, "forth.hpp").exit_code == 0);
  REQUIRE(exported({folder / "twice", "--db", folder / "back.db"}, "back.hpp").exit_code == 0);
  CHECK(read("forth.hpp") == read("back.hpp"));
  CHECK(read("forth.hpp").find("NVIDIA A100") < read("forth.hpp").find("NVIDIA H200"));
  REQUIRE(exported({folder / "twice", "--db", folder / "forth.db"}, "again.hpp").exit_code == 0);
  CHECK(read("forth.hpp") == read("again.hpp"));
}

TEST_CASE_FIXTURE(TwiceExport, "what is specialised on its size serves that size, and its general form the others") {
  if (!has_compiler()) return;
  std::string text = kTwiceJson;
  text.insert(text.find("\"blocks_per_sm\""), R"("exact_n": {"values": [false, true], "default": false, "specialise": ["n"]}, )");
  write("twice/template.json", text);
  const auto special = spec::KernelTemplate::parse(text, {{"twice.cu", kTwiceSource}}, "twice/template.json");
  {
    LayerFile layer(folder / "special.db");
    layer.add(special, 1000, h200, R"({"block_size":64,"blocks_per_sm":4,"exact_n":true,"style":"plain"})");
  }
  REQUIRE(exported({folder / "twice", "--db", folder / "special.db"}).exit_code == 0);
  CHECK(told("", R"(
static_assert(select("sm_90", Problem{TChoice::kF32, 1000}).configuration.exact_n);
static_assert(select("sm_90", Problem{TChoice::kF32, 1001}).match == Match::kNearest);
static_assert(!select("sm_90", Problem{TChoice::kF32, 1001}).configuration.exact_n);
static_assert(select("sm_90", Problem{TChoice::kF32, 1001}).configuration.block_size == 64);
)") == "");
}

TEST_CASE_FIXTURE(TwiceExport, "nothing tuned, a namespace that is none and a database that is not there are told") {
  fill("twice.db", false);
  const auto nothing = attune({"export", "--header", kernel, "--db", folder / "twice.db"});
  CHECK(nothing.exit_code == 2);
  CHECK(nothing.out == "");
  CHECK(nothing.err.find("no verified best configuration of this version of \"double_it\"") != std::string::npos);
  const std::vector<std::string> words{"export", "--header", folder / "twice", "--db", folder / "twice.db", "--namespace"};
  for (const char* name : {"1st", "a::class", "a:b", "a-b"}) {
    auto named = words;
    named.emplace_back(name);
    CHECK(attune(named).exit_code == 2);
  }
  CHECK(attune({"export", "--header", folder / "twice", "--db", folder / "absent.db"}).exit_code == 5);
  const auto standard = attune({"export", "--header", folder / "twice", "--db", folder / "twice.db"});
  CHECK(standard.exit_code == 0);
  CHECK(standard.out.find("namespace attune_tuned::twice {") != std::string::npos);
}

}  // namespace test_export_header
