// The table "defaults": which configuration stands where nothing was tuned.
#include <doctest/doctest.h>

#include "tests/unit/spec/spec_support.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_defaults {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

std::string with_table(const std::string& rows) { return replaced(sample_template(), R"("buffers": {)", R"("defaults": [)" + rows + R"(], "buffers": {)"); }

std::string default_at(const std::string& rows, std::int64_t n, const DeviceInfo& device = DeviceInfo::of_architecture("sm_90")) {
  const KernelTemplate kernel = parse_sample(with_table(rows));
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
  const std::string rows = R"({"if": "n < 100", "use": {"block_size": 64}}, {"if": "n < 1000", "use": {"block_size": 256, "waves": 1}}, {"use": {"unroll": true}})";
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
  const std::string text = replaced(with_table(R"({"use": {"block_size": 64}}, {"use": {"block_size": 256}})"), R"("constraints": [)", R"("constraints": ["block_size != 64 or n < 500", )");
  const KernelTemplate changed = parse_sample(text);
  const auto device = DeviceInfo::of_architecture("sm_90");
  CHECK(contains(to_text(changed, default_configuration(changed, sample_problem("f32", 400), device)), R"("block_size":64)"));
  CHECK(contains(to_text(changed, default_configuration(changed, sample_problem("f32", 600), device)), R"("block_size":256)"));
}

TEST_CASE("what is wrong with a table is told with its place") {
  const auto failure = [](const std::string& rows) { return error_of([&] { (void)parse_sample(with_table(rows)); }); };
  CHECK(contains(failure(R"({"use": {"block_siz": 64}})"), "there is no parameter 'block_siz'"));
  CHECK(contains(failure(R"({"use": {"block_siz": 64}})"), "block_size"));
  CHECK(contains(failure(R"({"use": {"block_size": 63}})"), "the default 63 of 'block_size' is not among its values (64, 128, 256)"));
  CHECK(contains(failure(R"({"if": "n < 5"})"), "\"use\""));
  CHECK(contains(failure(R"({"if": "m < 5", "use": {"waves": 1}})"), "'m'"));
  CHECK(contains(failure(R"({"if": "n <", "use": {"waves": 1}})"), "t.json:"));
  CHECK(contains(failure(R"({"when": "n < 5", "use": {"waves": 1}})"), "when"));
  CHECK(contains(failure(R"([1])"), "t.json:"));
  CHECK(contains(failure(R"({"use": {"block_size": 63}})"), "t.json:"));
}

}  // namespace test_defaults
