#include "tuner/verify/case_reference.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tuner/spec/scalar_bits.hpp"
#include "tuner/verify/call.hpp"

namespace attune::verify {
namespace {

constexpr int kAddressBytes = 8;

std::size_t expected_bytes(const spec::RoleSpec& role, const spec::ResolvedBuffer& buffer) {
  return static_cast<std::size_t>(buffer.count) *
         (role.values ? static_cast<std::size_t>(spec::size_bytes(buffer.type)) : sizeof(reference::Expected));
}

bool is_base(const std::string& name) { return name.ends_with(".base"); }

}  // namespace

ReferenceLaunch::ReferenceLaunch(const spec::LaunchPlan& plan, const gpu::Module& module, const std::vector<int>& own_bytes) {
  const auto& launch = std::get<spec::ResolvedLaunch>(plan.steps.front());
  function_ = module.function(launch.kernel);
  std::vector<int> sizes = own_bytes;
  for (const auto& argument : launch.arguments) {
    sizes.push_back(argument.size_bytes);
    values_.push_back(argument.bits);
    buffers_.push_back(argument.kind == spec::ResolvedArgument::Kind::Buffer ? argument.index : -1);
  }
  const auto& compiled = function_.parameter_bytes;
  if (compiled.empty() || compiled == sizes) return;
  const auto differs = std::mismatch(sizes.begin(), sizes.end(), compiled.begin(), compiled.end()).first - sizes.begin();
  throw Error(
      fmt::format("failed binding kernel \"{}\" of the reference: it takes {} arguments and is given {}, {} of which are attune's own; "
                  "they differ from number {} on",
                  launch.kernel, compiled.size(), sizes.size(), own_bytes.size(), differs + 1),
      ExitCode::Spec);
}

void ReferenceLaunch::enqueue(Support& support, const std::vector<void*>& own, const Addresses& addresses, std::uint64_t work) {
  std::vector<void*> parameters = own;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (buffers_[i] >= 0) values_[i] = addresses[static_cast<std::size_t>(buffers_[i])];
    parameters.push_back(&values_[i]);
  }
  support.launch(function_, work, parameters.data());
}

CaseReference::CaseReference(spec::ReferenceProblem problem, const gpu::Module& module, Support& support)
    : problem_(std::move(problem)), module_(&module), support_(&support) {}

std::size_t CaseReference::template_buffer(const std::string& role) const {
  const auto& buffers = problem_.definition().form.buffers;
  const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const auto& buffer) { return buffer.name == role; });
  return static_cast<std::size_t>(problem_.template_buffers()[static_cast<std::size_t>(found - buffers.begin())]);
}

ReferenceLaunch* CaseReference::bound(const Key& key, const spec::ReferenceKernel& kernel, const std::vector<int>& own_bytes) {
  auto found = launches_.find(key);
  if (found == launches_.end()) {
    std::optional<ReferenceLaunch> launch;
    if (const auto plan = problem_.arguments(kernel, std::get<1>(key), std::get<2>(key))) launch.emplace(*plan, *module_, own_bytes);
    found = launches_.emplace(key, std::move(launch)).first;
  }
  return found->second ? &*found->second : nullptr;
}

bool CaseReference::fill(std::size_t buffer, const Elements& target, std::size_t data, int group, std::uint64_t seed,
                         const std::string* what) {
  for (const spec::RoleSpec& input : problem_.definition().inputs) {
    if (!input.fill || template_buffer(input.name) != buffer) continue;
    ReferenceLaunch* launch = bound({"fill " + input.name, data, group}, *input.fill, {static_cast<int>(sizeof(reference::Filling))});
    if (launch == nullptr) return false;
    if (target.count == 0) return true;
    reference::Filling filling{reinterpret_cast<void*>(target.start),
                               static_cast<std::uint64_t>(target.count),
                               seed,
                               static_cast<int>(target.type),
                               static_cast<int>(data),
                               group,
                               nullptr};
    if (what != nullptr) filling.slot = reinterpret_cast<reference::Slot*>(support_->next_slot(*what));
    launch->enqueue(*support_, {&filling}, reference_addresses({}, nullptr), filling.count);
    return true;
  }
  return false;
}

std::optional<GuardValues> CaseReference::guards(std::size_t buffer, spec::ElementType type) const {
  for (const spec::RoleSpec& input : problem_.definition().inputs) {
    if (input.guards.empty() || template_buffer(input.name) != buffer) continue;
    GuardValues values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double lowest = spec::to_double(type, spec::lowest_finite_bits(type)),
                   highest = spec::to_double(type, spec::highest_finite_bits(type));
      const spec::Value value = problem_.evaluate(input.guards[i]);
      const auto* integer = std::get_if<std::int64_t>(&value);
      const double number = std::clamp(integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value), lowest, highest);
      values[i] = spec::scalar_bits(spec::is_floating(type) ? number : std::trunc(number), type).value_or(0);
    }
    return values;
  }
  return std::nullopt;
}

Addresses CaseReference::reference_addresses(const Addresses& addresses, const Expectation* expectation) const {
  const auto& buffers = problem_.definition().form.buffers;
  Addresses all(buffers.size(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int from = problem_.template_buffers()[i];
    if (from >= 0 && !addresses.empty()) all[i] = addresses[static_cast<std::size_t>(from)];
    if (expectation == nullptr) continue;
    if (const auto kept = expectation->kept.find(buffers[i].name); kept != expectation->kept.end()) all[i] = kept->second;
    for (const WantedOutput& output : expectation->outputs) {
      if (from >= 0 && output.buffer == static_cast<std::size_t>(from)) all[i] = reinterpret_cast<CUdeviceptr>(output.wanted.start);
    }
  }
  return all;
}

std::size_t CaseReference::answer_bytes(std::size_t data) const {
  const spec::LaunchPlan plan = problem_.expectation(data);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto& outputs = problem_.definition().outputs;
    const auto role = std::find_if(outputs.begin(), outputs.end(), [&](const auto& output) { return output.name == plan.buffers[i].name; });
    if (role != outputs.end() && problem_.template_buffers()[i] >= 0) bytes += expected_bytes(*role, plan.buffers[i]);
  }
  return bytes;
}

