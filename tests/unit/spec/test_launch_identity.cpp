#include "tuner/spec/launch_identity.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <vector>

#include "spec_support.hpp"

namespace test_launch_identity {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

const DeviceInfo& device() {
  static const DeviceInfo made = DeviceInfo::of_architecture("sm_90");
  return made;
}

/// The sample's problem at a size that fills this many blocks of 128.
Problem filling(std::int64_t blocks) {
  Problem problem = sample_problem();
  problem.sizes["n"] = blocks * 128 * 4;
  return problem;
}

Configuration configured(const KernelTemplate& kernel, int waves, const std::string& stage = "atomic") {
  return configuration_from_text(kernel,
                                 R"({"block_size":128,"stage":")" + stage + R"(","unroll":false,"waves":)" + std::to_string(waves) + "}");
}

std::vector<std::string> names(const KernelTemplate& kernel, const Problem& problem, int waves) {
  std::vector<std::string> texts;
  for (const auto& name : names_of(kernel, problem, configured(kernel, waves), device())) texts.push_back(to_text(kernel, name));
  CHECK(to_text(kernel, name_of(kernel, problem, configured(kernel, waves), device())) == texts.front());
  return texts;
}

}  // namespace

TEST_CASE("plans have the same key only when everything that a launch is made of is the same") {
  const KernelTemplate kernel = parse_sample();
  const LaunchPlan plan = resolve(kernel, sample_problem(), configured(kernel, 2, "two_pass"), device());
  const auto changed = [&](const std::function<void(LaunchPlan&)>& change) {
    LaunchPlan other = plan;
    change(other);
    return launch_key(other);
  };
  const auto launch = [](const std::function<void(ResolvedLaunch&)>& change) {
    return [change](LaunchPlan& other) { change(std::get<ResolvedLaunch>(other.steps.at(0))); };
  };
  const std::vector<std::string> keys{
      launch_key(plan),
      changed([](auto& other) { other.buffers[0].count = 7; }),
      changed([](auto& other) { other.buffers[0].bytes = 7; }),
      changed([](auto& other) { other.buffers[2].init = WorkspaceInit::ZeroEach; }),
      changed([](auto& other) { other.buffers[2].align_bytes = 256; }),
      changed([](auto& other) { other.scalars[0].bits = 7; }),
      changed([](auto& other) { other.steps.pop_back(); }),
      changed([](auto& other) { std::swap(other.steps[0], other.steps[1]); }),
      changed([](auto& other) {
        other.steps.emplace_back(ResolvedMemset{1, 0});
      }),
      changed([](auto& other) {
        other.steps.emplace_back(ResolvedMemset{1, 255});
      }),
      changed(launch([](auto& l) { l.kernel = "another"; })),
      changed(launch([](auto& l) { l.grid[0] = 7; })),
      changed(launch([](auto& l) { l.block[1] = 7; })),
      changed(launch([](auto& l) {
        l.cluster = {2, 1, 1};
      })),
      changed(launch([](auto& l) { l.shared_bytes = 7; })),
      changed(launch([](auto& l) { l.cooperative = true; })),
      changed(launch([](auto& l) { l.dependent = true; })),
      changed(launch([](auto& l) { l.arguments.pop_back(); })),
      changed(launch([](auto& l) { l.arguments[0].index = 1; })),
      changed(launch([](auto& l) { l.arguments[1].bits ^= 1; })),
      changed(launch([](auto& l) { l.arguments[1].size_bytes = 4; })),
  };
  CHECK(std::set<std::string>(keys.begin(), keys.end()).size() == keys.size());
  CHECK(changed([](auto&) {}) == keys[0]);
  CHECK(changed([](auto& other) { other.work_bytes = 7; }) == keys[0]);  // what is counted is not what runs
}

TEST_CASE("a launch-bound parameter is another name where it changes no launch, and no other parameter ever is") {
  const KernelTemplate kernel = parse_sample();
  const int sm_count = device().sm_count;
  REQUIRE(sm_count > 0);
  const auto one = to_text(kernel, configured(kernel, 1)), two = to_text(kernel, configured(kernel, 2));
  // As many blocks as one wave has: the second is never used. The default (waves 2) names both.
  CHECK(names(kernel, filling(sm_count), 1) == std::vector<std::string>{two, one});
  CHECK(names(kernel, filling(sm_count), 2) == std::vector<std::string>{two, one});
  CHECK(names(kernel, filling(sm_count + 1), 1) == std::vector<std::string>{one});
  CHECK(names(kernel, filling(sm_count + 1), 2) == std::vector<std::string>{two});
}

TEST_CASE("the default at the problem names what it runs, else the values nearest to the parameters' own defaults do") {
  const std::string four =
      replaced(sample_template(), R"("waves": {"values": [1, 2], "default": 2)", R"("waves": {"values": [1, 2, 4, 8], "default": 4)");
  const KernelTemplate plain = parse_sample(four);
  auto files = sample_files();
  files[kDefaultsFile] = R"({"attune_defaults": 1, "rows": [{"if": "n < 100000", "use": {"waves": 8}}]})";
  const KernelTemplate tabled = KernelTemplate::parse(four, files, "t.json");
  const auto first = [&](const KernelTemplate& kernel, const std::string& stage) {
    return to_text(value_of(kernel, names_of(kernel, filling(2), configured(kernel, 1, stage), device()).front(), 3));
  };
  CHECK(first(plain, "atomic") == "4");
  CHECK(first(plain, "two_pass") == "4");
  CHECK(first(tabled, "atomic") == "8");
  CHECK(first(tabled, "two_pass") == "4");
}

TEST_CASE("a configuration that violates a constraint or cannot be launched is no other's name") {
  const KernelTemplate kernel = parse_sample(replaced(sample_template(), R"("block_size * sizeof(T) <= 1024",)",
                                                      R"("block_size * sizeof(T) <= 1024", "waves == 1 or n > 1000000",)"));
  CHECK(names(kernel, filling(1), 1) == std::vector<std::string>{to_text(kernel, configured(kernel, 1))});
  const KernelTemplate huge = parse_sample(
      replaced(sample_template(), R"("grid": "grid", "block": "block_size")", R"("grid": "grid", "block": "block_size * 100")"));
  CHECK(names(huge, filling(1), 2).size() == 1);
}

}  // namespace test_launch_identity
