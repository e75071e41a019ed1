// The kernels of templates/argreduce as the greatest of f32, and that of tests/support/fake_templates/arg_scan, which is
// wrong to order.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

struct Found {
  float value = kLowest;
  std::int64_t index = -1;
};

Found greatest(const float* in, std::int64_t n) {
  Found found;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!std::isnan(in[i]) && (found.index < 0 || in[i] > found.value)) found = {in[i], i};
  }
  return found;
}

/// What argreduce_blocks found last: launches of one call follow each other on one thread. It cannot go through the
/// partial results, because a host function does not see whether its configuration has any.
thread_local Found last_found;

/// argreduce_blocks(in, n, value, index, partial_values, partial_indices, sync).
Effect blocks(const KernelLaunch& launch) {
  const auto* const in = launch.argument<const float*>(0);
  const auto n = launch.argument<std::int64_t>(1);
  auto* const value = launch.argument<float*>(2);
  auto* const index = launch.argument<std::int64_t*>(3);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  const double us = kLaunchUs + static_cast<double>(bytes) / kBytesPerUs;
  const bool allowed =
      launch.may_access(value, sizeof *value) && launch.may_access(index, sizeof *index) && (n == 0 || launch.may_access(in, bytes));
  if (!allowed) return {us, Fault::IllegalAddress};
  last_found = greatest(in, n);
  *value = last_found.value;
  *index = last_found.index;
  return {us, Fault::None};
}

/// argreduce_partials(partial_values, partial_indices, count, value, index).
Effect partials(const KernelLaunch& launch) {
  const auto count = launch.argument<std::uint32_t>(2);
  auto* const value = launch.argument<float*>(3);
  auto* const index = launch.argument<std::int64_t*>(4);
  const bool allowed = launch.may_access(launch.argument<const float*>(0), count * sizeof(float)) &&
                       launch.may_access(launch.argument<const std::int64_t*>(1), count * sizeof(std::int64_t)) &&
                       launch.may_access(value, sizeof *value) && launch.may_access(index, sizeof *index);
  if (!allowed) return {kLaunchUs, Fault::IllegalAddress};
  *value = last_found.value;
  *index = last_found.index;
  return {kLaunchUs, Fault::None};
}

/// In the order of arg_scan's template.json.
enum class Defect {
  None,
  LastOfEquals,
  SkipsLast,
  SkipsInfinity,
  TakesNan,
  PutsOutNan,
  FindsNothingAt0,
  OtherValue,
  OneFurther,
  ReadsTooFar
};

Found scan(const float* in, std::int64_t n, Defect defect) {
  Found found;
  const std::int64_t last = n - (defect == Defect::SkipsLast) + (defect == Defect::ReadsTooFar);
  for (std::int64_t i = 0; i < last; ++i) {
    if (std::isnan(in[i])) {
      if (defect == Defect::TakesNan && found.index < 0) found = {kLowest, i};
      if (defect == Defect::PutsOutNan && found.index < 0) found.value = in[i];
      continue;
    }
    const bool first = found.index < 0 && defect != Defect::SkipsInfinity;
    const bool equal = defect == Defect::LastOfEquals && in[i] == found.value;
    if (first || equal || in[i] > found.value) found = {in[i], i};
  }
  if (defect == Defect::FindsNothingAt0 && found.index < 0) found.index = 0;
  if (defect == Defect::OtherValue && found.index > 0) found.value = in[found.index - 1];
  if (defect == Defect::OneFurther && found.index >= 0) ++found.index;
  return found;
}

/// arg_scan(in, value, index, n, defect).
Effect arg_scan(const KernelLaunch& launch) {
  const auto* const in = launch.argument<const float*>(0);
  const auto n = launch.argument<std::int64_t>(3);
  const Found found = scan(in, n, static_cast<Defect>(launch.argument<std::int64_t>(4)));
  *launch.argument<float*>(1) = found.value;
  *launch.argument<std::int64_t*>(2) = found.index;
  return {kLaunchUs, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& arg_reduce_kernels() {
  static const std::vector<RegisteredKernel> kernels = {
      {"argreduce_blocks", blocks}, {"argreduce_partials", partials}, {"arg_scan", arg_scan}};
  return kernels;
}

}  // namespace attune::fake_cuda
