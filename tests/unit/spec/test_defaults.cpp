// The table of defaults: which configuration stands where nothing was tuned.
#include <doctest/doctest.h>

#include "tests/unit/spec/spec_support.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_defaults {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

KernelTemplate parse_with(const std::string& table, const std::string& text = sample_template()) {
  auto files = sample_files();
  files[kDefaultsFile] = table;
  return KernelTemplate::parse(text, files, "folder/t.json");
}
std::string table_of(const std::string& rows) { return R"({"attune_defaults": 1, "rows": [)" + rows + "]}"; }

std::string default_at(const std::string& rows, std::int64_t n, const DeviceInfo& device = DeviceInfo::of_architecture("sm_90")) {
  const KernelTemplate kernel = parse_with(table_of(rows));
  return to_text(kernel, default_configuration(kernel, sample_problem("f32", n), device));
}

const std::string kOwn = R"({"block_size":128,"stage":"atomic","unroll":false,"waves":2})";

}  // namespace

TEST_CASE("without a table, or a row that holds, the parameters' own defaults stand") {
  const KernelTemplate kernel = parse_sample();
  CHECK(to_text(kernel, default_configuration(kernel, sample_problem(), DeviceInfo::of_architecture("sm_90"))) == kOwn);
  CHECK(default_at("", 1000) == kOwn);
  CHECK(default_at(R"({"if": "n < 100", "use": {"block_size": 64}})", 1000) == kOwn);
}

TEST_CASE("the first row whose condition holds counts, over the own defaults of what it does not name") {
  const std::string rows =
      R"({"if": "n < 100", "use": {"block_size": 64}}, {"if": "n < 1000", "use": {"block_size": 256, "waves": 1}}, {"use": {"unroll": true}})";
  CHECK(default_at(rows, 99) == R"({"block_size":64,"stage":"atomic","unroll":false,"waves":2})");
  CHECK(default_at(rows, 100) == R"({"block_size":256,"stage":"atomic","unroll":false,"waves":1})");
  CHECK(default_at(rows, 1000) == R"({"block_size":128,"stage":"atomic","unroll":true,"waves":2})");
}

TEST_CASE("conditions see the problem, its types, the device, lets, and parameters at their own defaults") {
  auto small = DeviceInfo::of_architecture("sm_90");
  small.sm_count = 10;
  const std::string by_device = R"({"if": "n > 1000 * device.sm_count", "use": {"waves": 1}})";
  CHECK(default_at(by_device, 50000) == kOwn);
  CHECK(default_at(by_device, 50000, small) != kOwn);
  CHECK(default_at(R"({"if": "sizeof(T) == 4 and block_size == 128 and not unroll", "use": {"waves": 1}})", 5) != kOwn);
}

TEST_CASE("a row whose configuration violates a constraint is passed over") {
  const KernelTemplate kernel = parse_sample();
  // A row for everything, then one for what the first cannot serve.
  const std::string text = replaced(sample_template(), R"("constraints": [)", R"("constraints": ["block_size != 64 or n < 500", )");
  const KernelTemplate changed = parse_with(table_of(R"({"use": {"block_size": 64}}, {"use": {"block_size": 256}})"), text);
  const auto device = DeviceInfo::of_architecture("sm_90");
  CHECK(contains(to_text(changed, default_configuration(changed, sample_problem("f32", 400), device)), R"("block_size":64)"));
  CHECK(contains(to_text(changed, default_configuration(changed, sample_problem("f32", 600), device)), R"("block_size":256)"));
}

TEST_CASE("what is wrong with a table is told with its place") {
  const auto failure = [](const std::string& rows) { return error_of([&] { (void)parse_with(table_of(rows)); }); };
  CHECK(contains(failure(R"({"use": {"block_siz": 64}})"), "there is no parameter 'block_siz'"));
  CHECK(contains(failure(R"({"use": {"block_siz": 64}})"), "block_size"));
  CHECK(contains(failure(R"({"use": {"block_size": 63}})"), "the default 63 of 'block_size' is not among its values (64, 128, 256)"));
  CHECK(contains(failure(R"({"use": {"block_size": "64"}})"), "the default \"64\" of 'block_size' is not among its values (64, 128, 256)"));
  CHECK(contains(failure(R"({"if": "n < 5"})"), "\"use\""));
  CHECK(contains(failure(R"({"if": "m < 5", "use": {"waves": 1}})"), "'m'"));
  CHECK(contains(failure(R"({"if": "n <", "use": {"waves": 1}})"), "folder/defaults.json:1:"));
  CHECK(contains(failure(R"({"when": "n < 5", "use": {"waves": 1}})"), "when"));
  CHECK(contains(failure(R"([1])"), "folder/defaults.json:1:"));
  CHECK(contains(failure(R"({"use": {"block_size": 63}})"), "folder/defaults.json:1:"));
}

TEST_CASE("a table is of a known format and has rows") {
  const auto failure = [](const std::string& table) { return error_of([&] { (void)parse_with(table); }); };
  CHECK(contains(failure("{"), "folder/defaults.json:1:"));
  CHECK(contains(failure("[]"), "folder/defaults.json:1:"));
  CHECK(contains(failure(R"({"rows": []})"), "attune_defaults"));
  CHECK(contains(failure(R"({"attune_defaults": 2, "rows": []})"), "format version 2 is not known"));
  CHECK(contains(failure(R"({"attune_defaults": 1})"), "rows"));
  CHECK(contains(failure(R"({"attune_defaults": 1, "rows": [], "row": []})"), "row"));
}

TEST_CASE("a table is no part of the template's content, and goes where the template goes") {
  const KernelTemplate plain = parse_sample();
  const KernelTemplate tabled = parse_with(table_of(R"({"use": {"block_size": 64}})"));
  CHECK(tabled.content_hash == plain.content_hash);
  CHECK(tabled.files == plain.files);
  const KernelTemplate again = KernelTemplate::parse(tabled.spec_text, tabled.parts(), tabled.spec_path);
  REQUIRE(again.defaults.size() == 1);
  CHECK(again.content_hash == tabled.content_hash);
  CHECK(KernelTemplate::parse(plain.spec_text, plain.parts(), plain.spec_path).defaults.empty());
}

}  // namespace test_defaults
