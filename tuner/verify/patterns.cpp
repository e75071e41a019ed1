#include "tuner/verify/patterns.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "attune/error.hpp"
#include "tuner/spec/scalar_bits.hpp"

namespace attune::verify {
namespace {

using Random = std::mt19937_64;

/// In [0, 1), the same on every machine, as std::uniform_real_distribution is not.
double unit(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// In [from, below), the difference of which may be more than an std::int64_t. Requires: from < below.
std::int64_t whole(Random& random, std::int64_t from, std::int64_t below) {
  const auto first = static_cast<std::uint64_t>(from), count = static_cast<std::uint64_t>(below) - first;
  return static_cast<std::int64_t>(first + random() % count);
}

std::vector<std::int64_t> permutation(std::int64_t count, Random& random) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), std::int64_t{0});
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<std::size_t>(whole(random, 0, static_cast<std::int64_t>(i)))]);
  return values;
}

/// Where rows begin that divide `total` elements among them, and at the end `total`: never falling, every row about as long as others.
std::int64_t offset(std::int64_t i, std::int64_t count, std::int64_t total, Random& random) {
  if (i == 0) return 0;
  if (i == count - 1) return total;
  return static_cast<std::int64_t>((static_cast<double>(i) + unit(random)) / static_cast<double>(count - 1) * static_cast<double>(total));
}

/// A number of a range, the bounds of which are whole or floating as the buffer's type is.
spec::Value in_range(const std::vector<spec::Value>& bounds, Random& random) {
  if (const auto* const from = std::get_if<std::int64_t>(&bounds[0])) return whole(random, *from, std::get<std::int64_t>(bounds[1]));
  return std::lerp(std::get<double>(bounds[0]), std::get<double>(bounds[1]), unit(random));
}

/// Calls `store` with every value in turn.
template <class Store>
void each_value(const spec::ResolvedBuffer& buffer, std::uint64_t seed, const Store& store) {
  Random random(seed);
  const auto& bounds = buffer.fill_bounds;
  std::vector<std::int64_t> permuted;
  if (buffer.fill == spec::Fill::Permutation) permuted = permutation(buffer.count, random);
  for (std::int64_t i = 0; i < buffer.count; ++i) {
    switch (buffer.fill) {
      case spec::Fill::Index:
        store(spec::Value(i));
        break;
      case spec::Fill::Permutation:
        store(spec::Value(permuted[static_cast<std::size_t>(i)]));
        break;
      case spec::Fill::Constant:
        store(bounds[0]);
        break;
      case spec::Fill::Offsets:
        store(spec::Value(offset(i, buffer.count, std::get<std::int64_t>(bounds[0]), random)));
        break;
      default:
        store(in_range(bounds, random));
    }
  }
}

}  // namespace

bool is_pattern(spec::Fill fill) {
  return fill == spec::Fill::Index || fill == spec::Fill::Permutation || fill == spec::Fill::Range || fill == spec::Fill::Offsets ||
         fill == spec::Fill::Constant;
}

bool all_inputs_stated(const spec::KernelTemplate& kernel) {
  return std::all_of(kernel.buffers.begin(), kernel.buffers.end(), [](const spec::BufferSpec& buffer) {
    const bool one_number = buffer.fill == spec::Fill::Zeros || buffer.fill == spec::Fill::Ones;
    return !buffer.input || buffer.data || one_number || is_pattern(buffer.fill);
  });
}

std::vector<std::byte> pattern(const spec::ResolvedBuffer& buffer, std::uint64_t seed) {
  const auto width = static_cast<std::size_t>(spec::size_bytes(buffer.type));
  std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.bytes));
  std::size_t at = 0;
  each_value(buffer, seed, [&](const spec::Value& value) {
    const auto bits = spec::scalar_bits(value, buffer.type);
    if (!bits) {
      throw Error(fmt::format("failed filling buffer \"{}\": its type {} does not hold {}; its fill was not resolved", buffer.name,
                              spec::name(buffer.type), spec::to_text(value)));
    }
    std::memcpy(bytes.data() + at, &*bits, width);
    at += width;
  });
  return bytes;
}

}  // namespace attune::verify
