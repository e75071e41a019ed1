#pragma once
#include <cstddef>
#include <vector>

namespace attune::tools {

/// Which problem is tuned in which shard.
struct Balance {
  std::vector<std::size_t> controls;             ///< problems that every shard tunes first, the cheapest ones
  std::vector<std::vector<std::size_t>> shards;  ///< the others, by shard: the longest first
  std::vector<double> seconds;                   ///< of each shard, controls included
};

/// Longest processing time first: each problem, the longest first, goes to the shard that has least to do. No shard then takes more than
/// 4/3 of the least possible longest time (Graham 1969). Equal inputs give equal shards.
/// Units: seconds. Requires: shards >= 1, controls <= seconds.size().
[[nodiscard]] Balance balance(const std::vector<double>& seconds, std::size_t shards, std::size_t controls);

}  // namespace attune::tools
