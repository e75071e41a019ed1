#include "tuner/space/launch_classes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tuner/base/json.hpp"
#include "tuner/spec/condition.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace test_launch_classes {

using namespace attune;
using space::LaunchClasses;
using space::Ordinal;
using space::SearchSpace;

namespace {

/// As many multiprocessors as an H200, where two names for one launch were once told as a winner and its loser.
spec::DeviceInfo h200() {
  auto device = spec::DeviceInfo::of_architecture("sm_90");
  device.sm_count = 132;
  return device;
}

struct Reduce {
  spec::KernelTemplate kernel = spec::TemplateLibrary().find("reduce");
  spec::DeviceInfo device = h200();
  spec::Problem problem;
  SearchSpace space;

  explicit Reduce(const std::string& type, std::int64_t n)
      : problem{{{"T", type}, {"op", "max"}}, {{"n", n}}}, space(SearchSpace::build(kernel, problem, device)) {}
};

/// What a configuration runs, in words of its own: the code by its source-bound values, and the key of its launches.
std::string what_runs(const Reduce& reduce, Ordinal ordinal) {
  const auto configuration = reduce.space.at(ordinal);
  std::string text = spec::launch_key(spec::resolve(reduce.kernel, reduce.problem, configuration, reduce.device));
  for (std::size_t i = 0; i < reduce.kernel.parameters.size(); ++i) {
    if (reduce.kernel.parameters[i].binding == spec::Binding::Source) text += "," + std::to_string(configuration.index[i]);
  }
  return text;
}

}  // namespace

TEST_CASE("configurations are in one class exactly when they run the same, at a small and a large size") {
  for (const std::int64_t n : {5000, 3'000'017}) {
    CAPTURE(n);
    const Reduce reduce("i32", n);
    LaunchClasses classes(reduce.kernel, reduce.problem, reduce.device, reduce.space);
    std::map<std::string, Ordinal> named;  // by what runs
    std::set<Ordinal> names;
    for (Ordinal i = 0; i < reduce.space.size(); ++i) {
      const Ordinal name = classes.canonical(i);
      const auto [known, fresh] = named.try_emplace(what_runs(reduce, i), name);
      CHECK(known->second == name);
      CHECK(classes.canonical(name) == name);
      names.insert(name);
    }
    CHECK(names.size() == named.size());
    CHECK(names.size() < reduce.space.size());
    CHECK(LaunchClasses(reduce.kernel, reduce.problem, reduce.device, reduce.space).count() == names.size());
  }
}

TEST_CASE("four and eight blocks an SM are one where 367 blocks fill neither") {
  const Reduce reduce("i32", 3'000'017);
  const auto of = [&](int blocks_per_sm) {
    return reduce.space.find(spec::configuration_from_text(
        reduce.kernel, R"({"block_size":512,"block_stage":"column_tree","blocks_per_sm":)" + std::to_string(blocks_per_sm) +
                           R"(,"cluster_blocks":1,"exact_n":false,"grid_stage":"ticket","items":4,"load":"tiles","vector_bytes":16})"));
  };
  LaunchClasses classes(reduce.kernel, reduce.problem, reduce.device, reduce.space);
  REQUIRE(of(2).has_value());
  CHECK(classes.canonical(*of(4)) == classes.canonical(*of(8)));
  CHECK(classes.canonical(*of(2)) != classes.canonical(*of(4)));
  // The default names its own launch.
  const auto standard = spec::default_configuration(reduce.kernel, reduce.problem, reduce.device);
  auto other = base::parse_json(spec::to_text(reduce.kernel, standard));
  REQUIRE(other["blocks_per_sm"] == 4);
  other["blocks_per_sm"] = 8;
  const auto twin = reduce.space.find(spec::configuration_from_text(reduce.kernel, base::dump_json(other)));
  REQUIRE(twin.has_value());
  CHECK(reduce.space.at(classes.canonical(*twin)) == standard);
}

TEST_CASE("within a part of a space only those of the part are classed, and counting can be ended") {
  const Reduce reduce("f32", 5000);
  const auto part = SearchSpace::build(reduce.kernel, reduce.problem, reduce.device,
                                       {spec::parse_condition(reduce.kernel, "blocks_per_sm == 8", {"--where", 1, 1})});
  LaunchClasses classes(reduce.kernel, reduce.problem, reduce.device, part);
  CHECK(classes.count() == part.size());
  LaunchClasses whole(reduce.kernel, reduce.problem, reduce.device, reduce.space);
  CHECK(whole.count([] { return false; }) == 0);
}

}  // namespace test_launch_classes
