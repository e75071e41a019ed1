#include "tuner/base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <ctime>
#include <numeric>
#include <optional>

#include "attune/error.hpp"
#include "tuner/base/characters.hpp"

namespace attune::base {
namespace {

constexpr std::int64_t kMaximumCount = std::int64_t{1} << 62;
constexpr std::size_t kMaximumCounts = 65536;  // of one list: a typing error must not fill the memory

std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kMaximumCount) return std::nullopt;
  return product;
}

[[noreturn]] void bad_count(std::string_view text, const char* why) {
  throw UsageError(
      fmt::format("failed reading count '{}': {}; write 4096, 100_000, 16M (2^20 multiples: K, M, G), 2^24 or 1e6, "
                  "up to 2^62",
                  text, why));
}

/// Digits with single underscores between them, from the front of `rest`.
std::int64_t take_digits(std::string_view& rest, std::string_view whole) {
  if (rest.empty() || !is_digit(rest.front())) bad_count(whole, "a digit is missing");
  std::int64_t value = 0;
  std::size_t i = 0;
  for (; i < rest.size(); ++i) {
    const bool separator = rest[i] == '_' && is_digit(rest[i - 1]) && i + 1 < rest.size() && is_digit(rest[i + 1]);
    if (separator) continue;
    if (!is_digit(rest[i])) break;
    const auto shifted = checked_multiply(value, 10);
    if (!shifted || *shifted + (rest[i] - '0') > kMaximumCount) bad_count(whole, "it is too large");
    value = *shifted + (rest[i] - '0');
  }
  rest.remove_prefix(i);
  return value;
}

std::int64_t scaled(std::int64_t value, std::int64_t base, std::int64_t exponent, std::string_view whole) {
  if (base <= 1 || value == 0) return base == 0 && exponent > 0 ? 0 : value;
  for (std::int64_t i = 0; i < exponent; ++i) {
    const auto product = checked_multiply(value, base);
    if (!product) bad_count(whole, "it is too large");
    value = *product;
  }
  return value;
}

/// log2 of the multiple that "K", "Ki", ... stand for.
std::optional<int> suffix_exponent(std::string_view suffix) {
  if (suffix == "K" || suffix == "Ki") return 10;
  if (suffix == "M" || suffix == "Mi") return 20;
  if (suffix == "G" || suffix == "Gi") return 30;
  return std::nullopt;
}

/// What stands between the commas.
std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  for (;;) {
    const std::size_t comma = text.find(',');
    items.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

[[noreturn]] void bad_range(std::string_view text, const std::string& why) {
  throw UsageError(
      fmt::format("failed reading counts '{}': {}; write 16M, 2^10..2^28:x4 (factor), 1K..4K:+1K (step) or a list "
                  "of these with commas",
                  text, why));
}

struct Step {
  bool geometric = true;
  std::int64_t amount = 2;
};

Step parse_step(std::string_view step, std::string_view whole) {
  if (step.size() < 2 || (step.front() != 'x' && step.front() != '+')) {
    bad_range(whole, fmt::format("'{}' is neither a factor (x4) nor a step (+1K)", step));
  }
  const Step result{step.front() == 'x', parse_count(step.substr(1))};
  if (result.geometric && result.amount < 2) bad_range(whole, "the factor is below 2");
  if (!result.geometric && result.amount < 1) bad_range(whole, "the step is 0");
  return result;
}

void append_range(std::string_view item, std::vector<std::int64_t>& counts) {
  const std::size_t dots = item.find("..");
  const std::size_t colon = item.find(':');
  if (colon != std::string_view::npos && (dots == std::string_view::npos || colon < dots)) {
    bad_range(item, "a step needs a range before it");
  }
  const auto append = [&](std::int64_t value) {
    if (counts.size() == kMaximumCounts) bad_range(item, fmt::format("with it the list holds more than {} values", kMaximumCounts));
    counts.push_back(value);
  };
  if (dots == std::string_view::npos) return append(parse_count(item));
  const std::int64_t first = parse_count(item.substr(0, dots));
  const std::int64_t last = parse_count(item.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2));
  const Step step = colon == std::string_view::npos ? Step{} : parse_step(item.substr(colon + 1), item);
  if (last < first) bad_range(item, fmt::format("the range descends from {} to {}", first, last));
  if (step.geometric && first == 0) bad_range(item, "a range with a factor cannot start at 0");
  for (std::int64_t value = first; value <= last;) {
    append(value);
    if (!step.geometric && value > kMaximumCount - step.amount) break;
    const auto next = step.geometric ? checked_multiply(value, step.amount) : std::optional(value + step.amount);
    if (!next) break;
    value = *next;
  }
}

