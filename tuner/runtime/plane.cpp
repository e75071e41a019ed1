#include "tuner/runtime/plane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::runtime {
namespace {

/// How far times lie from a plane through them while there are few; kPriorPoints points say as much about it.
constexpr double kNoise = 0.02, kPriorPoints = 3;

}  // namespace

double Plane::weight() const {
  double sum = 0;
  for (const auto& point : points_) sum += point.weight;
  return sum;
}

double Plane::octaves_beyond() const {
  const bool any = std::any_of(points_.begin(), points_.end(), [](const Point& point) { return point.weight >= kCountingWeight; });
  double sum = 0;
  for (std::size_t k = 0; k < prior_.size(); ++k) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& point : points_) {
      if (any && point.weight < kCountingWeight) continue;
      low = std::min(low, point.place[k]);
      high = std::max(high, point.place[k]);
    }
    sum += std::max({0.0, low, -high});
  }
  return sum;
}

Plane::Value Plane::at_origin() const {
  double variance = kNoise * kNoise;
  std::vector<double> fit = solve(variance, right_side(variance));
  double squares = 0;
  for (const auto& point : points_) squares += point.weight * std::pow(point.y - value(fit, point.place), 2);
  variance = (kPriorPoints * kNoise * kNoise + squares) / (kPriorPoints + weight());
  fit = solve(variance, right_side(variance));
  const auto variance_of = [&](std::size_t k) {
    std::vector<double> unit(fit.size(), 0.0);
    unit[k] = 1;
    return solve(variance, unit)[k];
  };
  Value value{fit[0], std::sqrt(variance_of(0) + variance), {}};
  for (std::size_t k = 1; k < fit.size(); ++k) value.slopes.push_back({fit[k], std::sqrt(variance_of(k))});
  return value;
}

double Plane::value(const std::vector<double>& fit, const std::vector<double>& place) {
  double y = fit[0];
  for (std::size_t k = 0; k < place.size(); ++k) y += fit[k + 1] * place[k];
  return y;
}

std::vector<double> Plane::right_side(double variance) const {
  std::vector<double> right{0.0};
  for (const Slope& slope : prior_) right.push_back(slope.mean / (slope.deviation * slope.deviation));
  for (const auto& point : points_) {
    const double scale = point.weight / variance * point.y;
    right[0] += scale;
    for (std::size_t k = 0; k < point.place.size(); ++k) right[k + 1] += scale * point.place[k];
  }
  return right;
}

std::vector<double> Plane::solve(double variance, std::vector<double> right) const {
  const std::size_t size = prior_.size() + 1;
  std::vector<std::vector<double>> matrix(size, std::vector<double>(size, 0.0));
  for (std::size_t k = 1; k < size; ++k) matrix[k][k] = 1 / (prior_[k - 1].deviation * prior_[k - 1].deviation);
  for (const auto& point : points_) {
    const auto at = [&](std::size_t k) { return k == 0 ? 1.0 : point.place[k - 1]; };
    for (std::size_t r = 0; r < size; ++r)
      for (std::size_t c = 0; c < size; ++c) matrix[r][c] += point.weight / variance * at(r) * at(c);
  }
  for (std::size_t k = 0; k < size; ++k) {  // positive definite: no pivoting
    for (std::size_t r = k + 1; r < size; ++r) {
      const double factor = matrix[r][k] / matrix[k][k];
      for (std::size_t c = k; c < size; ++c) matrix[r][c] -= factor * matrix[k][c];
      right[r] -= factor * right[k];
    }
  }
  for (std::size_t k = size; k-- > 0;) {
    for (std::size_t c = k + 1; c < size; ++c) right[k] -= matrix[k][c] * right[c];
    right[k] /= matrix[k][k];
  }
  return right;
}

}  // namespace attune::runtime
