#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/runtime/between_sizes.hpp"
#include "tuner/runtime/lookup.hpp"

namespace attune::test {

inline const std::string kA = configuration(64, "plain", 1);
inline const std::string kB = configuration(64, "plain", 4);
inline const std::string kC = configuration(256, "fancy", 1);
inline const std::string kDefault = configuration(256, "plain", 4);

using Standard = std::function<std::string(const spec::Problem&)>;

inline Standard always(const std::string& configuration) {
  return [configuration](const spec::Problem&) { return configuration; };
}

/// Every configuration is known by its own name.
inline runtime::LaunchesAt launches(Standard standard,
                                    std::function<std::optional<runtime::LaunchFacts>(const std::string&, const spec::Problem&)> facts) {
  return {std::move(standard), std::move(facts),
          [](const std::string& configuration, const spec::Problem&) { return std::optional(configuration); },
          [](const spec::Problem&) { return false; }};
}

/// With nothing read before.
inline std::vector<runtime::Forecast> forecast_between(const spec::Problem& asked, const std::vector<runtime::TunedSize>& results,
                                                       const runtime::LaunchesAt& launches) {
  runtime::Evidence evidence;
  return runtime::forecast_between(asked, results, launches, evidence);
}

/// Tuned sizes of the template twice on one device, and what is dispatched by them.
struct BetweenSizes {
  TempFolder folder;
  spec::KernelTemplate kernel = twice_template();
  spec::DeviceInfo here = device("sm_90", "Here", 132);
  LayerFile user{folder / "user.db"};

  /// A tuned size: its winner and what the search measured, in microseconds.
  void tuned(std::int64_t n, const std::string& winner, const std::map<std::string, double>& medians_us, const std::string& detail = "{}") {
    auto row = best_row(kernel, twice_problem(n), here, winner);
    row.detail_json = detail;
    user.add(row, here);
    user.add_measured(row, medians_us);
  }
  runtime::Choice choose(std::int64_t n) const {
    const auto opened = runtime::open_layers({user.path()});
    return runtime::choose(kernel, twice_problem(n), here, opened.layers, {"cold/graph"});
  }
};

}  // namespace attune::test
