#include "tools/default_limits.hpp"

#include <random>

#include "tuner/spec/untimed_steps.hpp"

namespace attune::tools {
namespace {

/// Those that the launches' geometry rules out cost nothing, the others a compilation.
constexpr std::uint64_t kMostDrawn = 256, kMostCompiled = 8;

/// What the launches ask for in vain, with its place in template.json; empty: nothing.
std::string limit_of_launches(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                              const spec::Configuration& configuration) {
  try {
    static_cast<void>(spec::resolve(kernel, problem, configuration, device));
    static_cast<void>(spec::resolve_own_untimed(kernel, problem, configuration, device));
  } catch (const spec::LimitError& error) {
    return error.what();
  }
  return {};
}

void note_tried(DefaultLimits& limits, const SampledConfiguration& sampled) {
  if (sampled.outcome == SampleOutcome::Fits) {
    limits.fitting = sampled.configuration;
  } else if (limits.first_fault.empty()) {
    limits.first_fault = sampled.detail;
  }
  ++limits.tried;
}

}  // namespace

DefaultLimits limits_of_default(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                                const spec::Configuration& standard, const compile::CompileResult& compiled, compile::CompilePool& pool,
                                ProgressLine& line) {
  DefaultLimits limits;
  limits.exceeded = limit_of_launches(kernel, problem, device, standard);
  limits.before_compiling = !limits.exceeded.empty();
  if (limits.before_compiling) return limits;
  const auto checked = check_sample(kernel, problem, device, {standard}, compiled, pool, line);
  if (checked.front().outcome == SampleOutcome::ExceedsLimits) limits.exceeded = checked.front().detail;
  return limits;
}

void find_fitting(DefaultLimits& limits, const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                  const space::SearchSpace& space, const std::vector<SampledConfiguration>& sample, const spec::Configuration& standard,
                  const compile::CompileResult& before, compile::CompilePool& pool, ProgressLine& line) {
  for (const auto& sampled : sample) {
    if (!limits.fitting && sampled.configuration != standard) note_tried(limits, sampled);
  }
  std::mt19937_64 random(1);
  std::uint64_t compiled = 0;
  for (const auto ordinal : space.sample(kMostDrawn, random)) {
    if (limits.fitting || compiled == kMostCompiled) return;
    const auto configuration = space.at(ordinal);
    if (configuration == standard) continue;
    const auto tried = check_sample(kernel, problem, device, {configuration}, before, pool, line);
    if (tried.front().compile_ms > 0) ++compiled;
    note_tried(limits, tried.front());
  }
}

}  // namespace attune::tools
