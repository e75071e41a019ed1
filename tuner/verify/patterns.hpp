#pragma once
#include <cstddef>
#include <vector>

#include "tuner/spec/launch_plan.hpp"

namespace attune::verify {

/// Whether the values of a fill follow a pattern that is made on the host: they are the same in every data set.
[[nodiscard]] bool is_pattern(spec::Fill fill);

/// The elements of a buffer with such a fill, as they lie in memory; the same for the same seed. Throws: EnvironmentError naming the buffer
/// and the value that its type cannot hold.
[[nodiscard]] std::vector<std::byte> pattern(const spec::ResolvedBuffer& buffer, std::uint64_t seed);

}  // namespace attune::verify
