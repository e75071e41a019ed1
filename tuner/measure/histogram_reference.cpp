#include "tuner/measure/histogram_reference.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace attune::measure {

int histogram_groups(const HistogramCase& of) { return of.skew ? 1 : kSkews; }

std::vector<DataSet> histogram_data_sets(const HistogramCase& of) {
  std::vector<DataSet> sets = {DataSet::Integers, DataSet::FirstBin, DataSet::LastBin, DataSet::TwoBins, DataSet::AtUpper, DataSet::BelowLower};
  if (!of.skew) sets.push_back(DataSet::Hot);  // Random is uniform then
  if (of.skew != Spread::Sorted) sets.push_back(DataSet::Ascending);
  sets.push_back(DataSet::Random);
  return sets;
}

Spread spread_of(const HistogramCase& of, DataSet data, int group) {
  switch (data) {
    case DataSet::Integers:
      return Spread::Uniform;
    case DataSet::Random:
      return of.skew.value_or(static_cast<Spread>(group));
    case DataSet::FirstBin:
      return Spread::FirstBin;
    case DataSet::LastBin:
      return Spread::LastBin;
    case DataSet::TwoBins:
      return Spread::TwoBins;
    case DataSet::Ascending:
      return Spread::Sorted;
    case DataSet::Hot:
      return Spread::Hot;
    case DataSet::AtUpper:
      return Spread::AtUpper;
    case DataSet::BelowLower:
      return Spread::BelowLower;
  }
  return Spread::Uniform;
}

Filling histogram_filling(const HistogramCase& of, HistogramInput input, DataSet data, int group) {
  // Small integers with random signs add up exactly in any order: a weight that is lost or counted twice shows.
  if (input == HistogramInput::Weights) return {data == DataSet::Random ? FillKind::Uniform : FillKind::SmallIntegers};
  Filling filling;
  filling.histogram = HistogramFilling{of, input == HistogramInput::Edges ? HistogramPart::Edges : HistogramPart::Samples,
                                       spread_of(of, data, group), data == DataSet::Integers};
  return filling;
}

GuardValues histogram_guards(const HistogramCase& of) {
  const auto bits = [&](std::int64_t x) {
    const auto lowest = static_cast<std::int64_t>(extend(of.sample, lowest_bits(of.sample)));
    const auto highest = static_cast<std::int64_t>(extend(of.sample, highest_bits(of.sample)));
    return static_cast<std::uint64_t>(std::clamp(x, lowest, highest)) & (~std::uint64_t{0} >> (64 - 8 * spec::size_bytes(of.sample)));
  };
  const auto f32_bits = [](float x) { return std::uint64_t{std::bit_cast<std::uint32_t>(x)}; };
  if (of.floating()) return {f32_bits(of.lower_f32 + (of.upper_f32 - of.lower_f32) / 2), f32_bits(of.lower_f32)};
  return {bits(of.lower + (of.upper - of.lower) / 2), bits(of.lower)};
}

HistogramExpectation HistogramReference::expect(const HistogramCall& call, DataSet data) {
  HistogramExpectation right{support_->count_histogram(call), data == DataSet::Random ? unit_roundoff(spec::ElementType::F32) : 0};
  support_->stream().synchronize();
  return right;
}

std::optional<std::string> HistogramReference::judge(const HistogramCall& call, const HistogramExpectation& right) {
  support_->begin_checks();
  support_->compare_counts("counts", call, right.answers, right.unit);
  const auto finding = support_->findings();
  if (!finding) return std::nullopt;
  const auto type = call.of.counter;
  const std::size_t first = finding->first, bins = static_cast<std::size_t>(call.of.bins);
  const auto answer = [&](const gpu::Buffer& buffer, spec::ElementType as) {
    return support_->load_element(buffer.address() + first * kAnswerBytes, as);
  };
  const auto got = support_->load_element(call.counts + first * static_cast<std::size_t>(spec::size_bytes(type)), type);
  const auto wanted = call.of.weighted() ? element_text(spec::ElementType::F64, answer(right.answers.sums, spec::ElementType::F64))
                                         : element_text(type, answer(right.answers.counts, spec::ElementType::U64));
  std::string text = fmt::format("{} of {} counts are wrong; the first is bin {}{}: {} instead of {}", finding->count,
                                 call.of.counts(), first % bins, call.of.active > 1 ? fmt::format(" of channel {}", first / bins) : "",
                                 element_text(type, got), wanted);
  if (call.of.weighted()) text += fmt::format(", of {} samples", answer(right.answers.counts, spec::ElementType::U64));
  return text;
}

}  // namespace attune::measure
