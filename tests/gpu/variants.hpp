#pragma once
#include <string>
#include <vector>

#include "tests/gpu/lab.hpp"

namespace attune::test {

/// Index of a parameter that the template has.
std::size_t position(const spec::KernelTemplate& kernel, const std::string& parameter);

/// Configurations of the problem's space that together have every combination of values of these parameters that occurs; of those that
/// satisfy the condition, unless it is empty.
std::vector<spec::Configuration> one_of_each(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                             const std::vector<std::string>& parameters, const std::string& condition = {});

/// The first configuration of the problem's space that satisfies this condition; none: empty.
std::vector<spec::Configuration> first_where(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                             const std::string& condition);

/// Those that the problem's constraints allow on this device.
std::vector<spec::Configuration> those_valid(const spec::KernelTemplate& kernel, const spec::Problem& problem,
                                             const std::vector<spec::Configuration>& all);

enum class Timed { Yes, No };

/// Each is verified right on the GPU, and again after it ran many times over to be timed, unless it is not. Compiles all first, so that the
/// compile workers work side by side.
void check_all(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::vector<spec::Configuration>& configurations,
               Timed timed = Timed::Yes);

}  // namespace attune::test
