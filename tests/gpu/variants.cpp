#include "tests/gpu/variants.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tuner/space/search_space.hpp"
#include "tuner/spec/condition.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::test {

std::size_t position(const spec::KernelTemplate& kernel, const std::string& parameter) {
  std::size_t p = 0;
  while (kernel.parameters.at(p).name != parameter) ++p;
  return p;
}

namespace {

space::SearchSpace space_where(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& condition) {
  std::vector<spec::Constraint> conditions;
  if (!condition.empty()) conditions.push_back(spec::parse_condition(kernel, condition, {"the test", 1, 1}));
  return space::SearchSpace::build(kernel, problem, Lab::get().executor().device(), conditions);
}

}  // namespace

std::vector<spec::Configuration> one_of_each(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                             const std::vector<std::string>& parameters, const std::string& condition) {
  const auto space = space_where(kernel, problem, condition);
  std::set<std::vector<std::uint16_t>> found;
  std::vector<spec::Configuration> chosen;
  constexpr std::uint64_t kPrime = 1000003;  // an order that mixes the values of the other parameters
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const auto configuration = space.at(i * kPrime % space.size());
    std::vector<std::uint16_t> values;
    for (const auto& name : parameters) values.push_back(configuration.index[position(kernel, name)]);
    if (found.insert(values).second) chosen.push_back(configuration);
  }
  return chosen;
}

std::vector<spec::Configuration> first_where(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                             const std::string& condition) {
  const auto space = space_where(kernel, problem, condition);
  if (space.size() == 0) return {};
  return {space.at(0)};
}

std::vector<spec::Configuration> those_valid(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                             const std::vector<spec::Configuration>& all) {
  std::vector<spec::Configuration> valid;
  for (const auto& configuration : all) {
    if (spec::satisfies(kernel, problem, configuration, Lab::get().executor().device())) valid.push_back(configuration);
  }
  return valid;
}

void check_all(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::vector<spec::Configuration>& configurations,
               Timed timed) {
  auto& lab = Lab::get();
  const auto& device = lab.executor().device();
  REQUIRE(!configurations.empty());
  for (const auto& configuration : configurations) {
    lab.compilers().submit({spec::make_source(kernel, problem, configuration, device), "kernel.cu", device.architecture,
                            spec::compiler_options(kernel, problem, configuration, device)});
  }
  while (!lab.compilers().collect(std::chrono::milliseconds(-1)).empty()) {
  }
  lab.prepare(lab.executor(), kernel, problem);
  for (const auto& configuration : configurations) {
    auto request = lab.request(kernel, problem, configuration);
    request.max_samples = timed == Timed::Yes ? 1 : 0;
    const auto reply = Lab::visit(lab.executor(), request);
    INFO(spec::to_text(problem), " ", request.configuration, ": ", reply.detail);
    CHECK(reply.outcome == measure::Outcome::Ok);
    CHECK(reply.verified);
  }
}

}  // namespace attune::test
