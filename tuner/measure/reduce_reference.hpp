#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/reduction.hpp"
#include "tuner/measure/support.hpp"

namespace attune::measure {

/// One call of a reduction of everything and where its data are.
struct ReduceCase {
  Reduction of;
  CUdeviceptr in = 0;
  CUdeviceptr other = 0;  ///< of Transform::Times
  CUdeviceptr out = 0;
};

/// Elements that a kernel is tried on beside its data: NaN, infinities, and for compensated sums a pair of large numbers
/// that cancel.
struct SpecialCase {
  struct Element {
    std::int64_t position = 0;
    std::uint64_t bits = 0;
    std::uint64_t before = 0;  ///< what the Random data have there
  };
  std::string when;               ///< ends a sentence: "when element 7 is NaN"
  std::vector<Element> elements;  ///< none: every element is NaN
  Combined right;
};

/// Of one data set.
struct ReduceAnswers {
  Totals totals;
  Combined right;
  std::vector<SpecialCase> specials;
};

/// The special cases of a reduction, without `before` and `right`. `y`: the second input's elements at the first, the
/// middle and the last position; read by Transform::Times only.
struct SpecialNeighbours {
  double first = 1, middle = 1, last = 1;
};
[[nodiscard]] std::vector<SpecialCase> special_cases(const Reduction& of, const SpecialNeighbours& y);

/// How the input of a reduction is filled, where that is not how any data are: factors of products, which neither vanish
/// nor overflow, and bits of their own, which do not saturate.
enum class ReduceInput { First, Second };
[[nodiscard]] std::optional<Filling> reduce_filling(const Reduction& of, ReduceInput input, DataSet data);

/// The right answers of "reduce" in double precision or exact integers, and what is wrong with results.
class ReduceReference {
 public:
  explicit ReduceReference(Support& support) : support_(&support) {}

  /// Waits.
  [[nodiscard]] ReduceAnswers expect(const ReduceCase& of, DataSet data);
  /// Adds the special cases to the answers for the Random data, which are in the buffers before and after. Waits.
  void expect_specials(const ReduceCase& of, ReduceAnswers& answers);
  /// Waits.
  [[nodiscard]] std::optional<std::string> judge(const ReduceCase& of, const Combined& right);
  /// What is put in place of the element `before` of the Integers data; nothing where none would decide the result.
  [[nodiscard]] std::optional<std::uint64_t> planted(const ReduceCase& of, const ReduceAnswers& answers, std::int64_t position,
                                                     std::uint64_t before);
  /// Of the result `got` after `planted` was put there. Waits where there is a second input.
  [[nodiscard]] std::optional<std::string> judge_planted(const ReduceCase& of, const ReduceAnswers& answers, std::int64_t position,
                                                         std::uint64_t before, std::uint64_t planted, std::uint64_t got);

 private:
  /// Raw bits of the second input; 0 where it is not read.
  [[nodiscard]] std::uint64_t second(const ReduceCase& of, std::int64_t position);
  [[nodiscard]] CUdeviceptr element(const ReduceCase& of, std::int64_t position) const;

  Support* support_;
};

}  // namespace attune::measure
