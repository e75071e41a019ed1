// The data of the cases; problem_answers.cpp has their right answers.
#include "tuner/verify/problem_data.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tuner/verify/patterns.hpp"

namespace attune::verify {
namespace {

constexpr std::int64_t kPoisonedByOne = 64;  // bytes that the thread which plants may poison as well

std::vector<spec::DataSetSpec> two_sets(spec::DataValues random) {
  return {{"integers", spec::DataValues::SmallIntegers, "", false, {}, ""}, {"random", random, "", false, {}, ""}};
}

/// The data sets of a template. Integers stay small where there is no reference but a plain kernel at most: it may use them as anything.
/// What a reference leaves to a kernel is exact in any order only for small integers.
const std::vector<spec::DataSetSpec>& sets_of(const spec::KernelTemplate& kernel, bool by_kernel) {
  static const auto plain = two_sets(spec::DataValues::Uniform), small = two_sets(spec::DataValues::SmallIntegers);
  if (kernel.reference.kind != spec::ReferenceSpec::Kind::Defined) return plain;
  return by_kernel ? small : kernel.reference.definition->data_sets;
}

}  // namespace

ProblemData::ProblemData(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& cubin, Support& support,
                         const std::string& setup_cubin)
    : kernel_(&kernel),
      support_(&support),
      prepared_(kernel, setup_cubin, support),
      by_kernel_(spec::asks_reference_kernel(kernel, problem)),
      data_sets_(&sets_of(kernel, by_kernel_)) {
  if (!cubin.empty()) module_.emplace(cubin);
  const spec::Configuration standard = spec::default_configuration(kernel);
  for (auto& plan : plan_cases(kernel, problem, support.device())) {
    const bool asked = cases_.empty();
    try {
      Case prepared;
      prepared.buffers = data_buffers(kernel, plan.problem, support.device());
      prepared.layout = BufferLayout(prepared.buffers, Part::Data, plan.misalign_elements);
      prepared.setup = prepared_.shared_setup(plan.problem);
      prepared.plan = std::move(plan);
      prepared.stated.emplace(kernel, prepared.buffers);
      prepared.expectations.resize(data_sets_->size());
      cases_.push_back(std::move(prepared));
    } catch (const SpecError&) {
      if (asked) throw;  // counts that do not resolve at the sizes we chose ourselves are no fault of the problem
    }
  }
  for (std::size_t i = 0; i < cases_.size();) {
    try {
      bind_reference(cases_[i], standard);
      ++i;
    } catch (const spec::ReferenceRefusal&) {
      if (i == 0) throw;
      if (kernel.reference.parameters.empty())
        cases_.erase(cases_.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;  // the reference may take it for another configuration
    }
  }
}

bool ProblemData::has_answers() const {
  const auto& expectation = asked().expectations[kRandom];
  return expectation && !expectation->outputs.empty();
}

void ProblemData::bind_reference(Case& which, const spec::Configuration& configuration) {
  if (kernel_->reference.kind != spec::ReferenceSpec::Kind::Defined || by_kernel_) return;
  if (!module_) throw Error(fmt::format("failed preparing the reference of template \"{}\": its code was not compiled", kernel_->name));
  spec::ReferenceProblem problem(*kernel_, which.plan.problem, configuration, which.buffers, support_->device());
  which.reference = std::make_unique<CaseReference>(std::move(problem), *module_, *support_, &which == &cases_.front());
  for (std::size_t i = 0; i < which.buffers.size(); ++i) {
    if (const auto guards = which.reference->guards(i, which.buffers[i].type)) which.layout.guard_with(i, *guards);
  }
}

int ProblemData::groups() const { return asked().reference ? asked().reference->problem().groups() : 1; }

std::size_t ProblemData::fixed_bytes() const {
  std::size_t bytes = most_copy_bytes(), scratch = 0;
  for (const Case& which : cases_) {
    if (&which != &cases_.front()) bytes += which.layout.bytes();
    bytes += which.stated->bytes() + (which.setup ? which.setup->scratch_bytes() : 0);
    try {
      const AnswerMemory memory = answer_memory(which);
      bytes += memory.kept;
      scratch = std::max(scratch, memory.scratch);
    } catch (const spec::LimitError&) {
      if (&which == &cases_.front()) throw;  // else it has no answers
    }
  }
  return bytes + scratch;
}

std::size_t ProblemData::most_copy_bytes() const {
  std::size_t most = 0;
  for (const Case& which : cases_) most = std::max(most, prepared_.copy_bytes(which.buffers));
  return most;
}

void ProblemData::allocate(int windows) {
  prepared_.allocate_copies(most_copy_bytes());
  for (Case& which : cases_) {
    which.stated->load(*support_);
    if (which.setup) {
      which.setup_scratch = gpu::Buffer(which.setup->scratch_bytes());
      which.setup->set_scratch(which.setup_scratch.address());
    }
    which.memory = gpu::Buffer(which.layout.bytes() * static_cast<std::size_t>(&which == &cases_.front() ? windows : 1));
  }
}

bool ProblemData::uses(const Case& which, std::size_t data) const {
  if (!which.reference && all_inputs_stated(*kernel_)) return data == kRandom;  // the other set is the same
  return !which.reference || which.reference->uses(data);
}

bool ProblemData::has_in_out() const {
  return std::any_of(kernel_->buffers.begin(), kernel_->buffers.end(),
                     [](const auto& buffer) { return buffer.may_change || (buffer.input && buffer.output); });
}

bool ProblemData::restores_by_planting(const Case& which, reference::Outputs& outputs) const {
  if (has_in_out()) return false;
  const Addresses where = addresses(which);
  std::size_t next = 0;
  for (std::size_t i = 0; i < which.buffers.size(); ++i) {
    const auto& buffer = which.buffers[i];
    if (!buffer.output) continue;
    if (next == std::size(outputs.poisoned) || buffer.bytes > kPoisonedByOne) {
      std::fill(std::begin(outputs.bytes), std::end(outputs.bytes), 0U);
      return false;
    }
    outputs.poisoned[next] = reinterpret_cast<unsigned char*>(where[i]);
    outputs.bytes[next] = static_cast<unsigned>(buffer.bytes);
    outputs.poison[next++] = static_cast<unsigned char>(poison_of(buffer.type));
  }
  return true;
}

Addresses ProblemData::addresses(const Case& which, int window) const {
  Addresses addresses(which.buffers.size(), 0);
  place(which.layout, which.memory.address() + static_cast<std::size_t>(window) * which.layout.bytes(), addresses);
  return addresses;
}

Elements ProblemData::elements(const Case& which, std::size_t buffer, const Addresses& addresses) {
  return {addresses[buffer], which.buffers[buffer].count, which.buffers[buffer].type};
}

spec::DataValues ProblemData::values(const spec::ResolvedBuffer& buffer, std::size_t data) const {
  switch (buffer.fill) {
    case spec::Fill::Zeros:
      return spec::DataValues::Zeros;
    case spec::Fill::Ones:
      return spec::DataValues::Ones;
    case spec::Fill::Integers:
      return spec::DataValues::SmallIntegers;
    default:
      break;
  }
  return (*data_sets_)[data].values;
}

void ProblemData::fill_input(Case& which, std::size_t buffer, const Elements& target, std::size_t data, int window, int group,
                             const std::string* what) {
  const std::uint64_t seed = 1 + buffer + 1000 * static_cast<std::uint64_t>(data) + 1000000 * static_cast<std::uint64_t>(window);
  if (const CUdeviceptr from = which.stated->input(buffer); from != 0) {
    const auto bytes = static_cast<std::size_t>(which.buffers[buffer].bytes);
    if (what == nullptr) return support_->copy(target.start, from, bytes);
    reference::Wanted same{};
    same.start = reinterpret_cast<const void*>(from);
    static_cast<void>(support_->compare(target, same, 0, *what));
    return;
  }
  const bool own = which.buffers[buffer].fill == spec::Fill::Uniform && which.reference != nullptr;
  if (own && which.reference->fill(buffer, target, data, group, seed, what)) return;
  if (what != nullptr)
    support_->check_fill(*what, target, values(which.buffers[buffer], data), seed);
  else
    support_->fill(target, values(which.buffers[buffer], data), seed);
}

void ProblemData::fill(Case& which, std::size_t data, Guard variant, int window, int group) {
  const Addresses where = addresses(which, window);
  which.layout.guard(*support_, which.memory.address() + static_cast<std::size_t>(window) * which.layout.bytes(), variant);
  for (std::size_t i = 0; i < which.buffers.size(); ++i) {
    const auto& buffer = which.buffers[i];
    const bool is_plain = !buffer.workspace && !buffer.output && !kernel_->buffers[i].prepared;
    if (is_plain) fill_input(which, i, elements(which, i, where), data, window, group, nullptr);
  }
  restore(which, data, window, group);
}

void ProblemData::restore(Case& which, std::size_t data, int window, int group) {
  const Addresses where = addresses(which, window);
  for (std::size_t i = 0; i < which.buffers.size(); ++i) {
    const auto& buffer = which.buffers[i];
    if (buffer.workspace || (!buffer.output && !kernel_->buffers[i].may_change)) continue;
    if (buffer.input)
      fill_input(which, i, elements(which, i, where), data, window, group, nullptr);
    else
      support_->set_bytes(where[i], static_cast<std::size_t>(buffer.bytes), poison_of(buffer.type));
  }
}

void ProblemData::check_untouched(Case& which, std::size_t data, Guard variant) {
  which.layout.check_guards(*support_, which.memory.address(), variant);
  const Addresses where = addresses(which);
  for (std::size_t i = 0; i < which.buffers.size(); ++i) {
    const auto& buffer = which.buffers[i];
    const auto& declared = kernel_->buffers[i];
    if (buffer.workspace || buffer.output || declared.prepared || declared.may_change) continue;
    const std::string what = fmt::format("wrote to input \"{}\"", buffer.name);
    fill_input(which, i, elements(which, i, where), data, 0, 0, &what);
  }
  prepared_.check(which.buffers, where);
  if (which.setup) which.setup->check_guards(*support_);
}

void ProblemData::set_up(Case& which, const UntimedCall* own, int window) {
  const UntimedCall* const setup = which.setup ? &*which.setup : own;
  if (setup != nullptr) prepared_.write(which.buffers, addresses(which, window), *setup);
}

void ProblemData::keep_prepared(Case& which) { prepared_.keep(which.buffers, addresses(which)); }

}  // namespace attune::verify
