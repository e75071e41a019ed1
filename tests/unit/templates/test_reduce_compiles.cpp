// The template reduce: each value of each parameter, type, operator, transform and finish compiles.
#include <set>
#include <utility>

#include "tests/unit/templates/reduce_fixture.hpp"
#include "tuner/space/search_space.hpp"

namespace test_reduce_compiles {

using namespace attune;
using namespace attune::templates::test;

namespace {

std::string source_of(const spec::Problem& of, const spec::Configuration& chosen) {
  return spec::make_source(reduce_template(), of, chosen, device());
}

/// Some configuration of the space for each pair of values of two parameters that occurs.
std::map<std::pair<std::string, std::string>, spec::Configuration> one_of_each(const spec::Problem& problem, const std::string& a,
                                                                               const std::string& b) {
  const auto& kernel = reduce_template();
  const auto space = space::SearchSpace::build(kernel, problem, device());
  const auto place = [&](const std::string& name) { return static_cast<std::size_t>(kernel.parameter(name) - kernel.parameters.data()); };
  const std::size_t first = place(a), second = place(b);
  std::map<std::pair<std::uint16_t, std::uint16_t>, spec::Configuration> found;
  // All of them, in an order that mixes the values of the other parameters.
  constexpr std::uint64_t kPrime = 1000003;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    auto chosen = space.at(i * kPrime % space.size());
    const std::pair key(chosen.index[first], chosen.index[second]);
    found.emplace(key, std::move(chosen));
  }
  std::map<std::pair<std::string, std::string>, spec::Configuration> named;
  for (auto& [key, chosen] : found) {
    named.emplace(
        std::pair(spec::to_text(kernel.parameters[first].values[key.first]), spec::to_text(kernel.parameters[second].values[key.second])),
        std::move(chosen));
  }
  return named;
}

/// A number that the sources give to a constant.
std::int64_t constant(const std::string& name) {
  const std::string& values = reduce_template().files.at("values.cu");
  const auto at = values.find(name + " = ");
  REQUIRE(at != std::string::npos);
  return std::stoll(values.substr(at + name.size() + 3));
}

}  // namespace

TEST_CASE("every block stage of reduce compiles with every grid stage that it goes with") {
  const auto of = problem("f32", "sum", 4096);
  const auto stages = one_of_each(of, "block_stage", "grid_stage");
  // The two of attune's own with 7 grid stages and shuffles with grid_sync; four trees with 1, three of libraries with 2; no block
  // stage with 3 kinds of atomics and the single thread.
  CHECK(stages.size() == 2 * 7 + 1 + 4 * 1 + 3 * 2 + 4);
  for (const auto& [names, chosen] : stages) check_compiles(reduce_template(), of, chosen);
  check_compiles(reduce_template(), problem("u8", "max", 4096), configuration({{"block_stage", "redux"}}));
  check_compiles(reduce_template(), problem("i32", "xor", 4096),
                 configuration({{"block_stage", "redux"}, {"load", "bulk"}, {"items", "2"}, {"blocks_per_sm", "1"}}));
}

TEST_CASE("every way of loading of reduce compiles with every width, and specialised on n") {
  const auto of = problem("f32", "sum", 4096);
  const auto loads = one_of_each(of, "load", "vector_bytes");
  CHECK(loads.size() == 4 * 3 + 1);  // bulk copies are of 16 bytes
  for (const auto& [names, chosen] : loads) check_compiles(reduce_template(), of, chosen);
  for (const auto& [names, chosen] : one_of_each(of, "exact_n", "grid_stage")) {
    if (names.first == "true") check_compiles(reduce_template(), of, chosen);
  }
}

TEST_CASE("every type of reduce compiles for the older architecture, and every operator on integers and floats") {
  const auto atomics = configuration({{"grid_stage", "thread_atomic"}, {"block_stage", "none"}, {"block_size", "256"}});
  for (const auto& type : kTypes) check_compiles(reduce_template(), problem(type, "sum", 4096), atomics, "sm_80");
  for (const std::string type : {"bf16", "i32"}) {
    for (const auto& op : kOperators) {
      const bool bits = op == "and" || op == "or" || op == "xor";
      if (!(bits && is_floating(type))) check_compiles(reduce_template(), problem(type, op, 4096), atomics, "sm_80");
    }
  }
}

TEST_CASE("every transform and finish of reduce compiles, and the caller's own code") {
  const auto& kernel = reduce_template();
  const auto chosen = spec::default_configuration(kernel);
  for (const std::string transform : {"absolute", "square", "shifted_square", "times", "custom"}) {
    const std::string type = transform == "times" || transform == "absolute" ? "i8" : "f32";
    check_compiles(kernel, problem_of(kernel, {{"T", type}, {"transform", transform}, {"map", "x > A(2) ? x : A(0)"}}, 4096), chosen);
  }
  check_compiles(kernel, problem_of(kernel, {{"T", "u64"}, {"finish", "scale_bias"}}, 4096), chosen);
  for (const std::string finish : {"mean", "root"})
    check_compiles(kernel, problem_of(kernel, {{"T", "f16"}, {"finish", finish}}, 4096), chosen);
  check_compiles(kernel, problem_of(kernel, {{"op", "custom"}, {"combine", "sqrtf(a * a + b * b)"}, {"start", "A(0)"}}, 4096), chosen);
}

TEST_CASE("older and newer architectures compile the default of reduce") {
  for (const char* const architecture : {"sm_75", "sm_86", "sm_89", "sm_100", "sm_120"}) {
    check_compiles(reduce_template(), problem("f32", "sum", 1), spec::default_configuration(reduce_template()), architecture);
  }
}

TEST_CASE("configurations of reduce that differ only in launches share one source") {
  const auto of = problem("f32", "sum", 1 << 20);
  std::set<std::string> sources;
  for (const char* const blocks : {"1", "2", "4", "8"}) sources.insert(source_of(of, configuration({{"blocks_per_sm", blocks}})));
  CHECK(sources.size() == 1);
  CHECK(source_of(of, configuration({{"items", "1"}})) != *sources.begin());
}

TEST_CASE("the size enters the source of reduce only where a configuration is specialised on it") {
  const auto source = [](std::int64_t n, const char* exact) {
    return source_of(problem("f32", "sum", n), configuration({{"exact_n", exact}}));
  };
  CHECK(source(1, "false") == source(std::int64_t{1} << 33, "false"));
  CHECK(source(1000, "true") != source(1001, "true"));
}

TEST_CASE("constants that stand in the sources of reduce and in its template.json agree") {
  const auto plan_of = [](const char* stage) {
    return spec::resolve(reduce_template(), problem("f32", "sum", 1 << 20), configuration({{"grid_stage", stage}}), device());
  };
  CHECK(launches(plan_of("two_pass")).at(1).block[0] == constant("kFinishThreads"));
  CHECK(count(plan_of("block_atomic"), "sync") == constant("kSyncHeader") + 1);
}

}  // namespace test_reduce_compiles
