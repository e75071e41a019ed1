#include "bench/support/random_problems.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace attune::bench {
namespace {

using Operator = CubReduction::Operator;
using Sample = CubHistogram::Sample;

struct Type {
  const char* name;
  Element element;
};
constexpr Type kTypes[] = {{"f32", Element::F32},   {"f64", Element::F64}, {"f16", Element::F16},
                           {"bf16", Element::Bf16}, {"i32", Element::I32}, {"i8", Element::I8}};
constexpr double kLeastLog = 8, kMostLog = 29, kMostSamplesLog = 28;
constexpr double kMostBins = 200'000, kMostEdges = 2'000;

/// Distributions of its own: those of the standard library differ from one to the next.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}
  /// In [0, 1).
  double unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(unit() * static_cast<double>(count)); }
  /// Log-uniform from 2^least to 2^most.
  std::int64_t size(double least, double most) { return std::llround(std::exp2(least + unit() * (most - least))); }

 private:
  std::mt19937_64 bits_;
};

RandomProblem plain(Draw& draw) {
  const Type& type = kTypes[draw.below(std::size(kTypes))];
  const bool sum = draw.below(2) == 0;
  const std::int64_t n = draw.size(kLeastLog, kMostLog);
  return {ReductionProblem{
      "reduce", {{"T", type.name}, {"op", sum ? "sum" : "max"}}, {n}, {sum ? Operator::Sum : Operator::Max, type.element, 1, n}}};
}

RandomProblem arg(Draw& draw) {
  const Type& type = kTypes[draw.below(std::size(kTypes))];
  const std::int64_t n = draw.size(kLeastLog, kMostLog);
  return {ReductionProblem{"argreduce", {{"T", type.name}, {"op", "max"}}, {n}, {Operator::ArgMax, type.element, 1, n}}};
}

RandomProblem rows(Draw& draw) {
  const double elements = kLeastLog + draw.unit() * (kMostLog - kLeastLog);
  const std::int64_t rows = draw.size(0, elements);
  const std::int64_t columns = std::max<std::int64_t>(1, std::llround(std::exp2(elements) / static_cast<double>(rows)));
  return {
      ReductionProblem{"segmented_reduce", {{"T", "f32"}, {"op", "sum"}}, {rows, columns}, {Operator::Sum, Element::F32, rows, columns}}};
}

RandomProblem histogram(Draw& draw) {
  constexpr Skew kDrawnSkews[] = {Skew::Uniform, Skew::Zipf, Skew::Hot, Skew::Constant};
  const Skew skew = kDrawnSkews[draw.below(std::size(kDrawnSkews))];
  const std::int64_t n = draw.size(kLeastLog, kMostSamplesLog);
  struct Drawn {
    const char* mapping;
    const char* sample;
    double most_bins;
  };
  constexpr Drawn kKinds[] = {{"unit", "u8", 256},
                              {"unit", "i32", kMostBins},
                              {"scaled", "i32", kMostBins},
                              {"scaled", "f32", kMostBins},
                              {"edges", "i32", kMostEdges}};
  const std::size_t drawn = draw.below(std::size(kKinds));
  const Drawn& kind = kKinds[drawn];
  const int bins = drawn == 0 ? 256 : static_cast<int>(draw.size(1, std::log2(kind.most_bins)));
  const HistogramProblem problem = plain_histogram(kind.mapping, kind.sample, n, bins, skew);
  return {problem, draw.below(2) == 0 ? SkewIs::Stated : SkewIs::Unknown};
}

RandomProblem any(Draw& draw) {
  const std::size_t of_twenty = draw.below(20);
  if (of_twenty < 10) return plain(draw);
  if (of_twenty < 12) return arg(draw);
  return of_twenty < 14 ? rows(draw) : histogram(draw);
}

}  // namespace

std::string RandomProblem::template_name() const {
  const auto* const reduction = std::get_if<ReductionProblem>(&what);
  return reduction != nullptr ? reduction->template_name : "histogram";
}

std::map<std::string, std::string> RandomProblem::choices() const {
  if (const auto* const reduction = std::get_if<ReductionProblem>(&what)) return reduction->choices;
  return std::get<HistogramProblem>(what).choices(skew_is);
}

std::vector<std::int64_t> RandomProblem::sizes() const {
  if (const auto* const reduction = std::get_if<ReductionProblem>(&what)) return reduction->sizes;
  const auto& peer = std::get<HistogramProblem>(what).peer;
  return {peer.pixels, peer.bins};
}

nlohmann::ordered_json RandomProblem::to_json() const {
  nlohmann::ordered_json json = std::visit([](const auto& problem) { return problem.to_json(); }, what);
  json.erase("template");
  for (const auto& [axis, value] : choices()) json[axis] = value;
  return json;
}

std::string RandomProblem::family() const {
  const auto chosen = choices();
  std::string text = template_name() + " " + chosen.at("T");
  for (const char* axis : {"op", "mapping"})
    if (chosen.contains(axis)) text += " " + chosen.at(axis);
  return text;
}

std::vector<RandomProblem> draw_problems(std::uint64_t seed, int count) {
  Draw draw(seed);
  std::vector<RandomProblem> problems;
  for (int i = 0; i < count; ++i) problems.push_back(any(draw));
  std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) { return a.family() < b.family(); });
  return problems;
}

}  // namespace attune::bench
