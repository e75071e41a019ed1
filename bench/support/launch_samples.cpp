// Quantiles of how long launches took, and of what a path adds to the raw one.
#include "bench/support/launch_samples.hpp"

#include <algorithm>

#include "bench/support/quantile.hpp"

namespace attune::bench {
namespace {

/// Samples of a path in nanoseconds, of all threads, part `part` of `parts` of each thread's.
std::vector<double> in_ns(const std::vector<Samples>& samples, Path path, double tick_ns, int part, int parts) {
  std::vector<double> values;
  for (const auto& thread : samples) {
    const std::size_t count = thread[path].size();
    const std::size_t begin = count * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
    const std::size_t end = count * static_cast<std::size_t>(part + 1) / static_cast<std::size_t>(parts);
    for (std::size_t i = begin; i < end; ++i) values.push_back(thread[path][i] * tick_ns);
  }
  return values;
}

double added(const std::vector<Samples>& samples, Path path, double share, double tick_ns, int part = 0, int parts = 1) {
  return quantile(in_ns(samples, path, tick_ns, part, parts), share) - quantile(in_ns(samples, kRaw, tick_ns, part, parts), share);
}

/// The interval of the median over the parts: the 8th and the 18th of 25 (binomial, 95.7 %).
Json interval(const std::vector<Samples>& samples, Path path, double share, double tick_ns) {
  std::vector<double> parts;
  for (int part = 0; part < kParts; ++part) parts.push_back(added(samples, path, share, tick_ns, part, kParts));
  std::sort(parts.begin(), parts.end());
  return {parts[7], parts[17]};
}

}  // namespace

const char* path_name(Path path) {
  return path == kKernel ? "kernel" : path == kBound ? "bound kernel" : path == kPlan ? "plan" : "raw, late";
}

Json row_of(const std::vector<Samples>& samples, Path path, double tick_ns, double timer_ns) {
  const auto raw = in_ns(samples, kRaw, tick_ns, 0, 1), dispatched = in_ns(samples, path, tick_ns, 0, 1);
  std::vector<double> paired;
  for (std::size_t i = 0; i < raw.size(); ++i) paired.push_back(dispatched[i] - raw[i]);
  return {{"added_ns_p50", added(samples, path, 0.5, tick_ns)},
          {"added_ns_p50_interval", interval(samples, path, 0.5, tick_ns)},
          {"added_ns_p99", added(samples, path, 0.99, tick_ns)},
          {"added_ns_p99_interval", interval(samples, path, 0.99, tick_ns)},
          {"raw_ns_p50", quantile(raw, 0.5) - timer_ns},
          {"raw_ns_p99", quantile(raw, 0.99) - timer_ns},
          {"dispatched_ns_p50", quantile(dispatched, 0.5) - timer_ns},
          {"dispatched_ns_p99", quantile(dispatched, 0.99) - timer_ns},
          {"paired_ns_p50", quantile(paired, 0.5)},
          {"paired_ns_p99", quantile(paired, 0.99)},
          {"samples", raw.size()}};
}

}  // namespace attune::bench
