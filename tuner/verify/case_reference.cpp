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

ReferenceLaunch::ReferenceLaunch(const spec::ReferenceDefinition& reference, const spec::LaunchPlan& plan, const gpu::Module& module,
                                 const std::vector<int>& own_bytes) {
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
  throw ReferenceError(fmt::format(
      "{}: failed preparing the reference '{}': its kernel \"{}\" takes {} arguments and is given {}, {} of which are attune's own; they "
      "differ from number {} on; correct its \"args\" or its code",
      reference.form.spec_path, reference.name, launch.kernel, compiled.size(), sizes.size(), own_bytes.size(), differs + 1));
}

void ReferenceLaunch::enqueue(Support& support, const std::vector<void*>& own, const Addresses& addresses, std::uint64_t work) {
  std::vector<void*> parameters = own;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (buffers_[i] >= 0) values_[i] = addresses[static_cast<std::size_t>(buffers_[i])];
    parameters.push_back(&values_[i]);
  }
  support.launch(function_, work, parameters.data());
}

CaseReference::CaseReference(spec::ReferenceProblem problem, const gpu::Module& module, Support& support, bool asked)
    : problem_(std::move(problem)), module_(&module), support_(&support), asked_(asked) {
  const auto& definition = problem_.definition();
  for (std::size_t data = 0; data < definition.data_sets.size(); ++data) {
    if (!uses(data)) continue;
    for (const spec::RoleSpec& input : definition.inputs) bind_fill(input, data, 0);
    if (planted_buffer(data)) static_cast<void>(problem_.planted_row(data));
    if (!definition.data_sets[data].alters.empty()) static_cast<void>(bind_alter(data));
  }
}

bool CaseReference::uses(std::size_t data) const {
  return (asked_ || !problem_.definition().data_sets[data].asked_only) && problem_.has(data);
}

void CaseReference::refuse(const spec::ReferenceKernel& kernel, const std::string& why) const {
  throw ReferenceError(fmt::format("{}: failed preparing the reference '{}': its kernel \"{}\" {}; mend its code",
                                   problem_.definition().form.spec_path, problem_.definition().name, kernel.launch.kernel, why));
}

ReferenceLaunch* CaseReference::bound(const Key& key, const spec::ReferenceKernel& kernel, const std::vector<int>& own_bytes) {
  auto found = launches_.find(key);
  if (found == launches_.end()) {
    std::optional<ReferenceLaunch> launch;
    if (const auto plan = problem_.arguments(kernel, std::get<1>(key), std::get<2>(key)))
      launch.emplace(problem_.definition(), *plan, *module_, own_bytes);
    found = launches_.emplace(key, std::move(launch)).first;
  }
  return found->second ? &*found->second : nullptr;
}

ReferenceLaunch* CaseReference::bind_fill(const spec::RoleSpec& input, std::size_t data, int group) {
  if (!input.fill || problem_.template_buffer(input.name) < 0) return nullptr;
  return bound({"fill " + input.name, data, group}, *input.fill, {static_cast<int>(sizeof(reference::Filling))});
}

ReferenceLaunch& CaseReference::bind_alter(std::size_t data) {
  return *bound({"alter", data, 0}, *problem_.definition().alter, {kAddressBytes});  // it has no condition
}

bool CaseReference::fill(std::size_t buffer, const Elements& target, std::size_t data, int group, std::uint64_t seed,
                         const std::string* what) {
  for (const spec::RoleSpec& input : problem_.definition().inputs) {
    if (!input.fill || problem_.template_buffer(input.name) != static_cast<int>(buffer)) continue;
    ReferenceLaunch* launch = bind_fill(input, data, group);
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
    if (input.guards.empty() || problem_.template_buffer(input.name) != static_cast<int>(buffer)) continue;
    GuardValues values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double lowest = spec::to_double(type, spec::lowest_finite_bits(type)),
                   highest = spec::to_double(type, spec::highest_finite_bits(type));
      const double number = std::clamp(problem_.number(input.guards[i]), lowest, highest);
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
      // Where a call changes its own input, the reference still reads that input and writes what is expected elsewhere.
      const bool is_output = buffers[i].output && from >= 0 && output.buffer == static_cast<std::size_t>(from);
      if (is_output) all[i] = reinterpret_cast<CUdeviceptr>(output.wanted.start);
    }
  }
  return all;
}

