// The template reduction: every stage, load, type, operator and transform. Its inputs are small integers and its reference is a
// plain kernel, so that results are exact in any order.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/gpu/lab.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/launch_plan.hpp"

using namespace attune;
using measure::Outcome;

namespace {

const spec::KernelTemplate& reduction() {
  static const auto kernel = spec::TemplateLibrary().find("reduce");
  return kernel;
}

spec::Problem of(std::map<std::string, std::string> choices, std::int64_t n) {
  choices.emplace("T", "f32");
  choices.emplace("op", "sum");
  return spec::canonical(reduction(), {std::move(choices), {{"n", n}}});
}

/// Compiles all first, so that the compile workers work side by side.
void check_all(const spec::Problem& problem, const std::vector<spec::Configuration>& configurations) {
  auto& lab = test::Lab::get();
  const auto& device = lab.executor().device();
  for (const auto& configuration : configurations) {
    lab.compilers().submit({spec::make_source(reduction(), problem, configuration, device), "reduce.cu", device.architecture, reduction().options});
  }
  while (lab.compilers().pending() > 0) static_cast<void>(lab.compilers().collect(std::chrono::milliseconds(1000)));
  lab.prepare(lab.executor(), reduction(), problem);
  for (const auto& configuration : configurations) {
    auto request = lab.request(reduction(), problem, configuration);
    request.max_samples = 1;
    const auto reply = test::Lab::visit(lab.executor(), request);
    INFO(spec::to_text(problem), " ", request.configuration, ": ", reply.detail);
    CHECK(reply.outcome == Outcome::Ok);
    CHECK(reply.verified);
  }
}

/// Configurations of the space that have every pair of values of two parameters that occur together.
std::vector<spec::Configuration> one_of_each(const spec::Problem& problem, const std::string& a, const std::string& b) {
  const auto space = space::SearchSpace::build(reduction(), problem, test::Lab::get().executor().device());
  const auto position = [](const std::string& name) {
    std::size_t p = 0;
    while (reduction().parameters.at(p).name != name) ++p;
    return p;
  };
  const std::size_t first = position(a), second = position(b);
  std::set<std::pair<std::uint16_t, std::uint16_t>> found;
  std::vector<spec::Configuration> chosen;
  constexpr std::uint64_t kPrime = 1000003;  // an order that mixes the values of the other parameters
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const auto configuration = space.at(i * kPrime % space.size());
    if (found.emplace(configuration.index[first], configuration.index[second]).second) chosen.push_back(configuration);
  }
  return chosen;
}

std::vector<spec::Configuration> those_valid(const spec::Problem& problem, const std::vector<spec::Configuration>& all) {
  std::vector<spec::Configuration> valid;
  for (const auto& configuration : all) {
    if (spec::satisfies(reduction(), problem, configuration, test::Lab::get().executor().device())) valid.push_back(configuration);
  }
  return valid;
}

}  // namespace

TEST_CASE("reduction is right in every combination of a block stage and a grid stage") {
  for (const std::int64_t n : {std::int64_t{70001}, std::int64_t{(1 << 20) + 3}}) check_all(of({}, n), one_of_each(of({}, n), "block_stage", "grid_stage"));
  check_all(of({{"T", "u8"}}, 70001), one_of_each(of({{"T", "u8"}}, 70001), "block_stage", "grid_stage"));
}

TEST_CASE("reduction is right however it loads, with every width and number of loads") {
  for (const char* type : {"f32", "f64", "bf16", "i8"}) {
    const auto problem = of({{"T", type}}, 1000003);
    check_all(problem, one_of_each(problem, "load", "vector_bytes"));
    check_all(problem, one_of_each(problem, "items", "blocks_per_sm"));
  }
}

TEST_CASE("reduction specialised on n is right at that n") {
  for (const std::int64_t n : {1, 31, 1023, 4096, 65536, 65537}) {
    auto exact = one_of_each(of({}, n), "exact_n", "block_size");
    for (const auto& configuration : one_of_each(of({}, n), "exact_n", "items")) exact.push_back(configuration);
    check_all(of({}, n), exact);
  }
}

TEST_CASE("reduction is right for every type and operator at small and odd sizes") {
  for (const std::string type : {"f32", "f64", "f16", "bf16", "i8", "u8", "i32", "u32", "i64", "u64"}) {
    for (const std::string op : {"sum", "product", "min", "max", "and", "or", "xor", "custom"}) {
      const auto typical = of({{"T", type}, {"op", op}}, 65536);
      const auto& device = test::Lab::get().executor().device();
      if (!spec::satisfies(reduction(), typical, spec::default_configuration(reduction()), device)) continue;  // bits of floats
      const auto stages = those_valid(typical, one_of_each(of({{"T", type}, {"op", "sum"}}, 65536), "grid_stage", "grid_stage"));
      for (const std::int64_t n : {0, 1, 31, 32, 33, 1023, (1 << 20) + 3}) {
        const auto problem = of({{"T", type}, {"op", op}}, n);
        check_all(problem, those_valid(problem, stages));
      }
    }
  }
}

TEST_CASE("reduction applies every transform, the second input aligned or not, and every finish") {
  const auto chosen = one_of_each(of({}, 65536), "load", "load");
  const std::vector<std::map<std::string, std::string>> all = {
      {{"transform", "absolute"}}, {{"transform", "square"}}, {{"transform", "shifted_square"}}, {{"transform", "times"}},
      {{"transform", "custom"}, {"map", "x > A(0) ? x : A(0)"}}, {{"transform", "square"}, {"finish", "root"}}, {{"finish", "mean"}},
      {{"finish", "scale_bias"}}, {{"op", "custom"}, {"combine", "a > b ? a : b"}, {"start", "A(-1000)"}}};
  for (const auto& choices : all) {
    for (const char* type : {"f32", "f16", "f64"}) {
      auto with_type = choices;
      with_type.emplace("T", type);
      const auto problem = of(with_type, 100003);
      check_all(problem, those_valid(problem, chosen));
    }
  }
}

TEST_CASE("reduction is right at 2^30 elements") {
  const auto problem = of({}, std::int64_t{1} << 30);
  check_all(problem, {spec::default_configuration(reduction())});
}
