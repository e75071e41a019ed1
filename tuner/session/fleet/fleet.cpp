#include "tuner/session/fleet/fleet.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace attune::session {

Fleet::Fleet(const std::vector<std::string>& device_keys, const std::vector<double>& work) {
  std::vector<std::size_t> order(work.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  std::map<std::string, std::size_t> group_of_key;
  for (const auto& key : device_keys) {
    const auto [found, fresh] = group_of_key.emplace(key, groups_.size());
    if (fresh) groups_.push_back({{order.begin(), order.end()}, std::vector<bool>(work.size(), false), 0});
    ++groups_[found->second].devices;
    devices_.push_back({found->second, std::nullopt, false});
  }
}

bool Fleet::has_work(std::size_t device) const {
  const Device& asked = devices_.at(device);
  return !asked.retired && !asked.problem && !groups_[asked.group].queue.empty();
}

std::optional<std::size_t> Fleet::next(std::size_t device) {
  if (!has_work(device)) return std::nullopt;
  auto& queue = groups_[devices_[device].group].queue;
  devices_[device].problem = queue.front();
  queue.pop_front();
  return devices_[device].problem;
}

void Fleet::finished(std::size_t device) { devices_.at(device).problem.reset(); }

void Fleet::failed(std::size_t device, const std::string& why, ExitCode exit_code) {
  Device& failing = devices_.at(device);
  if (!failing.problem) return;
  failures_.push_back({failing.group, *std::exchange(failing.problem, std::nullopt), why, exit_code});
}

void Fleet::lost(std::size_t device, const std::string& why) {
  Device& dead = devices_.at(device);
  if (!dead.problem) return;
  Group& group = groups_[dead.group];
  const std::size_t problem = *dead.problem;
  if (group.lost_before[problem]) return failed(device, why, ExitCode::Environment);
  group.lost_before[problem] = true;
  // At once, not last: it was among the largest that were left.
  group.queue.push_front(problem);
  dead.problem.reset();
}

void Fleet::retire(std::size_t device, const std::string& why) {
  Device& gone = devices_.at(device);
  if (std::exchange(gone.retired, true)) return;
  Group& group = groups_[gone.group];
  if (--group.devices > 0) return;
  for (const std::size_t problem : std::exchange(group.queue, {})) {
    failures_.push_back({gone.group, problem, why, ExitCode::Environment});
  }
}

bool Fleet::done() const {
  return std::all_of(groups_.begin(), groups_.end(), [](const Group& group) { return group.queue.empty(); }) &&
         std::none_of(devices_.begin(), devices_.end(), [](const Device& device) { return device.problem.has_value(); });
}

std::size_t Fleet::turns_left(std::size_t device) const {
  const Group& group = groups_.at(devices_.at(device).group);
  const std::size_t left = group.queue.size() + (devices_[device].problem ? 1 : 0);
  return group.devices == 0 ? left : (left + group.devices - 1) / group.devices;
}

}  // namespace attune::session
