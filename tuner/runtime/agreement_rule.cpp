#include "tuner/runtime/agreement_rule.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "attune/error.hpp"
#include "tuner/runtime/lookup.hpp"
#include "tuner/runtime/rank_exchange.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::runtime {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

[[noreturn]] void fail(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& why) {
  throw AgreementError(
      fmt::format("failed agreeing with the other ranks on kernel '{}' at {}: {}", kernel.name, spec::to_text(problem), why));
}

/// Where all that expressions can read of two devices is equal, what one can take the other can.
std::vector<spec::DeviceInfo> different_devices(const std::vector<RankPlan>& ranks) {
  std::vector<spec::DeviceInfo> devices;
  std::set<std::string> seen;
  for (const auto& rank : ranks) {
    if (!rank.device) continue;
    std::string text = rank.device->hard_json();
    for (const auto& attribute : spec::DeviceInfo::attribute_names())
      text += " " + spec::to_text(rank.device->attribute(attribute).value());
    if (seen.insert(text).second) devices.push_back(*rank.device);
  }
  return devices;
}

bool takes(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device, const std::string& text) {
  try {
    const auto configuration = spec::configuration_from_text(kernel, text);
    if (violated_constraint(kernel, problem, configuration, device)) return false;
    static_cast<void>(spec::resolve(kernel, problem, configuration, device));
    return true;
  } catch (const Error&) {  // not in the space, or it does not resolve there
    return false;
  }
}

bool all_take(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::vector<spec::DeviceInfo>& devices,
              const std::string& configuration) {
  return std::all_of(devices.begin(), devices.end(), [&](const auto& device) { return takes(kernel, problem, device, configuration); });
}

bool one_architecture(const std::vector<spec::DeviceInfo>& devices) {
  return std::all_of(devices.begin(), devices.end(),
                     [&](const auto& device) { return device.architecture == devices.front().architecture; });
}

/// Ranks that propose, the best proposal first.
std::vector<std::size_t> in_order(const std::vector<RankPlan>& ranks) {
  using Place = std::tuple<Tier, double, double, std::size_t>;
  std::vector<Place> places;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto& proposal = ranks[rank].proposal;
    if (!proposal) continue;
    const double median_us = proposal->median_us > 0 ? proposal->median_us : kInfinity;
    places.emplace_back(proposal->tier, proposal->distance, median_us, rank);
  }
  std::sort(places.begin(), places.end());
  std::vector<std::size_t> order;
  for (const auto& place : places) order.push_back(std::get<3>(place));
  return order;
}

std::string canonical_text(const spec::KernelTemplate& kernel, const std::string& text) {
  return spec::to_text(kernel, spec::configuration_from_text(kernel, text));
}

std::optional<std::string> default_text(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device) {
  try {
    return spec::to_text(kernel, spec::default_configuration(kernel, problem, device));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void check_templates(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::vector<RankPlan>& ranks) {
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    if (ranks[rank].template_hash == ranks[0].template_hash) continue;
    fail(kernel, problem,
         fmt::format("rank 0 has the template with content {}, {} with content {}: a configuration is not the same kernel there; give all "
                     "ranks the same template",
                     quoted_from_rank(ranks[0].template_hash), rank_name(rank), quoted_from_rank(ranks[rank].template_hash)));
  }
}

}  // namespace

std::optional<AgreedPlan> agree_on(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::vector<RankPlan>& ranks,
                                   OnMiss on_miss) {
  check_templates(kernel, problem, ranks);
  const auto order = in_order(ranks);
  if (order.empty()) return std::nullopt;
  const std::string& best = ranks[order.front()].proposal->configuration;
  const bool same = std::all_of(order.begin(), order.end(), [&](auto rank) { return ranks[rank].proposal->configuration == best; });
  if (same && order.size() == ranks.size()) return AgreedPlan{best, order.front(), true};
  const auto devices = different_devices(ranks);
  std::string why = "the devices are of several architectures, and each result was measured on one of them";
  if (one_architecture(devices)) {
    why = "no proposal can run on the devices of all ranks";
    for (const auto rank : order) {
      const std::string& proposed = ranks[rank].proposal->configuration;
      if (all_take(kernel, problem, devices, proposed)) return AgreedPlan{canonical_text(kernel, proposed), rank};
    }
  }
  if (on_miss == OnMiss::Error) {
    throw NotTunedError(fmt::format("kernel '{}' at {}: {}, and Options::on_miss is Error: no default is launched", kernel.name,
                                    spec::to_text(problem), why));
  }
  for (const auto& device : devices) {
    const auto configuration = default_text(kernel, problem, device);
    if (configuration && all_take(kernel, problem, devices, *configuration)) return AgreedPlan{*configuration, std::nullopt, false, why};
  }
  fail(kernel, problem, "no configuration that a rank proposes, and no default, can run on the devices of all ranks");
}

}  // namespace attune::runtime
