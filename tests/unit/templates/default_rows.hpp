#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tuner/spec/kernel_template.hpp"

namespace attune::templates::test {

/// Always the same draws.
class Draws {
 public:
  std::string one_of(const std::vector<std::string>& words) { return words[random_() % words.size()]; }
  /// 1 to 2^octaves, evenly on a logarithmic scale.
  std::int64_t size(int octaves) { return std::llround(std::exp2(static_cast<double>(random_() % 100000) / 100000 * octaves)); }

 private:
  std::mt19937_64 random_{20261124};
};

/// Which rows of a template's table of defaults stand for some problem.
class ReachedRows {
 public:
  explicit ReachedRows(const spec::KernelTemplate& kernel) : kernel_(kernel) {}
  /// `row` may be null.
  template <class Row>
  void add(const Row* row) {
    if (row != nullptr) reached_.insert(row - kernel_.defaults.data());
  }
  void check_all() const {
    for (std::size_t row = 0; row < kernel_.defaults.size(); ++row) {
      CHECK_MESSAGE(reached_.count(static_cast<std::ptrdiff_t>(row)) == 1, kernel_.name << ": no problem reaches row " << row);
    }
  }

 private:
  const spec::KernelTemplate& kernel_;
  std::set<std::ptrdiff_t> reached_;
};

}  // namespace attune::templates::test
