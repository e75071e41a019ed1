#include "tuner/spec/launch_identity.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "tuner/base/hash.hpp"
#include "tuner/spec/metrics.hpp"
#include "tuner/spec/untimed_steps.hpp"

namespace attune::spec {
namespace {

/// The bytes of plain values, one after the other. What is hashed stays in this process.
class Bytes {
 public:
  template <class Value>
  Bytes& add(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value> && std::has_unique_object_representations_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Bytes& add(const std::string& text) {
    add(text.size());
    bytes_ += text;
    return *this;
  }
  [[nodiscard]] const std::string& all() const { return bytes_; }

 private:
  std::string bytes_;
};

void add(Bytes& bytes, const ResolvedBuffer& buffer) {
  bytes.add(buffer.count).add(buffer.bytes).add(buffer.type).add(buffer.fill).add(buffer.input).add(buffer.output);
  bytes.add(buffer.workspace).add(buffer.init).add(buffer.memory).add(buffer.align_bytes);
}

void add(Bytes& bytes, const ResolvedMemset& memset) { bytes.add('m').add(memset.buffer).add(memset.byte); }

void add(Bytes& bytes, const ResolvedLaunch& launch) {
  bytes.add('l').add(launch.kernel).add(launch.grid).add(launch.block).add(launch.cluster).add(launch.shared_bytes);
  bytes.add(launch.cooperative).add(launch.dependent).add(launch.arguments.size());
  for (const auto& argument : launch.arguments) bytes.add(argument.kind).add(argument.index).add(argument.bits).add(argument.size_bytes);
}

}  // namespace

std::string launch_key(const LaunchPlan& plan) {
  Bytes bytes;
  for (const auto& buffer : plan.buffers) add(bytes, buffer);
  for (const auto& scalar : plan.scalars) bytes.add(scalar.bits).add(scalar.type);
  for (const auto& step : plan.steps) std::visit([&](const auto& what) { add(bytes, what); }, step);
  return base::content_key(bytes.all());
}

std::vector<std::size_t> launch_bound_parameters(const KernelTemplate& kernel) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (kernel.parameters[i].binding == Binding::Launch && kernel.parameters[i].values.size() > 1) found.push_back(i);
  }
  return found;
}

NameOrder::NameOrder(const KernelTemplate& kernel, const Problem& problem, const DeviceInfo& device)
    : kernel_(kernel), launch_bound_(launch_bound_parameters(kernel)), standard_(default_configuration(kernel, problem, device)) {}

bool NameOrder::operator()(const Configuration& a, const Configuration& b) const {
  const auto rank = [&](const Configuration& configuration) {
    return std::tuple(configuration != standard_, steps_from_default(configuration));
  };
  return std::tuple_cat(rank(a), std::tie(a)) < std::tuple_cat(rank(b), std::tie(b));
}

std::size_t NameOrder::steps_from_default(const Configuration& configuration) const {
  std::size_t steps = 0;
  for (const std::size_t i : launch_bound_) {
    const std::size_t index = configuration.index[i], standard = kernel_.parameters[i].default_index;
    steps += std::max(index, standard) - std::min(index, standard);
  }
  return steps;
}

void for_each_of_same_code(const KernelTemplate& kernel, const Configuration& configuration,
                           const std::function<void(const Configuration&)>& visit) {
  const auto launch_bound = launch_bound_parameters(kernel);
  std::size_t combinations = 1;
  for (const std::size_t i : launch_bound) {
    combinations *= kernel.parameters[i].values.size();
    if (combinations > kMostOfSameCode) return visit(configuration);
  }
  Configuration probe = configuration;
  for (const std::size_t i : launch_bound) probe.index[i] = 0;
  for (;;) {
    visit(probe);
    std::size_t digit = 0;
    for (; digit < launch_bound.size(); ++digit) {
      auto& index = probe.index[launch_bound[digit]];
      if (++index < kernel.parameters[launch_bound[digit]].values.size()) break;
      index = 0;
    }
    if (digit == launch_bound.size()) return;
  }
}

std::optional<std::string> key_of(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                  const DeviceInfo& device) {
  try {
    std::string key = launch_key(resolve(kernel, problem, configuration, device));
    for (const auto& untimed : resolve_own_untimed(kernel, problem, configuration, device)) key += launch_key(untimed.plan);
    return key + objective_text(kernel, configuration);
  } catch (const SpecError&) {  // tried, it fails by itself
    return std::nullopt;
  }
}

std::vector<Configuration> names_of(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                    const DeviceInfo& device) {
  std::vector<Configuration> names{configuration};
  const auto key = key_of(kernel, problem, configuration, device);
  if (!key) return names;
  for_each_of_same_code(kernel, configuration, [&](const Configuration& other) {
    if (other != configuration && satisfies(kernel, problem, other, device) && key_of(kernel, problem, other, device) == key)
      names.push_back(other);
  });
  std::sort(names.begin(), names.end(), NameOrder(kernel, problem, device));
  return names;
}

Configuration name_of(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
  const auto key = key_of(kernel, problem, configuration, device);
  if (!key) return configuration;
  std::vector<Configuration> others;
  for_each_of_same_code(kernel, configuration, [&](const Configuration& other) { others.push_back(other); });
  std::sort(others.begin(), others.end(), NameOrder(kernel, problem, device));
  for (const auto& other : others) {
    if (other == configuration) break;  // what comes behind it names nothing
    if (satisfies(kernel, problem, other, device) && key_of(kernel, problem, other, device) == key) return other;
  }
  return configuration;
}

}  // namespace attune::spec
