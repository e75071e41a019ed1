#include "tuner/session/budget.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "attune/error.hpp"
#include "tuner/base/text.hpp"

namespace attune::session {

Budget Budget::parse(std::string_view text) {
  Budget budget;
  const auto fail = [&] {
    return UsageError(fmt::format("failed reading the budget \"{}\"; write a time (60s, 5m), a count of configurations (500) or a "
                                  "share of the space (25%)", text));
  };
  if (text.empty()) throw fail();
  if (text.back() == '%') {
    const std::string number(text.substr(0, text.size() - 1));
    char* end = nullptr;
    const double percent = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(percent > 0) || percent > 100) throw fail();
    budget.fraction = percent / 100;
    return budget;
  }
  const char last = text.back();
  if (last == 's' || last == 'm' || last == 'h') {
    budget.seconds = base::parse_seconds(text);
    if (!(*budget.seconds > 0)) throw fail();
    return budget;
  }
  const std::int64_t count = base::parse_count(text);
  if (count <= 0) throw fail();
  budget.configurations = static_cast<std::uint64_t>(count);
  return budget;
}

std::string Budget::text() const {
  if (seconds) return fmt::format("{}s", *seconds);
  if (configurations) return fmt::format("{}", *configurations);
  return fmt::format("{}%", fraction * 100);
}

std::uint64_t Budget::limit(std::uint64_t space_size) const {
  if (seconds) return space_size;
  if (configurations) return std::min(*configurations, space_size);
  return std::min(space_size, static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(space_size))));
}

}  // namespace attune::session
