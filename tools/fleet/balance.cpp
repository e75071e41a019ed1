#include "tools/fleet/balance.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace attune::tools {

Balance balance(const std::vector<double>& seconds, std::size_t shards, std::size_t controls) {
  std::vector<std::size_t> longest_first(seconds.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(), [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
  Balance result;
  result.controls.assign(longest_first.rbegin(), longest_first.rbegin() + static_cast<std::ptrdiff_t>(controls));
  longest_first.resize(longest_first.size() - controls);
  double of_controls = 0;
  for (const std::size_t problem : result.controls) of_controls += seconds[problem];
  result.shards.resize(shards);
  result.seconds.assign(shards, of_controls);
  using Load = std::pair<double, std::size_t>;  // of two that have as much to do, the first
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::size_t shard = 0; shard < shards; ++shard) least.emplace(of_controls, shard);
  for (const std::size_t problem : longest_first) {
    const std::size_t shard = least.top().second;
    least.pop();
    result.shards[shard].push_back(problem);
    result.seconds[shard] += seconds[problem];
    least.emplace(result.seconds[shard], shard);
  }
  return result;
}

}  // namespace attune::tools
