#include "tuner/space/launch_classes.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace attune::space {

LaunchClasses::LaunchClasses(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device,
                             const SearchSpace& space)
    : kernel_(kernel), problem_(problem), device_(device), space_(space), before_(kernel, problem, device) {
  if (!spec::launch_bound_parameters(kernel).empty()) visited_.assign(space.size(), false);
}

std::span<const Ordinal> LaunchClasses::members(Ordinal ordinal) {
  if (!is_worked_out(ordinal)) visit_group(ordinal);
  if (const auto found = class_of_.find(ordinal); found != class_of_.end()) return classes_[found->second];
  alone_ = ordinal;
  return {&alone_, 1};
}

std::uint64_t LaunchClasses::count(const std::function<bool()>& go_on) {
  constexpr Ordinal kAskEvery = 1024;
  std::uint64_t further = 0;
  if (visited_.empty()) return space_.size();
  for (Ordinal i = 0; i < space_.size(); ++i) {
    if (i % kAskEvery == 0 && go_on && !go_on()) return 0;
    if (canonical(i) != i) ++further;
  }
  return space_.size() - further;
}

void LaunchClasses::visit_group(Ordinal ordinal) {
  using Member = std::pair<spec::Configuration, Ordinal>;
  std::map<std::string, std::vector<Member>> by_key;
  spec::for_each_of_same_code(kernel_, space_.at(ordinal), [&](const spec::Configuration& configuration) {
    const auto found = space_.find(configuration);
    if (!found) return;
    visited_[*found] = true;
    if (auto key = spec::key_of(kernel_, problem_, configuration, device_)) by_key[*std::move(key)].push_back({configuration, *found});
  });
  for (auto& [key, members] : by_key) {
    if (members.size() < 2) continue;
    std::sort(members.begin(), members.end(), [&](const Member& a, const Member& b) { return before_(a.first, b.first); });
    auto& ordinals = classes_.emplace_back();
    for (const auto& [configuration, member] : members) {
      class_of_[member] = classes_.size() - 1;
      ordinals.push_back(member);
    }
  }
}

}  // namespace attune::space
