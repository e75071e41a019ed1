// The kernels of tests/support/fake_templates/packed: sums of rows by way of a matrix that setup has laid out anew, in parts that check
// adds.
#include <cstdint>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

constexpr std::size_t kParts = 4;

/// What `defect_code` of template.json asks for.
enum PackedDefect : std::int64_t { None, WritesPacked, WrongPart, PastPacked };
/// What setup makes: rows behind each other, or columns; or it writes to its input.
enum PackedLayout : std::int64_t { Rows, Columns, WritesInput };

std::size_t place(std::int64_t layout, std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) {
  return layout == Rows ? row * columns + column : column * rows + row;
}

/// packed_setup(in, packed, rows, columns, layout)
Effect packed_setup(const KernelLaunch& launch) {
  auto* const in = launch.argument<std::int32_t*>(0);
  auto* const packed = launch.argument<std::int32_t*>(1);
  const auto rows = static_cast<std::size_t>(launch.argument<std::int64_t>(2));
  const auto columns = static_cast<std::size_t>(launch.argument<std::int64_t>(3));
  const auto layout = launch.argument<std::int64_t>(4);
  const std::size_t bytes = rows * columns * sizeof(*in);
  if (bytes == 0) return {1, Fault::None};
  if (!launch.may_access(in, bytes) || !launch.may_access(packed, bytes)) return {1, Fault::IllegalAddress};
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) packed[place(layout, row, column, rows, columns)] = in[row * columns + column];
  if (layout == WritesInput) in[1] += 1;
  return {kLaunchUs, Fault::None};
}

/// packed_sums(packed, parts, rows, columns, layout, defect_code): part p of a row sums the columns p, p + 4, ...
Effect packed_sums(const KernelLaunch& launch) {
  auto* const packed = launch.argument<std::int32_t*>(0);
  auto* const parts = launch.argument<std::int32_t*>(1);
  const auto rows = static_cast<std::size_t>(launch.argument<std::int64_t>(2));
  const auto columns = static_cast<std::size_t>(launch.argument<std::int64_t>(3));
  const auto layout = launch.argument<std::int64_t>(4), defect = launch.argument<std::int64_t>(5);
  if (!launch.may_access(packed, rows * columns * sizeof(*packed)) || !launch.may_access(parts, kParts * rows * sizeof(*parts)))
    return {1, Fault::IllegalAddress};
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t part = 0; part < kParts; ++part) {
      std::int32_t sum = 0;
      for (std::size_t column = part; column < columns; column += kParts) sum += packed[place(layout, row, column, rows, columns)];
      parts[part * rows + row] = sum;
    }
  }
  if (defect == WritesPacked) packed[rows * columns - 1] += 1;
  if (defect == WrongPart) parts[kParts * rows - 1] += 1;
  if (defect == PastPacked) packed[rows * columns] = 7;
  return {kLaunchUs, Fault::None};
}

/// packed_check(parts, out, rows)
Effect packed_check(const KernelLaunch& launch) {
  const auto* const parts = launch.argument<const std::int32_t*>(0);
  auto* const out = launch.argument<std::int32_t*>(1);
  const auto rows = static_cast<std::size_t>(launch.argument<std::int64_t>(2));
  if (!launch.may_access(parts, kParts * rows * sizeof(*parts)) || !launch.may_access(out, rows * sizeof(*out)))
    return {1, Fault::IllegalAddress};
  for (std::size_t row = 0; row < rows; ++row) {
    out[row] = 0;
    for (std::size_t part = 0; part < kParts; ++part) out[row] += parts[part * rows + row];
  }
  return {1, Fault::None};
}

/// packed_plain(in, out, rows, columns)
Effect packed_plain(const KernelLaunch& launch) {
  const auto* const in = launch.argument<const std::int32_t*>(0);
  auto* const out = launch.argument<std::int32_t*>(1);
  const auto rows = static_cast<std::size_t>(launch.argument<std::int64_t>(2));
  const auto columns = static_cast<std::size_t>(launch.argument<std::int64_t>(3));
  if (!launch.may_access(in, rows * columns * sizeof(*in)) || !launch.may_access(out, rows * sizeof(*out)))
    return {1, Fault::IllegalAddress};
  for (std::size_t row = 0; row < rows; ++row) {
    out[row] = 0;
    for (std::size_t column = 0; column < columns; ++column) out[row] += in[row * columns + column];
  }
  return {1, Fault::None};
}

}  // namespace

const std::vector<RegisteredKernel>& packed_kernels() {
  static const std::vector<RegisteredKernel> kernels = {
      {"packed_setup", packed_setup}, {"packed_sums", packed_sums}, {"packed_check", packed_check}, {"packed_plain", packed_plain}};
  return kernels;
}

}  // namespace attune::fake_cuda