AnswerMemory CaseReference::answer_memory(std::size_t data) const {
  const auto& definition = problem_.definition();
  const spec::LaunchPlan plan = problem_.expectation(data);
  AnswerMemory memory;
  for (const spec::RoleSpec& role : definition.outputs) {
    const std::size_t own = problem_.form_buffer(role.name);
    if (problem_.template_buffers()[own] < 0) continue;
    memory.kept += expected_bytes(role, plan.buffers[own]);
    if (role.values) memory.scratch += Support::marks_bytes(plan.buffers[own].count);
  }
  for (const auto& buffer : plan.buffers) {
    if (!buffer.workspace || is_base(buffer.name)) continue;
    const bool kept = std::find(definition.kept.begin(), definition.kept.end(), buffer.name) != definition.kept.end();
    (kept ? memory.kept : memory.scratch) += static_cast<std::size_t>(buffer.bytes);
  }
  return memory;
}

void CaseReference::allocate(Expectation& expectation, std::size_t data, const spec::LaunchPlan& plan) {
  const auto& definition = problem_.definition();
  for (const spec::RoleSpec& role : definition.outputs) {
    const std::size_t own = problem_.form_buffer(role.name);
    const int from = problem_.template_buffers()[own];
    if (from < 0) continue;
    expectation.memory.emplace_back(expected_bytes(role, plan.buffers[own]));
    WantedOutput output{.buffer = static_cast<std::size_t>(from), .count = plan.buffers[own].count};
    output.wanted.start = reinterpret_cast<const void*>(expectation.memory.back().address());
    output.wanted.intervals = role.values ? 0 : 1;
    if (!role.values)
      support_->set_bytes(expectation.memory.back().address(), expectation.memory.back().bytes(),
                          static_cast<int>(reference::kUnsaid & 0xFF));
    for (const auto& [name, count] : role.shape) output.shape.emplace_back(name, problem_.integer(count, data));
    expectation.outputs.push_back(std::move(output));
  }
  for (const std::string& name : definition.kept) {
    expectation.memory.emplace_back(static_cast<std::size_t>(plan.buffers[problem_.form_buffer(name)].bytes));
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
  const std::vector<SaidValues> values = said_values(plan, all);
  const Call call(plan, *module_);
  const auto compute = [&](Pass pass) {
    for (const SaidValues& output : values) support_->make_unsaid(output.values, pass);
    call.enqueue(all, support_->stream().get());
    return unsaid(expectation, values, pass);  // waits: the scratch goes
  };
  auto found = compute(Pass::First);
  // A value of few bits may well be what its memory was before, which only another pass tells from one that was left.
  if (found && !values.empty()) found = compute(Pass::Again);
  if (found) {
    throw ReferenceError(
        fmt::format("{}: failed preparing the reference '{}': it does not say what is expected of {} elements, the first of "
                    "which is {}; mend its code, or the launches of \"expect\"",
                    problem_.definition().form.spec_path, problem_.definition().name, found->count(), found->first()));
  }
  return expectation;
}

std::vector<CaseReference::SaidValues> CaseReference::said_values(const spec::LaunchPlan& plan, const Addresses& all) const {
  std::vector<SaidValues> values;
  for (const spec::RoleSpec& role : problem_.definition().outputs) {
    const std::size_t own = problem_.form_buffer(role.name);
    if (!role.values || problem_.template_buffers()[own] < 0) continue;
    const auto& buffer = plan.buffers[own];
    values.push_back({{all[own], buffer.count, buffer.type}, gpu::Buffer(Support::marks_bytes(buffer.count))});
  }
  return values;
}

std::optional<Finding> CaseReference::unsaid(const Expectation& expectation, const std::vector<SaidValues>& values, Pass pass) const {
  support_->begin_checks();
  for (const WantedOutput& output : expectation.outputs)
    if (output.wanted.intervals != 0) support_->check_said(reinterpret_cast<CUdeviceptr>(output.wanted.start), output.count);
  for (const SaidValues& output : values) support_->check_values_said(output.values, output.marks.address(), pass);
  return support_->findings();
}

std::optional<Expectation> CaseReference::alteration(std::size_t data, const Addresses& addresses, const Elements& input,
                                                     const Expectation& base) {
  const spec::ReferenceKernel& kernel = *problem_.definition().alter;
  Expectation expectation;
  expectation.memory.emplace_back(sizeof(reference::Alteration));
  expectation.alteration = expectation.memory.back().address();
  support_->set_bytes(expectation.alteration, sizeof(reference::Alteration), 0);
  CUdeviceptr address = expectation.alteration;
  bind_alter(data).enqueue(*support_, {&address}, reference_addresses(addresses, &base), 1);
  reference::Alteration altered{};
  support_->download(&altered, expectation.alteration, sizeof altered);
  if (altered.count == 0) return std::nullopt;
  if (altered.count > reference::kMostAltered)
    refuse(kernel, fmt::format("alters {} elements, and an Alteration holds {}", altered.count, reference::kMostAltered));
  for (std::uint64_t i = 0; i < altered.count; ++i) {
    if (altered.position[i] >= static_cast<std::uint64_t>(input.count))
      refuse(kernel, fmt::format("alters element {} of {}", altered.position[i], input.count));
  }
  return expectation;
}

std::size_t CaseReference::altered_buffer() const {
  return static_cast<std::size_t>(problem_.template_buffer(problem_.definition().altered));
}

std::optional<std::size_t> CaseReference::planted_buffer(std::size_t data) {
  const auto& plant = problem_.definition().plant;
  if (!plant || !plant->data_sets.contains(problem_.definition().data_sets[data].name)) return std::nullopt;
  if (problem_.template_buffer(plant->into) < 0) return std::nullopt;
  if (bound({"plant", data, 0}, plant->kernel, {kAddressBytes, kAddressBytes}) == nullptr) return std::nullopt;
  return static_cast<std::size_t>(problem_.template_buffer(plant->into));
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
  support_->download(planted.plants.data(), address, bytes);
  const std::vector<reference::Plant> given = planted.plants;
  bound({"plant", data, 0}, definition.plant->kernel, {kAddressBytes, kAddressBytes})
      ->enqueue(*support_, {&address, &count}, reference_addresses(addresses, &expectation), count);
  support_->download(planted.plants.data(), address, bytes);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const reference::Plant& plant = planted.plants[i];
    if (plant.position != given[i].position || plant.before != given[i].before)
      refuse(definition.plant->kernel, fmt::format("changes where the plant at {} stands, or what it replaces", given[i].position));
    if (plant.bits != plant.before) check_changes(plant, expectation);
  }
  return planted;
}

void CaseReference::check_changes(const reference::Plant& plant, const Expectation& expectation) const {
  const spec::ReferenceKernel& kernel = problem_.definition().plant->kernel;
  if (plant.changes > reference::kMostChanges)
    refuse(kernel, fmt::format("changes {} expectations, and a Plant holds {}", plant.changes, reference::kMostChanges));
  const std::size_t outputs = std::min(expectation.outputs.size(), Support::kMostOutputs);
  for (std::uint64_t i = 0; i < plant.changes; ++i) {
    if (plant.output[i] >= outputs)
      refuse(kernel, fmt::format("changes what is expected of output {}, and {} count from 0", plant.output[i], outputs));
    const std::int64_t count = expectation.outputs[plant.output[i]].count;
    if (plant.element[i] >= static_cast<std::uint64_t>(count))
      refuse(kernel, fmt::format("changes what is expected of element {} of {}", plant.element[i], count));
  }
  // Exchanging it back would leave another.
  if (plant.changes == 2 && plant.output[0] == plant.output[1] && plant.element[0] == plant.element[1])
    refuse(kernel, fmt::format("changes what is expected of element {} twice", plant.element[0]));
}

}  // namespace attune::verify
