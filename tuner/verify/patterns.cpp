#include "tuner/verify/patterns.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "attune/error.hpp"
#include "tuner/spec/element.hpp"
#include "tuner/spec/scalar_bits.hpp"

namespace attune::verify {
namespace {

using Random = std::mt19937_64;

/// In [0, 1), the same on every machine, as std::uniform_real_distribution is not.
double unit(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// In [0, below). Requires: below > 0.
std::int64_t whole(Random& random, std::int64_t below) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below)); }

std::vector<std::int64_t> permutation(std::int64_t count, Random& random) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), std::int64_t{0});
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<std::size_t>(whole(random, static_cast<std::int64_t>(i)))]);
  return values;
}

/// Where rows begin that divide `total` elements among them, and at the end `total`: never falling, every row about as long as others.
std::int64_t offset(std::int64_t i, std::int64_t count, std::int64_t total, Random& random) {
  if (i == 0) return 0;
  if (i == count - 1) return total;
  return static_cast<std::int64_t>((static_cast<double>(i) + unit(random)) / static_cast<double>(count - 1) * static_cast<double>(total));
}

/// Calls `store` with every value in turn.
template <class Store>
void each_value(const spec::ResolvedBuffer& buffer, std::uint64_t seed, const Store& store) {
  Random random(seed);
  const bool floating = spec::is_floating(buffer.type);
  const auto [low, high] = buffer.fill_bounds;
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
        store(floating ? spec::Value(high) : spec::Value(static_cast<std::int64_t>(high)));
        break;
      case spec::Fill::Offsets:
        store(spec::Value(offset(i, buffer.count, static_cast<std::int64_t>(high), random)));
        break;
      default:
        if (floating)
          store(spec::Value(low + (high - low) * unit(random)));
        else
          store(spec::Value(static_cast<std::int64_t>(low) + whole(random, static_cast<std::int64_t>(high - low))));
    }
  }
}

}  // namespace

bool is_pattern(spec::Fill fill) {
  return fill == spec::Fill::Index || fill == spec::Fill::Permutation || fill == spec::Fill::Range || fill == spec::Fill::Offsets ||
         fill == spec::Fill::Constant;
}

std::vector<std::byte> pattern(const spec::ResolvedBuffer& buffer, std::uint64_t seed) {
  const auto width = static_cast<std::size_t>(spec::size_bytes(buffer.type));
  std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.bytes));
  std::size_t at = 0;
  each_value(buffer, seed, [&](const spec::Value& value) {
    const auto bits = spec::scalar_bits(value, buffer.type);
    if (!bits) {
      throw EnvironmentError(
          fmt::format("failed filling buffer \"{}\": its type {} does not hold {}; choose a smaller problem, or another fill", buffer.name,
                      spec::name(buffer.type), spec::to_text(value)));
    }
    std::memcpy(bytes.data() + at, &*bits, width);
    at += width;
  });
  return bytes;
}

}  // namespace attune::verify
