#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "attune/error.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/runtime/lookup.hpp"

namespace test_lookup {

using namespace attune;
using namespace attune::test;

namespace {

/// One database file, looked through for a device of sm_90 with 132 SMs.
struct Fixture {
  TempFolder folder;
  spec::KernelTemplate kernel = twice_template();
  spec::DeviceInfo here = device("sm_90", "Here", 132);
  LayerFile user{folder / "user.db"};

  runtime::Choice choose(std::int64_t n, const std::vector<std::filesystem::path>& paths) const {
    const auto opened = runtime::open_layers(paths);
    return runtime::choose(kernel, twice_problem(n), here, opened.layers, {"cold/graph"});
  }
  runtime::Choice choose(std::int64_t n) const { return choose(n, {user.path()}); }
  std::string prefix(const char* tier, std::int64_t n, const std::string& device_name) const {
    return std::string(tier) + ": " + spec::to_text(twice_problem(n)) + " on " + device_name + " (" + user.path().string() + "): ";
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a result of this device at this size is taken and fully described") {
  user.add(kernel, 1000, here, configuration(64, "fancy", 1));
  const auto choice = choose(1000);
  CHECK(choice.decision.tier == Tier::ExactSize);
  CHECK(choice.decision.configuration == R"({"block_size":64,"blocks_per_sm":1,"style":"fancy"})");
  CHECK(choice.decision.donor_problem == R"({"T":"f32","n":1000})");
  CHECK(choice.decision.donor_device == "Here");
  CHECK(choice.decision.recorded_at == "2026-11-20T13:17:05Z");
  CHECK(choice.decision.median_us == 3.5);
  CHECK_FALSE(choice.decision.aged);
  CHECK(choice.decision.layer == user.path().string());
  CHECK(choice.decision.passed_over.empty());
  CHECK(choice.layer == 0);
  REQUIRE(choice.plan.steps.size() == 1);
  CHECK(std::get<spec::ResolvedLaunch>(choice.plan.steps[0]).grid[0] == 16);  // ceil(1000 / 64)
}

TEST_CASE_FIXTURE(Fixture, "between tuned sizes the nearest in log size wins") {
  user.add(kernel, 1000, here, configuration(64));
  user.add(kernel, 100000, here, configuration(256, "fancy"));
  CHECK(choose(9000).decision.donor_problem == R"({"T":"f32","n":1000})");  // 10000 is the geometric middle
  CHECK(choose(11000).decision.donor_problem == R"({"T":"f32","n":100000})");
  CHECK(choose(9000).decision.tier == Tier::NearestSize);
}

TEST_CASE_FIXTURE(Fixture, "a nearer size whose configuration violates a constraint here is passed over and explained") {
  user.add(kernel, 4096, here, configuration(32));
  user.add(kernel, 100, here, configuration(64));
  const auto choice = choose(5000);
  CHECK(choice.decision.tier == Tier::NearestSize);
  CHECK(choice.decision.donor_problem == R"({"T":"f32","n":100})");
  REQUIRE(choice.decision.passed_over.size() == 1);
  CHECK(choice.decision.passed_over[0] ==
        prefix("nearest size", 4096, "Here") +
            R"({"block_size":32,"blocks_per_sm":4,"style":"plain"} violates 'block_size > 32 or n <= 4096' here)");
}

TEST_CASE_FIXTURE(Fixture, "any size of this device comes before the same size of a sibling") {
  user.add(kernel, 1000, device("sm_90", "Sibling", 114), configuration(64));
  user.add(kernel, 100000, here, configuration(256, "fancy"));
  CHECK(choose(1000).decision.donor_device == "Here");
}

TEST_CASE_FIXTURE(Fixture, "a sibling of the architecture serves a device without results, the nearer in SM count first") {
  user.add(kernel, 1000, device("sm_90", "Small sibling", 78), configuration(256));
  user.add(kernel, 1000, device("sm_90", "Near sibling", 114), configuration(64, "fancy"));
  user.add(kernel, 1000, device("sm_80", "Other", 132), configuration(32));
  const auto choice = choose(1000);
  CHECK(choice.decision.tier == Tier::SiblingDevice);
  CHECK(choice.decision.donor_device == "Near sibling");
}

TEST_CASE_FIXTURE(Fixture, "the nearest architecture by compute capability serves last, newer or older") {
  here = device("sm_86", "Here", 84);
  user.add(kernel, 1000, device("sm_75", "Far", 40), configuration(32));
  user.add(kernel, 1000, device("sm_90", "Near", 132), configuration(64));
  const auto choice = choose(1000);
  CHECK(choice.decision.tier == Tier::OtherDevice);
  CHECK(choice.decision.donor_device == "Near");  // 90 - 86 < 86 - 75
}

TEST_CASE_FIXTURE(Fixture, "of two equally near architectures the older serves") {
  here = device("sm_80", "Here", 108);
  user.add(kernel, 1000, device("sm_90", "Newer", 108), configuration(64));
  user.add(kernel, 1000, device("sm_70", "Older", 80), configuration(256));
  CHECK(choose(1000).decision.donor_device == "Older");
}

TEST_CASE_FIXTURE(Fixture,
                  "a default that a table chose stands before results of other devices, but for this architecture's at these very sizes") {
  const auto sibling = device("sm_90", "Sibling", 114), other = device("sm_80", "Other", 108);
  user.add(best_row(kernel, twice_problem(1000), sibling, configuration(64)), sibling);
  user.add(best_row(kernel, twice_problem(2000), other, configuration(64)), other);
  for (const std::int64_t n : {900, 1000, 2000}) CHECK(choose(n).decision.configuration == configuration(64));
  spec::DefaultRow row;
  row.values = {{0, 2}, {2, 0}};
  kernel.defaults = {row};
  const std::string standard = configuration(256, "plain", 1);
  const auto near = choose(900).decision, there = choose(2000).decision;
  CHECK(near.tier == Tier::Default);
  CHECK(near.configuration == standard);
  REQUIRE(near.passed_over.size() == 1);
  CHECK(near.passed_over.front().find("on Sibling") != std::string::npos);
  CHECK(near.passed_over.front().find("and 1 more: the template's table of defaults has a row for this problem") != std::string::npos);
  CHECK(there.configuration == standard);
  CHECK(choose(1000).decision.tier == Tier::SiblingDevice);
  CHECK(choose(1000).decision.configuration == configuration(64));
}

TEST_CASE_FIXTURE(Fixture, "what a newer architecture tuned is refused where a constraint needs that architecture") {
  here = device("sm_80", "Here", 108);
  user.add(kernel, 1000, device("sm_90", "Newer", 132), configuration(64, "fancy"));
  const auto choice = choose(1000);
  CHECK(choice.decision.tier == Tier::Default);
  REQUIRE(choice.decision.passed_over.size() == 1);
  CHECK(choice.decision.passed_over[0] ==
        prefix("other device", 1000, "Newer") +
            R"({"block_size":64,"blocks_per_sm":4,"style":"fancy"} violates 'style != 'fancy' or device.compute_capability >= 90' here)");
}

TEST_CASE_FIXTURE(Fixture, "without any result the template's default is chosen") {
  const auto choice = choose(1000);
  CHECK(choice.decision.tier == Tier::Default);
  CHECK(choice.decision.configuration == R"({"block_size":256,"blocks_per_sm":4,"style":"plain"})");
  CHECK(choice.decision.donor_problem.empty());
  CHECK(choice.decision.median_us == 0);
  CHECK_FALSE(choice.layer.has_value());
  CHECK(choice.decision.passed_over.empty());
}

TEST_CASE_FIXTURE(Fixture, "a configuration outside the declared space is refused and named") {
  user.add(kernel, 1000, here, configuration(128));
  user.add(kernel, 2000, here, configuration(64));
  const auto choice = choose(1000);
  CHECK(choice.decision.tier == Tier::NearestSize);
  REQUIRE(choice.decision.passed_over.size() == 1);
  CHECK(choice.decision.passed_over[0].starts_with(prefix("exact size", 1000, "Here") +
                                                   "its configuration is not in the template's space: "));
  CHECK(choice.decision.passed_over[0].find("block_size") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a default that violates a constraint is an error that names it") {
  try {
    static_cast<void>(choose(600000));
    FAIL("no error");
  } catch (const UsageError& error) {
    const std::string message = error.what();
    CHECK(message.find("'n <= 500000'") != std::string::npos);
    CHECK(message.find("attune tune twice") != std::string::npos);
    CHECK(message.find(R"({"T":"f32","n":600000})") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Fixture, "a size outside the template's range is misuse") {
  CHECK_THROWS_AS(static_cast<void>(choose(1000001)), UsageError);
  CHECK_THROWS_AS(static_cast<void>(choose(-1)), UsageError);
}

TEST_CASE_FIXTURE(Fixture, "an exact size in a later layer comes before a nearest size in an earlier one") {
  LayerFile shipped(folder / "shipped.db");
  user.add(kernel, 2000, here, configuration(64));
  shipped.add(kernel, 1000, here, configuration(32));
  const auto choice = choose(1000, {user.path(), shipped.path()});
  CHECK(choice.decision.tier == Tier::ExactSize);
  CHECK(choice.layer == 1);
  CHECK(choice.decision.layer == shipped.path().string());
}

TEST_CASE_FIXTURE(Fixture, "of equal candidates the earlier layer's wins") {
  LayerFile shipped(folder / "shipped.db");
  shipped.add(kernel, 1000, here, configuration(32));
  user.add(kernel, 1000, here, configuration(64));
  CHECK(choose(1000, {user.path(), shipped.path()}).decision.configuration.find("\"block_size\":64") != std::string::npos);
  CHECK(choose(1000, {shipped.path(), user.path()}).decision.configuration.find("\"block_size\":32") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a result recorded under another driver is aged, not refused") {
  auto row = best_row(kernel, twice_problem(1000), here, configuration(64));
  row.driver = "570.00";
  user.add(row, here);
  const auto choice = choose(1000);
  CHECK(choice.decision.tier == Tier::ExactSize);
  CHECK(choice.decision.aged);
}

TEST_CASE_FIXTURE(Fixture, "results for another version of the template or another policy are counted, not used") {
  auto old = best_row(kernel, twice_problem(1000), here, configuration(64));
  old.template_hash = "0123";
  user.add(old, here);
  auto hot = best_row(kernel, twice_problem(1000), here, configuration(64));
  hot.policy = "hot/graph";
  user.add(hot, here);
  const auto choice = choose(1000);
  CHECK(choice.decision.tier == Tier::Default);
  REQUIRE(choice.decision.passed_over.size() == 2);
  CHECK(choice.decision.passed_over[0] == user.path().string() + ": 1 result(s) belong to another version of the template 'twice'");
  CHECK(choice.decision.passed_over[1] == user.path().string() + ": 1 result(s) were tuned for another policy than cold/graph");
}

TEST_CASE_FIXTURE(Fixture, "a layer that turns out damaged is passed over, and the next one serves") {
  LayerFile shipped(folder / "shipped.db");
  shipped.add(kernel, 1000, here, configuration(32));
  user.add(kernel, 1000, here, configuration(64));
  std::filesystem::path damaged = folder / "damaged.db";
  user.database().export_to(damaged);
  const auto opened = runtime::open_layers({damaged, shipped.path()});
  {
    // Everything behind the first page, which holds the schema, is overwritten.
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    const auto bytes = static_cast<std::streamoff>(std::filesystem::file_size(damaged));
    file.seekp(4096);
    for (std::streamoff i = 4096; i < bytes; ++i) file.put('\x55');
  }
  const auto choice = runtime::choose(kernel, twice_problem(1000), here, opened.layers, {"cold/graph"});
  CHECK(choice.layer == 1);
  REQUIRE(choice.decision.passed_over.size() == 1);
  CHECK(choice.decision.passed_over[0].starts_with(damaged.string() + ": "));
}

TEST_CASE_FIXTURE(Fixture, "results of another family do not serve") {
  auto row = best_row(kernel, spec::Problem{{{"T", "f64"}}, {{"n", 1000}}}, here, configuration(64));
  user.add(row, here);
  CHECK(choose(1000).decision.tier == Tier::Default);
}

TEST_CASE_FIXTURE(Fixture, "another objective than time is not dispatched") {
  auto row = best_row(kernel, twice_problem(1000), here, configuration(64));
  row.objective = "energy";
  user.add(row, here);
  CHECK(choose(1000).decision.tier == Tier::Default);
}

TEST_CASE_FIXTURE(Fixture, "rows that cannot be placed are passed over with the reason") {
  auto strange_sizes = best_row(kernel, twice_problem(1000), here, configuration(64));
  strange_sizes.sizes_json = R"({"rows":10})";
  user.add(strange_sizes, here);
  auto broken = best_row(kernel, twice_problem(2000), here, configuration(64));
  broken.sizes_json = "{";
  user.add(broken, here);
  auto unknown_device = best_row(kernel, twice_problem(3000), device("sm_90", "Nobody", 1), configuration(64));
  user.database().put(unknown_device);
  const auto passed = choose(1000).decision.passed_over;
  const auto holds = [&](const std::string& text) {
    return std::any_of(passed.begin(), passed.end(), [&](const auto& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(passed.size() == 3);
  CHECK(holds("its sizes {\"rows\":10} are not those of the template"));
  CHECK(holds("the row cannot be read"));
  CHECK(holds("is not described there"));
}

TEST_CASE_FIXTURE(Fixture, "the stored cubin's keys come with the choice") {
  auto row = best_row(kernel, twice_problem(1000), here, configuration(64));
  row.cubin_key = "cafe";
  row.detail_json = R"({"source_key":"beef"})";
  user.add(row, here);
  const auto choice = choose(1000);
  CHECK(choice.cubin_key == "cafe");
  CHECK(choice.source_key == "beef");
}

TEST_CASE("the distance between sizes is Euclidean in powers of two, and zero counts as half") {
  const auto sizes = [](std::int64_t m, std::int64_t n) { return spec::Problem{{}, {{"m", m}, {"n", n}}}; };
  CHECK(runtime::size_distance(sizes(8, 16), sizes(1, 1)) == doctest::Approx(5.0));  // 3-4-5
  CHECK(runtime::size_distance(sizes(0, 1), sizes(1, 1)) == doctest::Approx(1.0));
  CHECK(runtime::size_distance(sizes(0, 0), sizes(0, 0)) == 0.0);
}

TEST_CASE_FIXTURE(Fixture, "a size of zero is served from the nearest tuned size") {
  user.add(kernel, 1, here, configuration(64));
  const auto choice = choose(0);
  CHECK(choice.decision.tier == Tier::NearestSize);
  CHECK(std::get<spec::ResolvedLaunch>(choice.plan.steps[0]).grid[0] == 1);
}

TEST_CASE_FIXTURE(Fixture, "a decision is described line by line") {
  user.add(kernel, 4096, here, configuration(32));
  auto row = best_row(kernel, twice_problem(100), here, configuration(64));
  row.driver = "570.00";
  user.add(row, here);
  auto decision = choose(5000).decision;
  decision.cubin_source = "cache";
  const std::chrono::sys_days later = std::chrono::year(2026) / 11 / 24;
  CHECK(describe(decision, later) ==
        "tier:          nearest size (tuned on this device at another size)\n"
        "configuration: {\"block_size\":64,\"blocks_per_sm\":4,\"style\":\"plain\"}\n"
        "record:        {\"T\":\"f32\",\"n\":100} on Here, 3.5 us\n"
        "recorded:      2026-11-20T13:17:05Z, 3 days old (aged: under driver 570.00)\n"
        "layer:         " +
            user.path().string() +
            "\n"
            "code:          cache\n"
            "passed over:   " +
            prefix("nearest size", 4096, "Here") +
            "{\"block_size\":32,\"blocks_per_sm\":4,\"style\":\"plain\"} violates 'block_size > 32 or n <= 4096' here");
  CHECK(describe(Decision{}) ==
        "tier:          default (the template's default; nothing usable was recorded)\n"
        "configuration: ");
}

TEST_CASE("an age is told in the largest unit that fits") {
  using namespace std::chrono;
  const sys_seconds recorded = sys_days(year(2026) / 11 / 20) + hours(13) + minutes(17) + seconds(5);
  const auto after = [&](seconds age) { return age_in_words("2026-11-20T13:17:05Z", recorded + age); };
  CHECK(after(seconds(0)) == "just recorded");
  CHECK(after(seconds(59)) == "just recorded");
  CHECK(after(minutes(1)) == "1 minute old");
  CHECK(after(minutes(59) + seconds(59)) == "59 minutes old");
  CHECK(after(hours(1)) == "1 hour old");
  CHECK(after(hours(24) - seconds(1)) == "23 hours old");
  CHECK(after(days(1)) == "1 day old");
  CHECK(after(days(59)) == "59 days old");
  CHECK(after(days(61)) == "2 months old");
  CHECK(after(days(700)) == "22 months old");
  CHECK(after(days(731)) == "2 years old");
  CHECK(after(seconds(-30)) == "just recorded");  // clocks of two machines
  CHECK(after(hours(-1)) == "from the future: a clock is wrong");
  CHECK(age_in_words("2026-11-20T13:17:05.250Z", recorded + days(1)) == "1 day old");
  CHECK(age_in_words("yesterday", recorded) == "of unknown age");
  CHECK(age_in_words("", recorded) == "of unknown age");
}

}  // namespace test_lookup
