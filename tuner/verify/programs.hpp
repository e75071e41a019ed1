#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/spec/launch_plan.hpp"

namespace attune::verify {

/// The program of attune's own device kernels, for every device.
[[nodiscard]] std::string support_source();

/// What is compiled to compute the answers of a problem, or to prepare its buffers.
struct ReferenceProgram {
  std::string source;
  std::string file;                  ///< what messages call it
  std::vector<std::string> options;  ///< of NVRTC
  std::string what;                  ///< "the reference \"reduce\""
};

/// The reference's own code, or that of the template's default configuration, whose plain kernel computes the answers; nothing where
/// nothing does. Throws: SpecError (a problem that the reference refuses, or that the template's files and fills are not of),
/// EnvironmentError (data_buffers).
[[nodiscard]] std::optional<ReferenceProgram> reference_program(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                                                const spec::DeviceInfo& device);

/// The code of the default configuration, by which all configurations share one setup; nothing where they do not, or there is none.
[[nodiscard]] std::optional<ReferenceProgram> setup_program(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                                            const spec::DeviceInfo& device);

/// The launches of the reference's program, of every data set, one after the other: what can be said of them without a device.
/// Throws: SpecError at what cannot be computed or launched.
void for_each_reference_plan(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                             const std::function<void(const spec::LaunchPlan&)>& use);

}  // namespace attune::verify