/// Insertions, deletions and substitutions that turn one word into the other (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// "2026-11-20T13:17:05"
std::string utc_text(std::time_t time) {
  // Four digits of a year, whatever the clock says: dates compare as text.
  constexpr std::time_t kEndOfYear9999 = 253402300799;
  time = std::clamp<std::time_t>(time, 0, kEndOfYear9999);
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
  return {text, length};
}

}  // namespace

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

std::int64_t parse_count(std::string_view text) {
  std::string_view rest = text;
  const std::int64_t value = take_digits(rest, text);
  if (rest.empty()) return value;
  if (const auto exponent = suffix_exponent(rest)) return scaled(value, 2, *exponent, text);
  const char mark = rest.front();
  if (mark != '^' && mark != 'e') bad_count(text, "it has an unknown suffix");
  rest.remove_prefix(1);
  const std::int64_t exponent = take_digits(rest, text);
  if (!rest.empty()) bad_count(text, "something follows the exponent");
  if (mark == 'e') return scaled(value, 10, exponent, text);
  return scaled(1, value, exponent, text);
}

std::vector<std::int64_t> parse_counts(std::string_view text) {
  std::vector<std::int64_t> counts;
  for (const std::string_view item : items_of(text)) {
    if (item.empty()) bad_range(text, "a count is missing");
    append_range(item, counts);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::string doubling_note(std::string_view text) {
  constexpr std::size_t kShown = 5;
  for (const std::string_view item : items_of(text)) {
    const std::size_t dots = item.find("..");
    if (dots == std::string_view::npos || item.find(':') != std::string_view::npos) continue;
    const auto counts = parse_counts(item);
    const std::int64_t last = parse_count(item.substr(dots + 2)), all = last - counts.front() + 1;
    if (all == static_cast<std::int64_t>(counts.size())) continue;
    std::string taken;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts.size() > kShown && i == kShown - 1) taken += " ... " + format_count(counts.back());
      if (counts.size() > kShown && i >= kShown - 1) break;
      taken += (i == 0 ? "" : ", ") + format_count(counts[i]);
    }
    const bool few = all <= static_cast<std::int64_t>(kMaximumCounts);
    return fmt::format("{} takes {}, for a range without a step doubles; write {}:x2 to mean that{}", item, taken, item,
                       few ? fmt::format(", {}:+1 for steps of 1", item) : "");
  }
  return {};
}

std::string format_count(std::int64_t count) {
  // Below 2^10 the plain number is shorter to read than the power.
  constexpr std::int64_t kFirstPower = 1024;
  if (count >= kFirstPower && (count & (count - 1)) == 0) {
    return fmt::format("2^{}", __builtin_ctzll(static_cast<unsigned long long>(count)));
  }
  return fmt::format("{}", count);
}

std::string whole_number_fault(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() ? "" : fmt::format("'{}' is no whole number from 0 to 2^64 - 1", text);
}

double parse_seconds(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  // from_chars also reads "inf", "nan" and signs.
  if (error == std::errc{} && is_digit(text.front())) {
    if (unit == "ms") return value / 1000;
    if (unit == "s") return value;
    if (unit == "m") return value * 60;
    if (unit == "h") return value * 3600;
  }
  throw UsageError(fmt::format("failed reading duration '{}'; write 500ms, 60s, 5m or 1h", text));
}

// std::time() reads a coarse clock, up to a tick behind: by it a session could end in the second before its rows were recorded.
std::string utc_now() { return utc_text(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())) + "Z"; }

std::string utc_stamp() {
  using std::chrono::microseconds;
  static std::atomic<std::int64_t> last{0};
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t now = std::chrono::duration_cast<microseconds>(since_epoch).count();
  std::int64_t before = last.load();
  std::int64_t stamp = 0;
  do {  // two calls within a microsecond, or a clock that is set back
    stamp = std::max(now, before + 1);
  } while (!last.compare_exchange_weak(before, stamp));
  constexpr std::int64_t kPerSecond = 1000000;
  return fmt::format("{}.{:06}Z", utc_text(stamp / kPerSecond), stamp % kPerSecond);
}

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  // The distance takes time in proportion to both lengths, and nobody mistypes a page.
  constexpr std::size_t kLongestWord = 128;
  std::string best;
  if (word.size() > kLongestWord) return best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    // A third of the letters: more, and the suggestion is a guess rather than a correction.
    const std::size_t tolerated = std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > tolerated || (!best.empty() && distance >= best_distance)) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace attune::base
