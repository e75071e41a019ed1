#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/support.hpp"

namespace attune::measure {

/// One call of a reduction of each row: its input, its operation and where the results are.
struct RowCase {
  Matrix in;
  RowOperation operation = RowOperation::Sum;
  CUdeviceptr out = 0;
  spec::ElementType out_type{};
};

/// "sum", "product", "min" or "max"; nothing for another word.
[[nodiscard]] std::optional<RowOperation> row_operation(const std::string& word);

/// Of a floating-point product's factors other than 1 and -1: one in so many elements, so that a row has about 256 at
/// most. Its partial products, in whatever order, are then far from the limits of f32.
[[nodiscard]] std::uint64_t factor_rarity(std::int64_t columns);

/// Where an element is planted, for each choice of which a kernel may drop or repeat one: both ends of the first two, a
/// middle and the last row, and around the edges of tiles in the middle one. `tile`: elements; 0 when unknown.
[[nodiscard]] std::vector<std::int64_t> row_positions(std::int64_t rows, std::int64_t columns, std::int64_t tile);

/// The element that is planted in place of `before`: an extreme, or a multiple.
[[nodiscard]] std::uint64_t planted_element(spec::ElementType type, RowOperation operation, std::uint64_t before);

/// The right answers of "segmented_reduce" in double precision or exact integers, and what is wrong with results.
class RowReference {
 public:
  explicit RowReference(Support& support) : support_(&support) {}

  /// `exact`: sums and products of this data are exact in any order. Waits.
  [[nodiscard]] RowAnswers expect(const RowCase& of, bool exact);
  /// Waits.
  [[nodiscard]] std::optional<std::string> judge(const RowCase& of, const RowAnswers& answers);
  /// The same after planted_element was put at `position`, where only that row's answer is another. Waits.
  [[nodiscard]] std::optional<std::string> judge_planted(const RowCase& of, const RowAnswers& answers,
                                                         std::int64_t position, std::uint64_t planted);

 private:
  Support* support_;
};

}  // namespace attune::measure
