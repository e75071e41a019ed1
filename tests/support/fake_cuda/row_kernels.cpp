// The kernels of templates/segmented_reduce as sums of f32, and that of tests/support/fake_templates/row_scan, which is
// wrong to order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Sums of the rows of a matrix into `out`.
Effect sum_rows(const KernelLaunch& launch, const float* in, float* out, std::int64_t rows, std::int64_t columns) {
  const std::size_t bytes = static_cast<std::size_t>(rows * columns) * sizeof(float);
  const double us = kLaunchUs + static_cast<double>(bytes) / kBytesPerUs;
  const bool allowed =
      (rows == 0 || launch.may_access(out, static_cast<std::size_t>(rows) * sizeof(float))) && (bytes == 0 || launch.may_access(in, bytes));
  if (!allowed) return {us, Fault::IllegalAddress};
  for (std::int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::int64_t column = 0; column < columns; ++column) sum += in[row * columns + column];
    out[row] = static_cast<float>(sum);
  }
  return {us, Fault::None};
}

/// segmented_by_lanes(in, out, rows, columns, lanes), columns in 32 bits.
Effect by_lanes(const KernelLaunch& launch) {
  return sum_rows(launch, launch.argument<const float*>(0), launch.argument<float*>(1), launch.argument<std::int64_t>(2),
                  launch.argument<std::uint32_t>(3));
}

/// segmented_by_block(in, out, rows, columns).
Effect by_block(const KernelLaunch& launch) {
  return sum_rows(launch, launch.argument<const float*>(0), launch.argument<float*>(1), launch.argument<std::int64_t>(2),
                  launch.argument<std::int64_t>(3));
}

/// What segmented_by_blocks summed last: launches of one call follow each other on one thread. It cannot go through the
/// partial results, because a host function does not see whether its configuration has any.
thread_local std::vector<float> last_sums;

/// segmented_by_blocks(in, out, rows, columns, parts, partials, sync).
Effect by_blocks(const KernelLaunch& launch) {
  const auto* const out = launch.argument<const float*>(1);
  const auto rows = launch.argument<std::int64_t>(2);
  const Effect effect =
      sum_rows(launch, launch.argument<const float*>(0), launch.argument<float*>(1), rows, launch.argument<std::int64_t>(3));
  if (effect.fault == Fault::None) last_sums.assign(out, out + rows);
  return effect;
}

/// segmented_partials(partials, parts, out): a block a row.
Effect row_partials(const KernelLaunch& launch) {
  const std::size_t rows = launch.grid.x;
  const auto parts = launch.argument<std::uint32_t>(1);
  auto* const out = launch.argument<float*>(2);
  const bool allowed = rows == last_sums.size() && launch.may_access(launch.argument<const float*>(0), rows * parts * sizeof(float)) &&
                       launch.may_access(out, rows * sizeof(float));
  if (!allowed) return {kLaunchUs, Fault::IllegalAddress};
  std::copy(last_sums.begin(), last_sums.end(), out);
  return {kLaunchUs, Fault::None};
}

/// In the order of row_scan's template.json.
enum class RowDefect { None, SkipsFirst, SkipsLast, SkipsMiddle, TakesNeighbour, SwapsRows, LeavesLastRow, WritesTooFar, DropsSmall };
/// Numbered as measure::RowOperation.
enum class Operation { Sum, Product, Minimum, Maximum };

float both(float a, float b, Operation operation) {
  switch (operation) {
    case Operation::Product:
      return a * b;
    case Operation::Minimum:
      return std::fmin(a, b);
    case Operation::Maximum:
      return std::fmax(a, b);
    default:
      return a + b;
  }
}

float scan_row(const float* row, std::int64_t columns, RowDefect defect, Operation operation) {
  constexpr float kNothing[] = {0.0f, 1.0f, kInfinity, -kInfinity};
  float x = kNothing[static_cast<int>(operation)];
  const std::int64_t first = defect == RowDefect::SkipsFirst ? 1 : 0;
  const std::int64_t last = columns - (defect == RowDefect::SkipsLast) + (defect == RowDefect::TakesNeighbour);
  for (std::int64_t column = first; column < last; ++column) {
    if (defect == RowDefect::SkipsMiddle && column == columns / 2) continue;
    x = both(x, row[column], operation);
    if (defect == RowDefect::DropsSmall) x = static_cast<float>(static_cast<_Float16>(x));  // too little precision
  }
  return x;
}

/// row_scan(in, out, rows, columns, defect, operation).
Effect row_scan(const KernelLaunch& launch) {
  const auto* const in = launch.argument<const float*>(0);
  auto* const out = launch.argument<float*>(1);
  const auto rows = launch.argument<std::int64_t>(2);
  const auto columns = launch.argument<std::int64_t>(3);
  const auto defect = static_cast<RowDefect>(launch.argument<std::int64_t>(4));
  const auto operation = static_cast<Operation>(launch.argument<std::int64_t>(5));
  const std::int64_t written = rows - (defect == RowDefect::LeavesLastRow) + (defect == RowDefect::WritesTooFar);
  for (std::int64_t row = 0; row < written; ++row) {
    const std::int64_t source = row < rows ? row : 0;
    out[row] = scan_row(in + source * columns, columns, defect, operation);
  }
  if (defect == RowDefect::SwapsRows && rows > 1) std::swap(out[0], out[rows - 1]);
  return {kLaunchUs, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& row_kernels() {
  static const std::vector<RegisteredKernel> kernels = {{"segmented_by_lanes", by_lanes},
                                                        {"segmented_by_block", by_block},
                                                        {"segmented_by_blocks", by_blocks},
                                                        {"segmented_partials", row_partials},
                                                        {"row_scan", row_scan}};
  return kernels;
}

}  // namespace attune::fake_cuda
