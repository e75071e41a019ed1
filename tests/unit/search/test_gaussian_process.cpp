#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "tests/unit/search/learning.hpp"
#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/likelihood.hpp"
#include "tuner/search/validity.hpp"

namespace test_gaussian_process {

using namespace attune;
using namespace attune::search;
using namespace attune::search::test;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using space::Ordinal;

namespace {

const space::SearchSpace& small_space() {
  static const auto space = all_of({powers_of_two("block", 6), choices("how", 3), multiples("tile", 16, 8)});
  return space;
}

const std::vector<Ordinal> kPoints{0, 17, 33, 58, 77, 101, 120, 143};

VectorXd some_values() {
  VectorXd values(static_cast<Index>(kPoints.size()));
  values << 0.3, -1.1, 0.4, 1.2, -0.6, 0.9, -1.4, 0.3;
  return values;
}

}  // namespace

TEST_CASE("a process is what the whole system of equations gives, whenever its candidates came") {
  const auto& space = small_space();
  const auto distances = distances_of(space);
  const CovarianceTable covariance(space, distances, prior_covariance(distances));
  constexpr double kNoise = 0.01;
  GaussianProcess process(covariance, kNoise, {5, 40, 99}, kPoints.size());
  const VectorXd values = some_values();
  for (std::size_t i = 0; i < kPoints.size(); ++i) {
    if (i == 4) process.add_candidate(130);
    process.add_point(kPoints[i], i == 2 ? 7.0 : values[static_cast<Index>(i)]);
  }
  CHECK(process.is_full());
  process.set_value(2, values[2]);

  const auto n = static_cast<Index>(kPoints.size());
  MatrixXd all(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) all(i, j) = covariance(kPoints[static_cast<std::size_t>(i)], kPoints[static_cast<std::size_t>(j)]);
  const MatrixXd inverse = (all + kNoise * MatrixXd::Identity(n, n)).inverse();
  for (std::size_t c = 0; c < process.candidates().size(); ++c) {
    VectorXd to_points(n);
    for (Index i = 0; i < n; ++i) to_points[i] = covariance(kPoints[static_cast<std::size_t>(i)], process.candidates()[c]);
    CHECK(process.means()[static_cast<Index>(c)] == doctest::Approx(to_points.dot(inverse * values)));
    CHECK(process.variances()[static_cast<Index>(c)] == doctest::Approx(1 - to_points.dot(inverse * to_points)));
    CHECK(process.mean_of(process.candidates()[c]) == doctest::Approx(process.means()[static_cast<Index>(c)]));
  }
  CHECK(process.signal_variance() == doctest::Approx(values.dot(inverse * values) / static_cast<double>(n)));
}

TEST_CASE("another value of any point gives the means of a process that was told it at once, of candidates that came later too") {
  const auto& space = small_space();
  const auto distances = distances_of(space);
  const CovarianceTable covariance(space, distances, prior_covariance(distances));
  constexpr double kNoise = 0.02;
  const VectorXd values = some_values();
  const auto n = static_cast<Index>(kPoints.size());
  MatrixXd all(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) all(i, j) = covariance(kPoints[static_cast<std::size_t>(i)], kPoints[static_cast<std::size_t>(j)]);
  all.diagonal().array() += kNoise;
  const VectorXd weights = all.fullPivLu().solve(values);
  for (std::size_t late = 0; late < kPoints.size(); ++late) {
    CAPTURE(late);
    GaussianProcess process(covariance, kNoise, {5, 40}, kPoints.size());
    for (std::size_t i = 0; i < kPoints.size(); ++i) {
      CHECK(process.add_point(kPoints[i], i == late ? -3.0 : values[static_cast<Index>(i)]) == i);
      if (i == 5) process.add_candidate(99);  // before the value is another, or it is a value of a later point
    }
    process.add_candidate(130);
    process.set_value(late, values[static_cast<Index>(late)]);
    process.add_candidate(12);
    REQUIRE(process.candidates() == std::vector<Ordinal>{5, 40, 99, 130, 12});
    CHECK((process.weights() - weights).norm() < 1e-9);
    for (std::size_t c = 0; c < process.candidates().size(); ++c) {
      CAPTURE(c);
      double mean = 0;
      for (std::size_t i = 0; i < kPoints.size(); ++i)
        mean += weights[static_cast<Index>(i)] * covariance(kPoints[i], process.candidates()[c]);
      CHECK(std::abs(process.means()[static_cast<Index>(c)] - mean) < 1e-5);  // what is kept of candidates has 24 bits
    }
  }
}

TEST_CASE("a process without candidates takes in more of them than it has room for") {
  const auto& space = small_space();
  const auto distances = distances_of(space);
  const CovarianceTable covariance(space, distances, prior_covariance(distances));
  GaussianProcess process(covariance, 0.01, {}, kPoints.size());
  for (std::size_t i = 0; i < 4; ++i) process.add_point(kPoints[i], some_values()[static_cast<Index>(i)]);
  for (Ordinal candidate = 0; candidate < 144; ++candidate) process.add_candidate(candidate);
  for (std::size_t i = 4; i < kPoints.size(); ++i) process.add_point(kPoints[i], some_values()[static_cast<Index>(i)]);
  for (Ordinal candidate = 0; candidate < 144; ++candidate)
    CHECK(std::abs(process.means()[static_cast<Index>(candidate)] - process.mean_of(candidate)) < 1e-5);
}

TEST_CASE("a column of the covariance is what its table says of each pair") {
  std::vector<spec::Parameter> parameters{powers_of_two("block", 4), choices("how", 3), multiples("many", 1, 300)};
  std::vector<spec::Configuration> configurations;  // one value of "how" is never taken, and 300 values are more than tables have places
  for (std::uint16_t block = 0; block < 4; ++block)
    for (std::uint16_t many = 0; many < 300; many += 7) configurations.push_back({{block, static_cast<std::uint16_t>(many % 2), many}});
  const auto space = space::SearchSpace::of(parameters, configurations);
  const auto distances = distances_of(space);
  Covariance uneven = prior_covariance(distances);
  for (Index i = 0; i < uneven.log_lengths.size(); ++i) uneven.log_lengths[i] = -1 + 0.4 * static_cast<double>(i);
  for (Index i = 0; i < uneven.logits.size(); ++i) uneven.logits[i] = 1 - 0.7 * static_cast<double>(i);
  const CovarianceTable table(space, distances, uneven);
  CovarianceColumns columns(table);
  const auto check = [&](const std::vector<Ordinal>& added) {
    REQUIRE(columns.size() == added.size());
    for (Ordinal other = 0; other < space.size(); other += 3) {
      const VectorXd column = columns.column(other);
      REQUIRE(column.size() == static_cast<Index>(added.size()));
      for (std::size_t i = 0; i < added.size(); ++i) CHECK(column[static_cast<Index>(i)] == doctest::Approx(table(added[i], other)));
    }
  };
  check({});
  for (const Ordinal added : {5, 160, 0, 77, 5}) columns.add(added);
  check({5, 160, 0, 77, 5});
  columns.clear();
  columns.add(31);
  check({31});
}

TEST_CASE("covariance is 1 of a configuration with itself, the same both ways, and falls with the distance of each parameter") {
  const auto& space = small_space();
  const auto distances = distances_of(space);
  const CovarianceTable covariance(space, distances, prior_covariance(distances));
  const auto of = [&](std::vector<std::uint16_t> a, std::vector<std::uint16_t> b) {
    return covariance(space.find({std::move(a)}).value(), space.find({std::move(b)}).value());
  };
  CHECK(of({2, 1, 3}, {2, 1, 3}) == doctest::Approx(1));
  CHECK(of({0, 1, 3}, {4, 2, 5}) == doctest::Approx(of({4, 2, 5}, {0, 1, 3})));
  CHECK(of({0, 0, 0}, {1, 0, 0}) > of({0, 0, 0}, {3, 0, 0}));
  CHECK(of({0, 0, 0}, {0, 1, 0}) == doctest::Approx(of({0, 0, 0}, {0, 2, 0})));  // choices: any other is as far
  CHECK(distances[2].features.size() == 2);  // multiples of 16: of how many powers of two is not what their logarithms tell
  CHECK(distances[0].features.size() == 1);  // powers of two alone: how often two divides them is their logarithm
}

TEST_CASE("a parameter of which the space has one value does not count") {
  const auto space = space::SearchSpace::of({powers_of_two("a", 4), powers_of_two("b", 4)}, {{{0, 2}}, {{1, 2}}, {{3, 2}}});
  const auto distances = distances_of(space);
  REQUIRE(distances.size() == 1);
  CHECK(distances[0].parameter == 0);
}

TEST_CASE("of very many values those that lie beside each other are one, in whatever order they are listed") {
  auto many = multiples("many", 1, 40000);
  std::reverse(many.values.begin(), many.values.end());
  const auto distances = distances_of(all_of({many}));
  REQUIRE(distances.size() == 1);
  const auto& one = distances[0];
  CHECK(one.features[0].size() <= 256 * 256);
  CHECK(one.features[0][one.cell(7, 7)] == 0);
  CHECK(one.features[0][one.cell(0, 1)] == 0);
  CHECK(one.features[0][one.cell(0, 39999)] > one.features[0][one.cell(0, 20000)]);
  CHECK(one.features[0][one.cell(0, 20000)] > one.features[0][one.cell(0, 10000)]);
}

TEST_CASE("the slopes of the posterior density are those of its differences") {
  const auto& space = small_space();
  const auto distances = distances_of(space);
  Covariance at = prior_covariance(distances);
  at.log_lengths << -0.4, 0.2, -1.1, 0.3;
  at.logits << 0.5, -1, 1.5;
  at.log_noise = -3;
  const auto density = [&](const Covariance& covariance) {
    return posterior_of(covariance, space, distances, kPoints, some_values()).log_density;
  };
  const VectorXd gradient = posterior_of(at, space, distances, kPoints, some_values()).gradient;
  REQUIRE(gradient.size() == 8);
  constexpr double kStep = 1e-5;
  for (Index place = 0; place < gradient.size(); ++place) {
    CAPTURE(place);
    Covariance more = at, less = at;
    for (auto [covariance, step] : {std::pair(&more, kStep), std::pair(&less, -kStep)}) {
      (place < 4 ? covariance->log_lengths[place] : place < 7 ? covariance->logits[place - 4] : covariance->log_noise) += step;
    }
    CHECK(gradient[place] == doctest::Approx((density(more) - density(less)) / (2 * kStep)).epsilon(1e-4));
  }
}

TEST_CASE("fitting raises the posterior density, and finds out which parameter does nothing") {
  const auto space = all_of({powers_of_two("matters", 8), powers_of_two("does_nothing", 8)});
  const auto distances = distances_of(space);
  std::vector<Ordinal> points;
  for (Ordinal i = 3; i < space.size(); i += 3) points.push_back(i);
  VectorXd values(static_cast<Index>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) values[static_cast<Index>(i)] = std::sin(space.row(points[i])[0]);
  values.array() -= values.mean();
  const Covariance prior = prior_covariance(distances);
  const Covariance fitted = fit_covariance(prior, space, distances, points, values, 30);
  CHECK(posterior_of(fitted, space, distances, points, values).log_density >
        posterior_of(prior, space, distances, points, values).log_density + 5);
  const CovarianceTable covariance(space, distances, fitted);
  const Ordinal one = space.find({{3, 3}}).value();
  CHECK(covariance(one, space.find({{3, 6}}).value()) > 0.9);
  CHECK(covariance(one, space.find({{6, 3}}).value()) < 0.5);
}

TEST_CASE("what is like failures is less likely to be valid, and what is like nothing known is as likely as all") {
  const auto& space = small_space();
  const auto distances = distances_of(space);
  Covariance likeness = prior_covariance(distances);
  likeness.log_lengths.setConstant(-1);
  likeness.logits.setConstant(5);
  Validity validity(CovarianceTable(space, distances, likeness));
  const auto of = [&](std::vector<std::uint16_t> row) { return space.find({std::move(row)}).value(); };
  validity.set_candidates({of({0, 0, 1}), of({5, 1, 6})});
  CHECK(validity.chance(0) == doctest::Approx(1));
  for (const std::uint16_t tile : std::vector<std::uint16_t>{0, 2, 3}) validity.report(of({0, 0, tile}), false);
  for (const std::uint16_t tile : std::vector<std::uint16_t>{5, 7}) validity.report(of({5, 1, tile}), true);
  validity.add_candidate(of({2, 2, 3}));
  CHECK(validity.chance(0) < 0.5);
  CHECK(validity.chance(1) > validity.chance(0) + 0.3);
  CHECK(validity.chance(2) == doctest::Approx(3.0 / 6).epsilon(0.1));
}

TEST_CASE("candidates that are added are as likely to be valid as if they had been set, before reports and after") {
  const auto& space = small_space();
  const auto distances = distances_of(space);
  const CovarianceTable likeness(space, distances, prior_covariance(distances));
  Validity set(likeness), added(likeness), set_late(likeness);
  const std::vector<Ordinal> candidates{3, 40, 99, 130};
  set.set_candidates(candidates);
  added.set_candidates({3});
  added.add_candidate(40);
  for (const Ordinal ordinal : {0, 17, 33, 58, 77, 101}) {
    if (ordinal == 58) added.add_candidate(99);
    for (Validity* one : {&set, &added, &set_late}) one->report(ordinal, ordinal % 3 != 0);
  }
  added.add_candidate(130);
  set_late.set_candidates(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    CAPTURE(i);
    CHECK(added.chance(i) == doctest::Approx(set.chance(i)));
    CHECK(set_late.chance(i) == doctest::Approx(set.chance(i)));
  }
  CHECK(set.chance(0) != doctest::Approx(set.chance(1)));
  set.set_candidates({130});  // others from now on
  CHECK(set.chance(0) == doctest::Approx(added.chance(3)));
}

}  // namespace test_gaussian_process
