#include "tuner/report/header_selector.hpp"

#include <fmt/core.h>

namespace attune::report {

namespace {

constexpr const char* kComparisons = R"header(
namespace detail {{

/// The binary logarithm of a size, to about 1e-8; 0 counts as half.
constexpr double size_log2(std::int64_t size) {{
  if (size <= 0) return -1;
  auto digits = static_cast<std::uint64_t>(size);
  double result = 31;
  for (; digits >= (std::uint64_t{{1}} << 32); digits >>= 1) result += 1;
  for (; digits < (std::uint64_t{{1}} << 31); digits <<= 1) result -= 1;
  double digit = 0.5;
  for (int i = 0; i < 30; ++i, digit /= 2) {{
    digits = (digits * digits) >> 31;
    if (digits < (std::uint64_t{{1}} << 32)) continue;
    digits >>= 1;
    result += digit;
  }}
  return result;
}}
constexpr double square(double x) {{ return x * x; }}

constexpr bool same_choices([[maybe_unused]] const Problem& a, [[maybe_unused]] const Problem& b) {{ return true{}; }}
constexpr bool same_sizes([[maybe_unused]] const Problem& a, [[maybe_unused]] const Problem& b) {{ return true{}; }}
constexpr double squared_distance([[maybe_unused]] const Problem& a, [[maybe_unused]] const Problem& b) {{ return 0{}; }}
/// Code that is specialised on its sizes serves no others: its general form.
constexpr Configuration for_any_size(Configuration c) {{
{}  return c;
}}

}}  // namespace detail
)header";

}  // namespace

std::string header_comparisons(const std::string& choices, const std::string& sizes, const std::string& distances,
                               const std::string& general) {
  return fmt::format(kComparisons, choices, sizes, distances, general);
}

const char* const kHeaderSelector = R"header(
/// How a configuration was found.
enum class Match {
  kExact,    ///< tuned at these sizes
  kNearest,  ///< tuned at other sizes of the same types and choices: the nearest by their logarithms whose configuration is allowed here
  kDefault,  ///< nothing tuned serves: the template's default, whether or not it is allowed here
};

struct Selection {
  Configuration configuration;
  Match match;
  const Entry* entry;  ///< that the configuration is of; null for the default
};

namespace detail {

constexpr bool is_called(const Device& device, std::string_view text) { return device.name == text || device.architecture == text; }

/// Where several entries are equally near, the first in the table counts. `match` tells how it matched; no entry: kDefault.
constexpr Selection find(std::string_view device, const Problem& problem) {
  Selection found{{}, Match::kDefault, nullptr};
  double least = 0;
  for (const Device& at : kDevices) {
    if (!is_called(at, device)) continue;
    for (std::size_t i = at.first; i < at.last; ++i) {
      const Entry& entry = kEntries[i];
      if (!same_choices(entry.problem, problem)) continue;
      if (same_sizes(entry.problem, problem)) return {entry.configuration, Match::kExact, &entry};
      const double distance = squared_distance(entry.problem, problem);
      if (found.entry != nullptr && !(distance < least)) continue;
      const Configuration general = for_any_size(entry.configuration);
      if (!allowed(problem, general, at)) continue;
      found = {general, Match::kNearest, &entry};
      least = distance;
    }
  }
  return found;
}

constexpr bool is_known(std::string_view device) {
  for (const Device& at : kDevices) {
    if (is_called(at, device)) return true;
  }
  return false;
}

constexpr Selection with_default(const Selection& found, std::string_view device, const Problem& problem) {
  if (found.match != Match::kDefault) return found;
  for (const Device& at : kDevices) {
    if (is_called(at, device)) return {default_configuration(problem, at), Match::kDefault, nullptr};
  }
  return found;
}

}  // namespace detail

/// The configuration for a problem. `device`: a name ("NVIDIA H200") or an architecture ("sm_90", every device of it).
constexpr Selection select(std::string_view device, const Problem& problem) {
  return detail::with_default(detail::find(device, problem), device, problem);
}

/// The same where what was tuned on the named device comes first, then what was on any of its architecture.
constexpr Selection select(std::string_view device, std::string_view architecture, const Problem& problem) {
  const Selection here = detail::find(device, problem);
  if (here.match != Match::kDefault) return here;
  return detail::with_default(detail::find(architecture, problem), detail::is_known(device) ? device : architecture, problem);
}
)header";

}  // namespace attune::report
