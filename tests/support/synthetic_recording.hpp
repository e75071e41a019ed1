#pragma once
#include <functional>
#include <vector>

#include "tuner/session/source/recording.hpp"

namespace attune::test {

/// A recording with made-up times, for machines without a GPU: every configuration of each problem's space on an
/// imaginary device, `time_us(configuration text, n-th of its space)` long; a time of 0 makes it a WrongResult.
/// The three fastest (and the default) are its run-off's finalists, with their exact times in every round.
[[nodiscard]] session::Recording synthetic_recording(const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems,
                                                     const std::function<double(const std::string&, std::uint64_t)>& time_us);

/// A small template: out[i] = in[i] * 2, with block_size (4 values), items (3 values) and a launch-bound one (2 values).
[[nodiscard]] spec::KernelTemplate small_template();
[[nodiscard]] spec::Problem small_problem(std::int64_t n);
/// Its template.json and source, for writing into a folder.
[[nodiscard]] const char* small_template_json();
[[nodiscard]] const char* small_template_source();

}  // namespace attune::test
