// The right answers of the cases, by a reference, a plain kernel or files.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tuner/verify/call.hpp"
#include "tuner/verify/problem_data.hpp"

namespace attune::verify {

bool ProblemData::is_compared(std::size_t buffer) const { return kernel_->buffers[buffer].output && kernel_->buffers[buffer].compared; }

AnswerMemory ProblemData::answer_memory(const Case& which) const {
  AnswerMemory all;
  for (std::size_t data = 0; data < data_sets_->size(); ++data) {
    if (!uses(which, data)) continue;
    AnswerMemory one;
    if (which.reference) {
      one = which.reference->answer_memory(data);
    } else if (by_kernel_) {
      for (std::size_t i = 0; i < which.buffers.size(); ++i)
        one.kept += is_compared(i) ? static_cast<std::size_t>(which.buffers[i].bytes) : 0;
      one.scratch = BufferLayout(plan_by_kernel(which).buffers, Part::Scratch).bytes();
    }
    all = {all.kept + one.kept, std::max(all.scratch, one.scratch)};
  }
  return all;
}

spec::LaunchPlan ProblemData::plan_by_kernel(const Case& which) const {
  return spec::resolve_reference(*kernel_, which.plan.problem, spec::default_configuration(*kernel_), support_->device());
}

std::string ProblemData::answers_text(const spec::Configuration& configuration) const {
  if (kernel_->reference.parameters.empty() || by_kernel_) return "";
  return on_behalf_of_reference(
      [&] { return spec::ReferenceProblem(*kernel_, asked().plan.problem, configuration, asked().buffers, support_->device()).text(); });
}

void ProblemData::expect_all(const spec::Configuration& configuration) {
  answers_of_.reset();
  timed_of_.reset();
  const std::string text = answers_text(configuration);
  on_behalf_of_reference([&] { expect_case(asked(), configuration); });
  for (std::size_t i = 1; i < cases_.size(); ++i) {
    on_behalf_of_reference([&] {
      try {
        expect_case(cases_[i], configuration);
      } catch (const spec::ReferenceRefusal&) {  // of this size
      } catch (const SpecError&) {               // it makes no launch there, or says nothing of such sizes
      }
    });
  }
  fill(asked(), kRandom, Guard::LowFirst);
  set_up(asked(), nullptr);
  answers_of_ = timed_of_ = text;
}

void ProblemData::expect_case(Case& which, const spec::Configuration& configuration) {
  which.answered = false;
  which.plants.clear();
  for (auto& expectation : which.expectations) expectation.reset();  // their memory first
  if (!kernel_->reference.parameters.empty()) bind_reference(which, configuration);
  for (const bool altering : {false, true}) {  // an altered set needs what it alters
    for (std::size_t data = 0; data < data_sets_->size(); ++data)
      if ((*data_sets_)[data].alters.empty() != altering && uses(which, data)) expect(which, data);
  }
  if (which.setup) try_setup(which);
  which.answered = true;
}

void ProblemData::try_setup(Case& which) {
  if (std::exchange(which.setup_is_known, true)) return;
  const auto refuse = [&](const std::string& why, bool context_lost) {
    const std::string place = context_lost ? "" : kernel_->spec_path + ": ";  // else whoever ends the worker says it
    throw ReferenceError(fmt::format("{}failed running \"setup\" with the default configuration ({}, {}): {}", place, which.plan.label,
                                     spec::to_text(which.plan.problem), why),
                         context_lost);
  };
  fill(which, kRandom, Guard::LowFirst);
  try {
    set_up(which, nullptr);
    keep_prepared(which);
    support_->begin_checks();
    check_untouched(which, kRandom, Guard::LowFirst);
    if (const auto found = support_->findings())
      refuse(fmt::format("it {} at {} places, first at {}", found->what, found->count(), found->first()), false);
  } catch (const CudaError& error) {
    refuse(error.what(), gpu::is_sticky(static_cast<CUresult>(error.result())));
  }
}

void ProblemData::adapt(const spec::Configuration& configuration) {
  if (answers_of_ != answers_text(configuration)) expect_all(configuration);
}

std::string ProblemData::adapt_timed(const spec::Configuration& configuration) {
  std::string text = answers_text(configuration);
  if (timed_of_ == text) return text;
  answers_of_.reset();
  timed_of_.reset();
  on_behalf_of_reference([&] {
    bind_reference(asked(), configuration);
    asked().plants.clear();
    asked().expectations[kRandom].reset();
    expect(asked(), kRandom);
  });
  fill(asked(), kRandom, Guard::LowFirst);
  set_up(asked(), nullptr);
  timed_of_ = text;
  return text;
}

void ProblemData::expect(Case& which, std::size_t data) {
  if (kernel_->reference.kind == spec::ReferenceSpec::Kind::None) return;
  const Addresses where = addresses(which);
  const std::string& altered = (*data_sets_)[data].alters;
  const std::size_t base = altered.empty() ? data : kernel_->reference.definition->data_set(altered);
  fill(which, base, Guard::HighFirst);
  if (kernel_->reference.kind == spec::ReferenceSpec::Kind::Files) {
    which.expectations[data] = expect_by_files(which);
  } else if (!which.reference) {
    which.expectations[data] = expect_by_kernel(which);
  } else if (altered.empty()) {
    which.expectations[data] = which.reference->expect(data, where, nullptr);
  } else {
    const Elements input = elements(which, which.reference->altered_buffer(), where);
    if (!which.expectations[base]) return;  // the problem does not have what is altered
    auto alteration = which.reference->alteration(data, where, input, *which.expectations[base]);
    if (!alteration) return;
    support_->alter(alteration->alteration, input, false);
    Expectation expectation = which.reference->expect(data, where, &*which.expectations[base]);
    support_->alter(alteration->alteration, input, true);
    expectation.alteration = alteration->alteration;
    expectation.memory.push_back(std::move(alteration->memory.front()));
    which.expectations[data] = std::move(expectation);
  }
}

Expectation ProblemData::expect_by_kernel(Case& which) {
  const spec::LaunchPlan plan = plan_by_kernel(which);
  const BufferLayout scratch_layout(plan.buffers, Part::Scratch);
  const gpu::Buffer scratch(scratch_layout.bytes());
  support_->set_bytes(scratch.address(), scratch.bytes(), 0);
  Addresses where = addresses(which);
  place(scratch_layout, scratch.address(), where);
  const Call call(plan, *module_);
  call.enqueue(where, support_->stream().get());
  Expectation expectation;
  for (std::size_t i = 0; i < which.buffers.size(); ++i) {
    const auto& buffer = which.buffers[i];
    if (!is_compared(i)) continue;
    expectation.memory.emplace_back(static_cast<std::size_t>(buffer.bytes));
    const CUdeviceptr kept = expectation.memory.back().address();
    support_->copy(kept, where[i], static_cast<std::size_t>(buffer.bytes));
    expectation.outputs.push_back(wanted_values(*kernel_, which.plan.problem, *support_, i, {kept, buffer.count, buffer.type}));
  }
  support_->stream().synchronize();  // the scratch goes
  return expectation;
}

Expectation ProblemData::expect_by_files(const Case& which) const {
  Expectation expectation;
  for (const auto& [buffer, wanted] : which.stated->outputs()) {
    const auto& resolved = which.buffers[buffer];
    expectation.outputs.push_back(wanted_values(*kernel_, which.plan.problem, *support_, buffer, {wanted, resolved.count, resolved.type}));
  }
  return expectation;
}

}  // namespace attune::verify
