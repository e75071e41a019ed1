#include "tuner/measure/row_reference.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace attune::measure {
namespace {

constexpr std::int64_t kMostFactors = 256;
constexpr std::uint64_t kLeastRarity = 4;

/// Infinity is all ones above a mantissa of zeros.
std::uint64_t lowest_exponent_bit(spec::ElementType type) {
  return std::uint64_t{1} << std::countr_zero(highest_bits(type));
}

/// The 64-bit image that answers are compared as.
std::uint64_t image(spec::ElementType type, std::uint64_t bits) {
  return is_floating(type) ? std::bit_cast<std::uint64_t>(to_double(type, bits)) : extend(type, bits);
}

}  // namespace

std::optional<RowOperation> row_operation(const std::string& word) {
  if (word == "sum") return RowOperation::Sum;
  if (word == "product") return RowOperation::Product;
  if (word == "min") return RowOperation::Minimum;
  if (word == "max") return RowOperation::Maximum;
  return std::nullopt;
}

std::uint64_t factor_rarity(std::int64_t columns) {
  return std::max(kLeastRarity, static_cast<std::uint64_t>(columns / kMostFactors));
}

std::vector<std::int64_t> row_positions(std::int64_t rows, std::int64_t columns, std::int64_t tile) {
  if (rows == 0 || columns == 0) return {};
  std::set<std::int64_t> chosen;
  for (const std::int64_t row : {std::int64_t{0}, std::int64_t{1}, rows / 2, rows - 1}) {
    if (row >= rows) continue;
    chosen.insert(row * columns);
    chosen.insert(row * columns + columns - 1);
  }
  const std::int64_t middle = rows / 2 * columns;
  const std::vector<std::int64_t> edges =
      tile > 0 ? std::vector<std::int64_t>{tile, columns / tile / 2 * tile, columns / tile * tile}
               : std::vector<std::int64_t>{32, 1024, columns / 2};
  for (const std::int64_t edge : edges) {
    for (const std::int64_t column : {edge - 1, edge, edge + 1}) {
      if (column >= 0 && column < columns) chosen.insert(middle + column);
    }
  }
  return {chosen.begin(), chosen.end()};
}

std::uint64_t planted_element(spec::ElementType type, RowOperation operation, std::uint64_t before) {
  if (operation == RowOperation::Minimum) return lowest_finite_bits(type);
  if (operation == RowOperation::Maximum) return highest_finite_bits(type);
  if (!is_floating(type)) return before * kMultiple;
  return before + lowest_exponent_bit(type);  // of a number near 1: twice it
}

RowAnswers RowReference::expect(const RowCase& of, bool exact) {
  // As for `reduce`: sqrt(n) already is generous for a fixed order (reference.cpp).
  const double u = is_floating(of.out_type) && !exact ? unit_roundoff(of.out_type) : 0;
  return support_->reduce_rows(of.in, of.operation, u * (8 + std::sqrt(static_cast<double>(of.in.columns))));
}

std::optional<std::string> RowReference::judge(const RowCase& of, const RowAnswers& answers) {
  support_->begin_checks();
  support_->compare_rows("rows", of.out, of.out_type, of.in.rows, answers);
  const auto finding = support_->findings();
  if (!finding) return std::nullopt;
  const std::size_t row = finding->first;
  const std::uint64_t got = support_->load_element(
      of.out + row * static_cast<std::size_t>(spec::size_bytes(of.out_type)), of.out_type);
  const bool floating = is_floating(of.out_type);
  const auto image_type = floating ? spec::ElementType::F64 : spec::ElementType::U64;
  const std::uint64_t wanted = support_->load_element(answers.wanted.address() + row * kAnswerBytes, image_type);
  std::string text = fmt::format("{} of {} rows are wrong; the first is row {}: {} instead of {}", finding->count,
                                 of.in.rows, row, element_text(of.out_type, got),
                                 element_text(floating ? image_type : of.out_type, wanted));
  if (floating) {
    const double allowed = std::bit_cast<double>(
        support_->load_element(answers.allowed.address() + row * kAnswerBytes, spec::ElementType::F64));
    text += fmt::format(" (allowed error {:.3g})", allowed);
  }
  return text;
}

std::optional<std::string> RowReference::judge_planted(const RowCase& of, const RowAnswers& answers,
                                                       std::int64_t position, std::uint64_t planted) {
  const CUdeviceptr at =
      answers.wanted.address() + static_cast<std::size_t>(position / of.in.columns) * kAnswerBytes;
  const std::uint64_t before = support_->load_element(at, spec::ElementType::U64);
  std::uint64_t wanted = image(of.in.type, planted);
  if (of.operation == RowOperation::Product) {
    wanted = is_floating(of.in.type) ? std::bit_cast<std::uint64_t>(2 * std::bit_cast<double>(before))
                                     : before * kMultiple;
  }
  support_->store_element(at, spec::ElementType::U64, wanted);
  auto wrong = judge(of, answers);
  support_->store_element(at, spec::ElementType::U64, before);
  return wrong;
}

}  // namespace attune::measure
