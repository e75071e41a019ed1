#include "tools/amounts.hpp"

#include <fmt/chrono.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "attune/error.hpp"

namespace attune::tools {
namespace {

/// A decimal number and what follows it. Nothing is negative, infinite, or written with an exponent.
struct Amount {
  double value = -1;  ///< none: there is no number
  std::string_view unit;
};

Amount amount_of(const std::string& text) {
  Amount amount;
  if (text.empty() || text.front() < '0' || text.front() > '9') return amount;
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc{}) return amount;
  return {value, std::string_view(stop, static_cast<std::size_t>(end - stop))};
}

}  // namespace

std::chrono::hours parse_age(const std::string& text, const char* option) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{{{"h", 1}, {"d", 24}, {"w", 7 * 24}, {"y", 365 * 24}}};
  constexpr double kMostHours = 100.0 * 365 * 24;
  const auto [value, unit] = amount_of(text);
  for (const auto& [name, hours] : kUnits) {
    if (value < 0 || unit != name) continue;
    const double total = std::floor(value * hours);
    if (total >= 1 && total <= kMostHours) return std::chrono::hours(static_cast<std::int64_t>(total));
  }
  throw UsageError(fmt::format("failed reading {} '{}': expected an age from 1h to 100y, such as 36h, 90d, 26w or 2y (years of 365 days)",
                               option, text));
}

std::uint64_t parse_bytes(const std::string& text, const char* option) {
  constexpr std::array<std::pair<std::string_view, int>, 5> kUnits{{{"", 0}, {"K", 10}, {"M", 20}, {"G", 30}, {"T", 40}}};
  constexpr double kMostBytes = 281474976710656.0;  // 2^48: SQLite's largest file
  auto [value, unit] = amount_of(text);
  for (const std::string_view end : {"iB", "B", "i"}) {
    if (!unit.ends_with(end)) continue;
    unit.remove_suffix(end.size());
    break;
  }
  for (const auto& [name, shift] : kUnits) {
    if (value < 0 || unit != name) continue;
    const double bytes = std::ldexp(value, shift);
    if (bytes <= kMostBytes) return static_cast<std::uint64_t>(bytes);
  }
  throw UsageError(
      fmt::format("failed reading {} '{}': expected a number of bytes up to 256T, such as 65536, 500K, 200M or 1.5G", option, text));
}

std::string bytes_text(std::uint64_t bytes) {
  const auto kib = static_cast<double>(bytes) / 1024;
  return bytes < (1U << 20) ? fmt::format("{:.1f} KiB", kib) : fmt::format("{:.1f} MiB", kib / 1024);
}

std::string moment_text(std::chrono::system_clock::time_point moment) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(moment)));
}

}  // namespace attune::tools