void CaseReference::allocate(Expectation& expectation, std::size_t data, const spec::LaunchPlan& plan) {
  const auto& definition = problem_.definition();
  for (const spec::RoleSpec& role : definition.outputs) {
    const auto resolved =
        std::find_if(plan.buffers.begin(), plan.buffers.end(), [&](const auto& buffer) { return buffer.name == role.name; });
    const int from = problem_.template_buffers()[static_cast<std::size_t>(resolved - plan.buffers.begin())];
    if (from < 0) continue;
    expectation.memory.emplace_back(expected_bytes(role, *resolved));
    WantedOutput output{static_cast<std::size_t>(from), {}, {}};
    output.wanted.start = reinterpret_cast<const void*>(expectation.memory.back().address());
    output.wanted.intervals = role.values ? 0 : 1;
    for (const auto& [name, count] : role.shape) {
      const spec::Value value = problem_.evaluate(count, data);
      output.shape.emplace_back(name, std::holds_alternative<std::int64_t>(value) ? std::get<std::int64_t>(value) : 1);
    }
    expectation.outputs.push_back(std::move(output));
  }
  for (const std::string& name : definition.kept) {
    const auto resolved = std::find_if(plan.buffers.begin(), plan.buffers.end(), [&](const auto& buffer) { return buffer.name == name; });
    expectation.memory.emplace_back(static_cast<std::size_t>(resolved->bytes));
    expectation.kept[name] = expectation.memory.back().address();
  }
}

Expectation CaseReference::expect(std::size_t data, const Addresses& addresses, const Expectation* base) {
  const spec::LaunchPlan plan = problem_.expectation(data);
  Expectation expectation;
  allocate(expectation, data, plan);
  for (const std::string& name : problem_.definition().kept)
    expectation.kept[spec::base_name(name)] = base != nullptr ? base->kept.at(name) : expectation.kept.at(name);
  Addresses all = reference_addresses(addresses, &expectation);
  std::vector<gpu::Buffer> scratch;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (!plan.buffers[i].workspace || all[i] != 0 || is_base(plan.buffers[i].name)) continue;
    scratch.emplace_back(static_cast<std::size_t>(plan.buffers[i].bytes));
    all[i] = scratch.back().address();
  }
  const Call call(plan, *module_);
  call.enqueue(all, support_->stream().get());
  support_->stream().synchronize();  // the scratch goes
  return expectation;
}

std::optional<Expectation> CaseReference::alteration(std::size_t data, const Addresses& addresses) {
  Expectation expectation;
  expectation.memory.emplace_back(sizeof(reference::Alteration));
  expectation.alteration = expectation.memory.back().address();
  support_->set_bytes(expectation.alteration, sizeof(reference::Alteration), 0);
  CUdeviceptr address = expectation.alteration;
  if (ReferenceLaunch* launch = bound({"alter", data, 0}, *problem_.definition().alter, {kAddressBytes}))
    launch->enqueue(*support_, {&address}, reference_addresses(addresses, nullptr), 1);
  reference::Alteration altered{};
  support_->download(&altered, expectation.alteration, sizeof altered);
  if (altered.count == 0) return std::nullopt;
  return expectation;
}

std::size_t CaseReference::altered_buffer() const { return template_buffer(problem_.definition().altered); }

std::optional<std::size_t> CaseReference::planted_buffer(std::size_t data) {
  const auto& plant = problem_.definition().plant;
  if (!plant || !plant->data_sets.contains(problem_.definition().data_sets[data].name)) return std::nullopt;
  if (bound({"plant", data, 0}, plant->kernel, {kAddressBytes, kAddressBytes}) == nullptr) return std::nullopt;
  return template_buffer(plant->into);
}

std::int64_t CaseReference::planted_row(std::size_t data, std::int64_t count) const {
  const auto& row = problem_.definition().plant->row;
  if (!row) return count;
  const spec::Value value = problem_.evaluate(*row, data);
  return std::holds_alternative<std::int64_t>(value) ? std::get<std::int64_t>(value) : count;
}

Plants CaseReference::plant(std::size_t data, const Addresses& addresses, const std::vector<std::int64_t>& positions, const Elements& input,
                            const Expectation& expectation) {
  const auto& definition = problem_.definition();
  Plants planted;
  planted.descending = definition.plant->data_sets.at(definition.data_sets[data].name);
  for (const std::int64_t position : positions) {
    reference::Plant plant{};
    plant.position = static_cast<std::uint64_t>(position);
    planted.plants.push_back(plant);
  }
  if (planted.descending) std::reverse(planted.plants.begin(), planted.plants.end());
  if (planted.plants.empty()) return planted;
  const std::size_t bytes = planted.plants.size() * sizeof(reference::Plant);
  planted.memory = gpu::Buffer(bytes);
  CUdeviceptr address = planted.memory.address();
  std::uint64_t count = planted.plants.size();
  support_->upload(address, planted.plants.data(), bytes);
  support_->read_plants(address, count, input);
  bound({"plant", data, 0}, definition.plant->kernel, {kAddressBytes, kAddressBytes})
      ->enqueue(*support_, {&address, &count}, reference_addresses(addresses, &expectation), count);
  support_->download(planted.plants.data(), address, bytes);
  return planted;
}

}  // namespace attune::verify
