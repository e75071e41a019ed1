#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "tools/template_sample.hpp"
#include "tuner/space/search_space.hpp"

namespace attune::tools {

/// Whether the default configuration of a problem can run on a device, and what could take its place. Tuning passes over a configuration
/// that cannot; dispatch has nothing else where nothing was tuned.
struct DefaultLimits {
  std::string exceeded;                        ///< the limit, with its place where it has one; empty: it exceeds none
  bool before_compiling = false;               ///< what the launches ask for is too much, whatever the code
  std::optional<spec::Configuration> fitting;  ///< another one that fits
  std::uint64_t tried = 0;                     ///< configurations, the default apart
  std::string first_fault;                     ///< why the first of them does not fit
};

/// Whether the default exceeds limits. `compiled`: of its code. Throws: SpecError where its launches cannot be computed.
[[nodiscard]] DefaultLimits limits_of_default(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                              const spec::DeviceInfo& device, const spec::Configuration& standard,
                                              const compile::CompileResult& compiled, compile::CompilePool& pool, ProgressLine& line);

/// Looks for a configuration that fits: the first of the sample that does, else one of a few of the space, at random.
void find_fitting(DefaultLimits& limits, const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                  const space::SearchSpace& space, const std::vector<SampledConfiguration>& sample, const spec::Configuration& standard,
                  const compile::CompileResult& before, compile::CompilePool& pool, ProgressLine& line);

}  // namespace attune::tools
