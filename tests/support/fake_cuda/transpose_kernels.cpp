// The kernels of templates/transpose, of f32 alone, and that of tests/support/fake_templates/transpose_scan, which is wrong to order.
#include <cstdint>
#include <utility>

#include "tests/support/fake_cuda/kernels.hpp"

namespace attune::fake_cuda {
namespace {

/// In the order of transpose_scan's template.json.
enum class Slip { None, SwapsTwo, LeavesLastOfOdd, WritesPadding, FlipsABit, QuietsNans, FlushesSubnormals, LosesSignsOfZeros, Saturates };

/// A floating type by its bits.
template <class Bits>
struct Format;
template <>
struct Format<std::uint8_t> {
  static constexpr int kMantissa = 3;
};
template <>
struct Format<std::uint16_t> {
  static constexpr int kMantissa = 10;
};
template <>
struct Format<std::uint32_t> {
  static constexpr int kMantissa = 23;
};
template <>
struct Format<std::uint64_t> {
  static constexpr int kMantissa = 52;
};

/// What arithmetic would make of an element.
template <class Bits>
Bits carried(Bits bits, Slip slip) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)), kOne = Bits{1};
  constexpr auto kFraction = static_cast<Bits>((kOne << Format<Bits>::kMantissa) - 1);
  constexpr auto kInfinite = static_cast<Bits>(kSign - 1 - kFraction);
  const auto magnitude = static_cast<Bits>(bits & ~kSign), sign = static_cast<Bits>(bits & kSign);
  switch (slip) {
    case Slip::QuietsNans:
      return magnitude > kInfinite ? static_cast<Bits>(kSign - 1) : bits;
    case Slip::FlushesSubnormals:
      return magnitude > 0 && magnitude <= kFraction ? sign : bits;
    case Slip::LosesSignsOfZeros:
      return magnitude == 0 ? Bits{0} : bits;
    case Slip::Saturates:
      return magnitude == kInfinite ? static_cast<Bits>(bits - 1) : bits;
    default:
      return bits;
  }
}

template <class Bits>
Effect transpose_bits(const KernelLaunch& launch, Slip slip) {
  const auto* const in = launch.argument<const Bits*>(0);
  auto* const out = launch.argument<Bits*>(1);
  const auto rows = static_cast<std::size_t>(launch.argument<std::int64_t>(2));
  const auto columns = static_cast<std::size_t>(launch.argument<std::int64_t>(3)), count = rows * columns;
  const double us = kLaunchUs + 2 * static_cast<double>(count * sizeof(Bits)) / kBytesPerUs;
  if (count == 0) return {us, Fault::None};
  if (!launch.may_access(in, count * sizeof(Bits)) || !launch.may_access(out, count * sizeof(Bits))) return {us, Fault::IllegalAddress};
  const std::size_t done = rows - (slip == Slip::LeavesLastOfOdd ? rows % 2 : 0);
  for (std::size_t row = 0; row < done; ++row)
    for (std::size_t column = 0; column < columns; ++column) out[column * rows + row] = carried(in[row * columns + column], slip);
  if (slip == Slip::SwapsTwo) std::swap(out[count / 3], out[count / 2]);
  if (slip == Slip::WritesPadding) out[count] = in[0];
  if (slip == Slip::FlipsABit) out[count / 2] = static_cast<Bits>(out[count / 2] ^ 1U);
  return {us, Fault::None};
}

/// transpose_naive, _tile, _exchange, _gather (in, out, rows, columns), and with one argument more _linear_read and _linear_write.
Effect transpose(const KernelLaunch& launch) { return transpose_bits<std::uint32_t>(launch, Slip::None); }

/// transpose_scan(in, out, rows, columns, element_bytes, code).
Effect transpose_scan(const KernelLaunch& launch) {
  const auto slip = static_cast<Slip>(launch.argument<std::int64_t>(5));
  switch (launch.argument<std::int64_t>(4)) {
    case 1:
      return transpose_bits<std::uint8_t>(launch, slip);
    case 2:
      return transpose_bits<std::uint16_t>(launch, slip);
    case 4:
      return transpose_bits<std::uint32_t>(launch, slip);
    default:
      return transpose_bits<std::uint64_t>(launch, slip);
  }
}

}  // namespace

const std::vector<RegisteredKernel>& transpose_kernels() {
  static const std::vector<RegisteredKernel> kernels = {{"transpose_naive", transpose},       {"transpose_tile", transpose},
                                                        {"transpose_exchange", transpose},    {"transpose_gather", transpose},
                                                        {"transpose_linear_read", transpose}, {"transpose_linear_write", transpose},
                                                        {"transpose_scan", transpose_scan}};
  return kernels;
}

}  // namespace attune::fake_cuda
