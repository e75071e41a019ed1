// What of a database's best rows is of the past.
#include <doctest/doctest.h>

#include "attune/error.hpp"
#include "tuner/session/tune/renewal.hpp"

namespace test_renewal {

using namespace attune;

namespace {

const char* const kSpec = R"({
  "attune": 1, "name": "copy", "summary": "", "sources": ["copy.cu"],
  "problem": {"T": {"type": ["f32", "f64"]}, "n": {"size": {"min": 0}}, "mode": {"choice": ["plain", "fast"], "default": "plain"}},
  "parameters": {"block_size": {"values": [64, 128], "default": 64}},
  "buffers": {"in": {"type": "T", "count": "n"}, "out": {"type": "T", "count": "n", "output": true}},
  "launches": [{"kernel": "copy", "grid": 1, "block": "block_size", "args": ["in", "out", "n"]}],
  "reference": "none"
})";

spec::KernelTemplate kernel() { return spec::KernelTemplate::parse(kSpec, {{"copy.cu", "// nothing"}}, "copy/template.json"); }

db::BestRow row(const std::string& problem) {
  db::BestRow row;
  row.template_hash = kernel().content_hash;
  row.template_name = "copy";
  row.problem = problem;
  row.device_key = "this";
  row.policy = "cold/graph";
  row.driver = "2";
  row.nvrtc = "13.1";
  return row;
}

db::BestRow of_version(db::BestRow row) {
  row.template_hash = "an older one";
  return row;
}

db::BestRow of_compiler(db::BestRow row, const std::string& nvrtc) {
  row.nvrtc = nvrtc;
  return row;
}

/// `looks`: how often a template was asked for.
session::RenewalPlan plan(const std::vector<db::BestRow>& rows, int* looks = nullptr, const session::RenewalScope& scope = {}) {
  const auto find = [looks](const std::string& name) {
    if (looks != nullptr) ++*looks;
    if (name == "broken") throw SpecError("broken/template.json", 3, 1, "unexpected end");
    return name == "copy" ? std::optional(kernel()) : std::nullopt;
  };
  return session::plan_renewal(rows, {"this", "2", "13.1", find}, scope);
}

constexpr const char* kSmall = R"({"T":"f32","n":10})";
constexpr const char* kLarge = R"({"T":"f32","n":20})";

}  // namespace

TEST_CASE("a result of another compiler is renewed; one whose compiler nobody noted is not known to be older") {
  const auto planned = plan({of_compiler(row(kSmall), "13.0"), of_compiler(row(kLarge), "")});
  REQUIRE(planned.renewals.size() == 1);
  CHECK(planned.renewals[0].of_another_compiler == 1);
  CHECK(planned.renewals[0].of_another_version == 0);
  REQUIRE(planned.renewals[0].problems.size() == 1);
  CHECK(planned.renewals[0].problems[0].sizes.at("n") == 10);
  CHECK(planned.current == 1);
}

TEST_CASE("of several versions' rows of a problem the one nearest to the present speaks for it, in any order") {
  const auto current = row(kSmall), old = of_version(row(kSmall)), recompiled = of_compiler(row(kSmall), "13.0");
  CHECK(plan({old, current}).current == 1);
  CHECK(plan({current, old}).renewals.empty());
  for (const auto& rows : {std::vector{old, recompiled}, std::vector{recompiled, old}}) {
    const auto planned = plan(rows);
    REQUIRE(planned.renewals.size() == 1);
    CHECK(planned.renewals[0].problems.size() == 1);
    CHECK(planned.renewals[0].of_another_version == 0);
    CHECK(planned.renewals[0].of_another_compiler == 1);
  }
}

TEST_CASE("a problem that an older version spelled out is the same as its short form now") {
  const auto planned = plan({of_version(row(R"({"T":"f32","mode":"plain","n":10})")), row(kSmall)});
  CHECK(planned.renewals.empty());
  CHECK(planned.current == 1);
}

