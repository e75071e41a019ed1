#pragma once
#include <cstddef>
#include <vector>

#include "tuner/spec/launch_plan.hpp"

namespace attune::verify {

/// Whether the values of a fill follow a pattern that is made on the host: they are the same in every data set.
[[nodiscard]] bool is_pattern(spec::Fill fill);

/// Whether every input holds what the template states, by a file, a pattern or one number, so that all data sets are the same.
[[nodiscard]] bool all_inputs_stated(const spec::KernelTemplate& kernel);

/// The elements of a buffer with such a fill, as they lie in memory; the same for the same seed. Numbers of a range are rounded to what a
/// floating type has. Requires: `fill_bounds` as resolve_fill gives them. Throws: Error naming the buffer and the value that its type
/// cannot hold, which resolve_fill refuses.
[[nodiscard]] std::vector<std::byte> pattern(const spec::ResolvedBuffer& buffer, std::uint64_t seed);

}  // namespace attune::verify
