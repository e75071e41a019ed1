#include "bench/support/histogram_problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "attune/error.hpp"
#include "tuner/base/text.hpp"

namespace attune::bench {
namespace {

using Sample = CubHistogram::Sample;

constexpr Skew kSkews[] = {Skew::Uniform, Skew::Zipf, Skew::Hot, Skew::Constant, Skew::Sorted};

/// Bounds of the bins that have no natural ones.
constexpr double kScaledUpper = 1'000'003;

constexpr char kByteCounts[] = "2^16,2^20,2^24,2^28";
constexpr char kWordCounts[] = "2^16,2^20,2^23,2^26";
constexpr char kPixelCounts[] = "2^14,2^18,2^22,2^26";

/// Every problem of one kind but for skew and size.
struct Kind {
  HistogramProblem problem;
  const char* counts;
};

HistogramProblem even(Sample sample, const char* mapping, int bins, double lower, double upper) {
  HistogramProblem problem;
  problem.mapping = mapping;
  problem.peer = {sample, 0, bins, lower, upper, nullptr, 1, 1};
  return problem;
}

std::vector<Kind> grid_kinds() {
  std::vector<Kind> kinds{{even(Sample::U8, "unit", 256, 0, 256), kByteCounts}};
  for (const int bins : {16, 256, 2048, 16384, 65536}) kinds.push_back({even(Sample::I32, "unit", bins, 0, bins), kWordCounts});
  kinds.push_back({even(Sample::I32, "scaled", 2048, 0, kScaledUpper), kWordCounts});
  for (const int bins : {256, 4096}) kinds.push_back({even(Sample::F32, "scaled", bins, -1, 1), kWordCounts});
  kinds.push_back({even(Sample::I32, "edges", 100, 0, 0), kWordCounts});
  return kinds;
}

std::vector<Kind> extra_kinds() {
  auto weighted = even(Sample::I32, "unit", 256, 0, 256);
  weighted.weighted = true;
  auto colours = even(Sample::U8, "unit", 256, 0, 256);
  colours.peer.channels = 4;
  colours.peer.active = 3;
  std::vector<Kind> kinds{
      {weighted, kWordCounts}, {colours, kPixelCounts}, {even(Sample::I32, "unit", 1'000'000, 0, 1'000'000), kWordCounts}};
  for (Kind& kind : kinds) kind.problem.extra = true;
  return kinds;
}

std::set<std::string> names_in(const std::string& list) {
  std::set<std::string> names;
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    names.insert(list.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

/// Throws: UsageError when a name is none of `known`.
std::set<std::string> checked_names(const char* what, const std::string& list, const std::vector<std::string>& known) {
  auto names = names_in(list);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw UsageError(fmt::format("failed choosing problems: there is no {} \"{}\"; there are {}", what, name, fmt::join(known, ", ")));
  }
  return names;
}

bool wanted(const std::string& one, bool is_extra, const std::set<std::string>& named, bool with_extra) {
  return named.empty() ? !is_extra || with_extra : named.contains(one);
}

const char* type_name(Sample sample) {
  switch (sample) {
    case Sample::U8:
      return "u8";
    case Sample::I32:
      return "i32";
    case Sample::F32:
      return "f32";
  }
  return "";
}

/// A kind of one channel, without weights; edges have bounds of their own.
struct Plain {
  const char* mapping;
  const char* type;
  Sample sample;
  double lower;
  std::optional<double> upper;  ///< nothing: as many as there are bins
};
constexpr Plain kPlain[] = {{"unit", "u8", Sample::U8, 0, 256},
                            {"unit", "i32", Sample::I32, 0, std::nullopt},
                            {"scaled", "i32", Sample::I32, 0, kScaledUpper},
                            {"scaled", "f32", Sample::F32, -1, 1},
                            {"edges", "i32", Sample::I32, 0, 0}};

const Plain* find_plain(const std::string& mapping, const std::string& sample) {
  const auto* const found = std::find_if(std::begin(kPlain), std::end(kPlain),
                                         [&](const Plain& plain) { return mapping == plain.mapping && sample == plain.type; });
  return found == std::end(kPlain) ? nullptr : found;
}

}  // namespace

bool has_plain_histogram(const std::string& mapping, const std::string& sample) { return find_plain(mapping, sample) != nullptr; }

HistogramProblem plain_histogram(const std::string& mapping, const std::string& sample, std::int64_t n, int bins, Skew skew) {
  const Plain* const plain = find_plain(mapping, sample);
  if (plain == nullptr) throw UsageError(fmt::format("failed choosing a histogram: the benchmarks have none of {} {}", sample, mapping));
  HistogramProblem problem = even(plain->sample, plain->mapping, bins, plain->lower, plain->upper.value_or(bins));
  problem.skew = skew;
  problem.peer.pixels = n;
  return problem;
}

std::optional<Skew> skew_named(const std::string& text) {
  const auto* const found = std::find_if(std::begin(kSkews), std::end(kSkews), [&](Skew skew) { return text == name(skew); });
  return found == std::end(kSkews) ? std::nullopt : std::optional(*found);
}

const char* name(Skew skew) {
  switch (skew) {
    case Skew::Uniform:
      return "uniform";
    case Skew::Zipf:
      return "zipf";
    case Skew::Hot:
      return "hot";
    case Skew::Constant:
      return "constant";
    case Skew::Sorted:
      return "sorted";
  }
  return "";
}

std::size_t HistogramProblem::input_bytes() const {
  return weights_at() + (weighted ? static_cast<std::size_t>(samples()) * sizeof(float) : 0);
}

std::size_t HistogramProblem::output_bytes() const {
  return static_cast<std::size_t>(peer.bins) * static_cast<std::size_t>(peer.active) * 4;
}

std::vector<std::int32_t> HistogramProblem::edges() const {
  if (mapping != "edges") return {};
  std::vector<std::int32_t> values{0};
  for (int bin = 0; bin < peer.bins; ++bin) values.push_back(values.back() + 100 + bin * 7919 % 9773);
  return values;
}

std::map<std::string, std::string> HistogramProblem::choices(SkewIs how) const {
  std::map<std::string, std::string> choices{{"T", type_name(peer.sample)}, {"mapping", mapping}};
  if (weighted) choices["Counter"] = "f32";
  if (peer.channels > 1) choices["channels"] = std::to_string(peer.channels);
  if (peer.active < peer.channels) choices["active"] = std::to_string(peer.active);
  if (how == SkewIs::Stated) choices["skew"] = name(skew);
  return choices;
}

nlohmann::ordered_json HistogramProblem::to_json() const {
  nlohmann::ordered_json json{{"template", "histogram"}};
  for (const auto& [axis, value] : choices(SkewIs::Unknown)) json[axis] = value;
  json["n"] = peer.pixels;
  json["bins"] = peer.bins;
  return json;
}

std::string HistogramProblem::kind() const {
  std::string text = fmt::format("{} {}", type_name(peer.sample), peer.bins);
  if (mapping == "edges") text += " edges";
  if (mapping == "scaled" && peer.sample != Sample::F32) text += " scaled";
  if (peer.channels > 1) text += fmt::format(" {} of {} channels", peer.active, peer.channels);
  return weighted ? text + " weighted" : text;
}

std::vector<HistogramProblem> histogram_problems(const HistogramFilter& filter) {
  auto kinds = grid_kinds();
  for (Kind& kind : extra_kinds()) kinds.push_back(std::move(kind));
  std::vector<std::string> known_kinds, known_skews;
  for (const Kind& kind : kinds) known_kinds.push_back(kind.problem.kind());
  for (const Skew skew : kSkews) known_skews.emplace_back(name(skew));
  const auto kinds_named = checked_names("kind", filter.kinds, known_kinds);
  const auto skews_named = checked_names("skew", filter.skews, known_skews);
  std::vector<HistogramProblem> problems;
  for (const auto& [model, counts] : kinds) {
    if (!wanted(model.kind(), model.extra, kinds_named, filter.extra)) continue;
    for (const Skew skew : kSkews) {
      const bool beside = skew == Skew::Sorted;
      if (!wanted(name(skew), beside, skews_named, filter.extra)) continue;
      // Channels of a sorted image would each be sorted: no image is.
      if (beside && model.peer.channels > 1) continue;
      for (const std::int64_t n : base::parse_counts(filter.counts.empty() ? counts : filter.counts)) {
        problems.push_back(model);
        problems.back().skew = skew;
        problems.back().extra = model.extra || beside;
        problems.back().peer.pixels = n;
      }
    }
  }
  return problems;
}

}  // namespace attune::bench
