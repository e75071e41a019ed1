#include "tuner/session/tune/budget.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/text.hpp"

namespace attune::session {

namespace {

/// One limit of the list, as it is written.
struct Limit {
  enum class Kind { Seconds, Configurations, Fraction, Separated, Converged } kind = Kind::Separated;
  double amount = 0;        ///< seconds, or a share
  std::uint64_t count = 0;  ///< configurations
};

constexpr double kLongest_s = 1e9;  // thirty years, which clocks still count

/// Nothing when it is none.
std::optional<Limit> read_limit(std::string_view text) try {
  if (text.empty()) return std::nullopt;
  if (text == "separated") return Limit{};
  if (text == "converged") return Limit{Limit::Kind::Converged, 0, 0};
  const char last = text.back();
  if (last == '%') {
    const std::string number(text.substr(0, text.size() - 1));
    char* end = nullptr;
    const double percent = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(percent > 0) || percent > 100) return std::nullopt;
    return Limit{Limit::Kind::Fraction, percent / 100, 0};
  }
  if (last == 's' || last == 'm' || last == 'h') {
    const double seconds = base::parse_seconds(text);
    return seconds > 0 && seconds <= kLongest_s ? std::optional(Limit{Limit::Kind::Seconds, seconds, 0}) : std::nullopt;
  }
  const std::int64_t count = base::parse_count(text);
  return count > 0 ? std::optional(Limit{Limit::Kind::Configurations, 0, static_cast<std::uint64_t>(count)}) : std::nullopt;
} catch (const UsageError&) {
  return std::nullopt;  // of times and counts elsewhere; here more than these may stand
}

void apply(const Limit& limit, Budget& budget) {
  switch (limit.kind) {
    case Limit::Kind::Seconds:
      budget.seconds = limit.amount;
      break;
    case Limit::Kind::Configurations:
      budget.configurations = limit.count;
      break;
    case Limit::Kind::Fraction:
      budget.fraction = limit.amount;
      break;
    case Limit::Kind::Separated:
      budget.until_separated = true;
      break;
    case Limit::Kind::Converged:
      budget.until_converged = true;
      break;
  }
}

}  // namespace

Budget Budget::parse(std::string_view text) {
  Budget budget;
  std::set<Limit::Kind> given;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const auto limit = read_limit(text.substr(start, end - start));
    if (!limit) {
      throw UsageError(
          fmt::format("failed reading the budget \"{}\"; write a time (60s, 5m), a count of configurations (500), a share "
                      "of the space (25%), \"separated\", \"converged\", or several with commas (5m,separated)",
                      text));
    }
    if (!given.insert(limit->kind).second) {
      throw UsageError(fmt::format("failed reading the budget \"{}\": it gives two limits of one kind; keep the smaller one", text));
    }
    apply(*limit, budget);
    start = end + 1;
  }
  return budget;
}

std::string Budget::text() const {
  std::vector<std::string> limits;
  if (seconds) limits.push_back(fmt::format("{}s", *seconds));
  if (configurations) limits.push_back(fmt::format("{}", *configurations));
  if (fraction < 1) limits.push_back(fmt::format("{:.10g}%", fraction * 100));
  if (until_separated) limits.emplace_back("separated");
  if (until_converged) limits.emplace_back("converged");
  return limits.empty() ? "100%" : fmt::format("{}", fmt::join(limits, ","));
}

std::uint64_t Budget::limit(std::uint64_t space_size) const {
  const auto share = static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(space_size)));
  return std::min({space_size, share, configurations.value_or(space_size)});
}

double run_off_seconds(double search_s, std::size_t problems) { return std::max(3.0 / static_cast<double>(problems), 0.2 * search_s); }

}  // namespace attune::session
