#include "tuner/measure/reduce_reference.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tuner/measure/row_reference.hpp"
#include "tuner/spec/scalar_bits.hpp"

namespace attune::measure {
namespace {

constexpr std::int64_t kLoneElements = 4;       // of bits that stand alone: few, so that no result has all bits
constexpr std::uint64_t kSquareRarity = 4;      // squares are twice as far from 1 as factors are
constexpr int kCancellingDigits = 6;            // binary ones that a plain sum loses of numbers near 1
constexpr int kHalfExponent = 14;               // f16 has no powers of two beyond 15
constexpr double kBeyondFixedPoint = 4;

/// How the special elements of one reduction are made.
class Specials {
 public:
  Specials(const Reduction& of, const SpecialNeighbours& y) : of_(of), y_(y), type_(of.in) {}

  std::vector<SpecialCase> all() {
    if (!is_floating(type_) || of_.count == 0) return {};
    const bool extreme = of_.operation == ReduceOperation::Minimum || of_.operation == ReduceOperation::Maximum;
    if (extreme) add_extremes();
    else add_values();
    return std::move(cases_);
  }

 private:
  void add_extremes() {
    const bool least = of_.operation == ReduceOperation::Minimum;
    add({{middle(), nan()}}, "one element is NaN");
    if (of_.count > 1)
      add({{0, nan()}, {last(), infinity(least ? -y_.last : y_.last)}}, "the first element is NaN and the last infinite");
    cases_.push_back({"all elements are NaN", {}, {}});
  }

  void add_values() {
    add({{middle(), infinity(y_.middle)}}, "one element is infinite");
    add({{last(), nan()}}, "the last element is NaN");
    if (of_.accumulate == Accumulate::FixedPoint) return add_too_large();
    if (of_.operation != ReduceOperation::Sum || of_.count < 2) return;
    add({{0, infinity(y_.first)}, {last(), infinity(-y_.last)}}, "the first and the last element are opposite infinities");
    if (of_.accumulate == Accumulate::Compensated) add_cancelling();
  }

  void add_too_large() {
    const double limit = of_.resolution * std::ldexp(1.0, 62) / static_cast<double>(of_.count);
    const auto bits = spec::scalar_bits(spec::Value{kBeyondFixedPoint * limit}, type_);
    if (bits && std::isfinite(to_double(type_, *bits))) add({{middle(), *bits}}, "one element has more digits than the fixed point");
  }

  /// Two numbers so large that a plain sum rounds the others away, and that add up to nothing.
  void add_cancelling() {
    if (of_.transform != Transform::Identity && of_.transform != Transform::Times) return;
    const int digits = kCancellingDigits - static_cast<int>(std::log2(unit_roundoff(of_.out)));
    const double large = std::ldexp(1.0, type_ == spec::ElementType::F16 ? kHalfExponent : digits);
    const auto first = spec::scalar_bits(spec::Value{large * y_.last}, type_);
    const auto final = spec::scalar_bits(spec::Value{-large * y_.first}, type_);
    if (first && final) add({{0, *first}, {last(), *final}}, "the first and the last element are large and cancel");
  }

  void add(std::vector<SpecialCase::Element> elements, const char* when) {
    cases_.push_back({fmt::format("{} (of {})", when, of_.count), std::move(elements), {}});
  }

  [[nodiscard]] std::int64_t middle() const { return of_.count / 2; }
  [[nodiscard]] std::int64_t last() const { return of_.count - 1; }
  [[nodiscard]] std::uint64_t nan() const { return ~std::uint64_t{0} >> (64 - 8 * spec::size_bytes(type_)); }
  [[nodiscard]] std::uint64_t infinity(double sign) const { return sign < 0 ? lowest_bits(type_) : highest_bits(type_); }

  const Reduction& of_;
  SpecialNeighbours y_;
  spec::ElementType type_;
  std::vector<SpecialCase> cases_;
};

}  // namespace

std::vector<SpecialCase> special_cases(const Reduction& of, const SpecialNeighbours& y) {
  return Specials(of, of.transform == Transform::Times ? y : SpecialNeighbours{}).all();
}

std::optional<Filling> reduce_filling(const Reduction& of, ReduceInput input, DataSet data) {
  if (of.operation == ReduceOperation::Product) {
    const bool shifted = of.transform == Transform::ShiftedSquare;
    const bool squared = shifted || of.transform == Transform::Square;
    return Filling{data == DataSet::Integers ? FillKind::Factors : FillKind::WideFactors,
                   factor_rarity(of.count) * (squared ? kSquareRarity : 1), shifted ? of.shift.value : 0};
  }
  const bool conjunction = of.operation == ReduceOperation::And;
  if (input == ReduceInput::First && (conjunction || of.operation == ReduceOperation::Or)) {
    return Filling{conjunction ? FillKind::LoneGaps : FillKind::LoneBits,
                   static_cast<std::uint64_t>(std::max<std::int64_t>(1, of.count / kLoneElements))};
  }
  return std::nullopt;
}

CUdeviceptr ReduceReference::element(const ReduceCase& of, std::int64_t position) const {
  return of.in + static_cast<std::size_t>(position * spec::size_bytes(of.of.in));
}

std::uint64_t ReduceReference::second(const ReduceCase& of, std::int64_t position) {
  if (of.of.transform != Transform::Times) return 0;
  return support_->load_element(of.other + static_cast<std::size_t>(position * spec::size_bytes(of.of.in)), of.of.in);
}

ReduceAnswers ReduceReference::expect(const ReduceCase& of, DataSet data) {
  ReduceAnswers answers;
  answers.totals = support_->reduce(of.in, of.other, of.of);
  answers.right = combined(of.of, answers.totals, data);
  return answers;
}

void ReduceReference::expect_specials(const ReduceCase& of, ReduceAnswers& answers) {
  if (of.of.count == 0) return;
  const auto neighbour = [&](std::int64_t position) { return to_double(of.of.in, second(of, position)); };
  answers.specials = special_cases(of.of, {neighbour(0), neighbour(of.of.count / 2), neighbour(of.of.count - 1)});
  for (auto& special : answers.specials) {
    for (auto& planted : special.elements) {
      planted.before = support_->load_element(element(of, planted.position), of.of.in);
      support_->store_element(element(of, planted.position), of.of.in, planted.bits);
    }
    const Totals totals = special.elements.empty() ? Totals{} : support_->reduce(of.in, of.other, of.of);
    special.right = combined(of.of, totals, DataSet::Random, answers.totals.magnitude);  // what is planted is exact
    for (const auto& planted : special.elements)
      support_->store_element(element(of, planted.position), of.of.in, planted.before);
  }
}

std::optional<std::string> ReduceReference::judge(const ReduceCase& of, const Combined& right) {
  return measure::judge(of.of, right, support_->load_element(of.out, of.of.out));
}

std::optional<std::uint64_t> ReduceReference::planted(const ReduceCase& of, const ReduceAnswers& answers, std::int64_t position,
                                                      std::uint64_t before) {
  return deciding_element(of.of, answers.totals, before, second(of, position));
}

std::optional<std::string> ReduceReference::judge_planted(const ReduceCase& of, const ReduceAnswers& answers, std::int64_t position,
                                                          std::uint64_t before, std::uint64_t planted, std::uint64_t got) {
  return measure::judge(of.of, with_planted(of.of, answers.right, before, planted, second(of, position)), got);
}

}  // namespace attune::measure
