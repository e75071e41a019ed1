#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace attune::runtime {

/// Points of this weight, where the weightiest has 1, count as being around.
inline constexpr double kCountingWeight = 0.1;

/// Along one axis: of the logarithm of a time, an octave of a size. What is expected where nothing is known.
struct Slope {
  double mean = 0.2;
  double deviation = 0.2;
};

/// A weighted linear regression of y over a place, whose value at the origin is asked: Bayesian, so that it knows how little few points
/// say. `prior`: the slopes that are expected, of every axis; y is expected to deviate from the plane by 2 %. Points say more.
class Plane {
 public:
  explicit Plane(std::vector<Slope> prior) : prior_(std::move(prior)) {}
  void add(double weight, std::vector<double> place, double y) { points_.push_back({weight, std::move(place), y}); }
  [[nodiscard]] std::size_t points() const { return points_.size(); }
  /// How far the origin lies outside of the points that count, or of all where none does: octaves, summed over the axes.
  [[nodiscard]] double octaves_beyond() const;
  struct Value {
    double mean, deviation;
    std::vector<Slope> slopes;
  };
  /// What a new observation at the origin would be, and what is known about slopes now. Requires: a point.
  [[nodiscard]] Value at_origin() const;

 private:
  struct Point {
    double weight;
    std::vector<double> place;
    double y;
  };
  [[nodiscard]] double weight() const;
  static double value(const std::vector<double>& fit, const std::vector<double>& place);
  [[nodiscard]] std::vector<double> right_side(double variance) const;
  /// The precision matrix times the result is `right`.
  [[nodiscard]] std::vector<double> solve(double variance, std::vector<double> right) const;

  std::vector<Slope> prior_;
  std::vector<Point> points_;
};

}  // namespace attune::runtime
