#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace attune::test {

/// Seeded noise that is the same on every platform: the standard fixes mt19937_64, not the distributions.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
  double exponential() { return -std::log(uniform()); }
  double normal() {
    const double radius = std::sqrt(2 * exponential());  // first: the order of operands is not fixed
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// Skewed like kernel times: a floor that is nearly reached often, and a long tail.
  double skewed() { return 10 + exponential(); }

  /// A sample of a kernel that takes `floor_us` undisturbed: something small is always added, and one sample in twenty
  /// meets something that costs 5 % or far more (a Pareto tail without a variance).
  double kernel_us(double floor_us) {
    const double usual = floor_us * (1 + kJitter * exponential());
    return uniform() < kTailShare ? usual * (1 + kTailStart * std::pow(uniform(), -1 / kTailShape)) : usual;
  }
  /// What half of the samples stay below. Exact: the tail lies above it, so that the other samples alone decide.
  static double kernel_median_us(double floor_us) { return floor_us * (1 - kJitter * std::log(1 - 0.5 / (1 - kTailShare))); }
  /// The expectation: the tail adds its share of 5 % x shape / (shape - 1).
  static double kernel_mean_us(double floor_us) {
    return floor_us * (1 + kJitter) * (1 + kTailShare * kTailStart * kTailShape / (kTailShape - 1));
  }

  static constexpr double kTailShare = 0.05;

 private:
  static constexpr double kJitter = 0.002;
  static constexpr double kTailStart = 0.05;
  static constexpr double kTailShape = 1.2;
  std::mt19937_64 random_;
};

}  // namespace attune::test
