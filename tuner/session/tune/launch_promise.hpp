#pragma once
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {

/// How much of the device a configuration's largest launch can keep busy, from 0 to 1: the share of the threads that the device holds, by
/// the sizes of grid and block and the shared memory asked for at the launch. What only compiling tells (registers, static shared memory)
/// is left out. 0 of one that cannot be launched. Throws: UsageError when the problem lacks an axis.
[[nodiscard]] double launch_promise(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                    const spec::Configuration& configuration, const spec::DeviceInfo& device);

}  // namespace attune::session
