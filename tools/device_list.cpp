#include "tools/device_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "attune/error.hpp"
#include "tuner/base/cpu_claims.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/files.hpp"

namespace attune::tools {

DeviceList DeviceList::parse(const std::string& text) {
  if (text == "all") return {{}, true};
  if (text.empty()) return {{0}, false};
  DeviceList list;
  const std::string_view whole = text;
  for (std::size_t start = 0; start <= whole.size();) {
    const std::size_t end = std::min(whole.find(',', start), whole.size());
    const auto part = whole.substr(start, end - start);
    int ordinal = -1;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), ordinal);
    if (error != std::errc() || stop != part.data() + part.size() || ordinal < 0) {
      throw UsageError(fmt::format("failed reading the devices \"{}\"; write a GPU's number (0), several (0,2) or all", text));
    }
    list.ordinals.push_back(ordinal);
    start = end + 1;
  }
  std::sort(list.ordinals.begin(), list.ordinals.end());
  if (std::adjacent_find(list.ordinals.begin(), list.ordinals.end()) != list.ordinals.end()) {
    throw UsageError(
        fmt::format("failed reading the devices \"{}\": one is named twice, and two processes timing on one GPU disturb each other", text));
  }
  return list;
}

std::vector<session::DeviceSettings> device_settings(const std::vector<int>& ordinals, std::optional<int> compile_workers,
                                                     const std::vector<int>& available) {
  const int devices = static_cast<int>(ordinals.size());
  auto claims = std::make_shared<const base::CpuClaims>(available, devices);
  auto plan = base::plan_cpus(claims->not_of_others(), devices);
  if (plan.compiling.empty()) {  // nothing is pinned: what it compiles on is everybody's, and it keeps nothing from others
    claims.reset();
    plan.compile_workers = base::plan_cpus(available, devices).compile_workers;
  }
  const int workers = compile_workers.value_or(plan.compile_workers);
  const auto cache = base::cache_folder();
  std::vector<session::DeviceSettings> all;
  for (int i = 0; i < devices; ++i) {
    session::DeviceSettings settings;
    settings.ordinal = ordinals[static_cast<std::size_t>(i)];
    settings.compile_workers = std::max(1, workers / devices + (i < workers % devices ? 1 : 0));
    settings.timing_cpus = plan.timing[static_cast<std::size_t>(i)];
    settings.compile_cpus = plan.compiling;
    settings.claims = claims;
    if (!cache.empty()) settings.cache = cache / "cubins";
    all.push_back(std::move(settings));
  }
  return all;
}

}  // namespace attune::tools