TEST_CASE("a template that cannot be read keeps no other from being renewed; it is read once, and why is told of each of its problems") {
  auto small = row(kSmall), large = row(kLarge);
  small.template_name = large.template_name = "broken";
  int looks = 0;
  const auto planned = plan({small, of_version(row(kSmall)), large}, &looks);
  CHECK(planned.renewals.size() == 1);
  REQUIRE(planned.impossible.size() == 2);
  for (const auto& one : planned.impossible) CHECK(one.why.find("broken/template.json:3:1") != std::string::npos);
  CHECK(looks == 2);
}

TEST_CASE("policies are renewed apart; what cannot be asked any more is told once, with the reason") {
  auto hot = of_version(row(kSmall));
  hot.policy = "hot/graph";
  auto other = of_version(row(R"({"T":"i8","n":10})")), gone = row(kSmall), elsewhere = row(kSmall);
  gone.template_name = "moved";
  elsewhere.device_key = "that";
  const auto planned = plan({hot, of_version(row(kSmall)), other, other, gone, elsewhere});
  CHECK(planned.renewals.size() == 2);
  CHECK(planned.of_other_devices == 1);
  REQUIRE(planned.impossible.size() == 2);
  CHECK(planned.impossible[0].why.find("i8") != std::string::npos);
  CHECK(planned.impossible[1].why.find("--template-folder") != std::string::npos);
}

TEST_CASE("versions compare number by number; what says none, or another kind of version, is not known to be older") {
  using session::is_older;
  CHECK(is_older("580.9.04", "580.159.04"));
  CHECK(is_older("570.86.10", "580.1"));
  CHECK(is_older("13.0", "13.0.1"));
  CHECK(is_older("9.2.88 CL-99", "13.0.88 CL-1"));
  CHECK(is_older("CUDA 9.2", "CUDA 13.0"));
  CHECK_FALSE(is_older("CUDA 13.0", "580.9.04"));
  CHECK_FALSE(is_older("580.159.04", "580.9.04"));
  CHECK_FALSE(is_older("580.9.4", "580.9.04"));
  CHECK_FALSE(is_older("13.0.88 CL-1", "13.0.88 CL-2"));
  for (const char* none : {"", "unknown", "CUDA", "99999999999999999999.1"}) {
    CAPTURE(none);
    CHECK_FALSE(is_older(none, "580.9"));
    CHECK_FALSE(is_older("1", none));
  }
}

TEST_CASE("of what is not of the present only what is under an older driver or compiler has aged, and of that only what is old enough") {
  auto by_driver = row(R"({"T":"f32","n":1})"), by_newer = row(R"({"T":"f32","n":2})");
  by_driver.driver = "1.99";
  by_driver.recorded_at = "2026-03-01T00:00:00Z";
  by_newer.driver = "3";
  auto by_compiler = of_compiler(row(R"({"T":"f32","n":3})"), "9.9");
  by_compiler.recorded_at = "2026-03-01T00:00:00.000001Z";
  const auto older_version = of_version(by_driver);  // of the same problem, and farther from the present
  auto changed = of_version(row(R"({"T":"f32","n":4})"));
  changed.driver = "1";
  const std::vector rows{older_version, by_driver, by_newer, by_compiler, changed, row(kSmall)};
  const auto all = plan(rows), aged = plan(rows, nullptr, {true, {}}), old = plan(rows, nullptr, {true, "2026-03-01T00:00:00.000001Z"});
  REQUIRE(all.renewals.size() == 1);
  CHECK(all.renewals[0].problems.size() == 4);
  CHECK(all.out_of_scope == 0);
  CHECK(all.renewals[0].aged == 2);  // as many as a plan of these alone has
  REQUIRE(aged.renewals.size() == 1);
  CHECK(aged.renewals[0].problems.size() == 2);
  CHECK(aged.renewals[0].of_another_version == 0);
  CHECK(aged.out_of_scope == 2);
  CHECK(aged.current == 1);
  REQUIRE(old.renewals.size() == 1);
  REQUIRE(old.renewals[0].problems.size() == 1);
  CHECK(old.renewals[0].problems[0].sizes.at("n") == 1);
  CHECK(old.out_of_scope == 3);
}

}  // namespace test_renewal
