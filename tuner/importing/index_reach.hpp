#pragma once
#include <map>
#include <set>
#include <string>

#include "tuner/importing/kernel_usage.hpp"

namespace attune::importing {

/// Factors of how far an index leads, each with how often it counts: names of sizes, and "blockIdx.x" and "threadIdx.x" for as many as
/// there are of them. `y * width + x` with y below height leads to height * width.
using Reach = std::map<std::string, int>;

/// The largest of several, factor by factor. An index of the launch alone, such as blockIdx.x * blockDim.x + threadIdx.x, has none: it is
/// guarded, or fits.
[[nodiscard]] Reach index_reach(const KernelUsage& usage, const std::vector<Tokens>& indices, const std::set<std::string>& sizes);

/// The index, or the value of a variable in it that nothing bounds, that has more to it than variables and sizes as factors: a number
/// that is added or multiplied, a size that is added. Empty: none shows.
[[nodiscard]] Tokens beyond_sizes(const KernelUsage& usage, const Tokens& index, const std::set<std::string>& sizes);

}  // namespace attune::importing
