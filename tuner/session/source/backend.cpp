#include "tuner/session/source/backend.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tuner/base/median.hpp"

namespace attune::session {

double Sentinel::drift() const {
  constexpr std::size_t kTogether = 5;
  double least_us = 0, most_us = 0;
  for (std::size_t first = 0; first + kTogether <= points.size(); ++first) {
    std::array<double, kTogether> window{};
    for (std::size_t i = 0; i < kTogether; ++i) window[i] = points[first + i].median_us;
    const double median_us = base::median({window.begin(), window.end()});
    least_us = least_us == 0 ? median_us : std::min(least_us, median_us);
    most_us = std::max(most_us, median_us);
  }
  return least_us > 0 ? most_us / least_us : 1;
}

double Sentinel::slowdown() const {
  std::vector<double> last_us;
  for (std::size_t i = points.size() - std::min<std::size_t>(points.size(), 3); i < points.size(); ++i)
    last_us.push_back(points[i].median_us);
  if (last_us.empty()) return 1;
  const auto faster = [](const Point& a, const Point& b) { return a.median_us < b.median_us; };
  return base::median(last_us) / std::min_element(points.begin(), points.end(), faster)->median_us;
}

std::string drift_notice(const Sentinel& sentinel, const std::string& problem) {
  constexpr double kNoticed = 1.02;
  if (sentinel.drift() <= kNoticed) return "";
  return fmt::format(
      "the device drifted by {:.1f} % while {} was searched (the same configuration, measured {} times); the run-off compares "
      "in pairs and is not touched by that",
      100 * (sentinel.drift() - 1), problem, sentinel.points.size());
}

nlohmann::json to_json(const Utilisation& used) {
  return {{"wall_s", used.wall_s},
          {"gpu_busy_s", used.gpu_busy_s},
          {"verifying_s", used.verifying_s},
          {"compile_busy_s", used.compile_busy_s},
          {"compile_workers", used.compile_workers},
          {"compilations", used.compilations},
          {"idle_waiting_compile_s", used.idle_waiting_compile_s},
          {"recovering_s", used.recovering_s},
          {"idle_other_s", used.idle_other_s},
          {"searching_s", used.searching_s}};
}

nlohmann::json to_json(const Sentinel& sentinel) {
  nlohmann::json points = nlohmann::json::array();
  for (const auto& point : sentinel.points) points.push_back({point.at_s, point.median_us});
  return {{"configuration", sentinel.configuration}, {"drift", sentinel.drift()}, {"points", std::move(points)}};
}

}  // namespace attune::session
