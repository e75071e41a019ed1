// Plans that ranks agree on (Options::agree).
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/runtime/agreement_digest.hpp"
#include "tuner/runtime/state.hpp"

namespace attune {

namespace runtime {

/// What this rank would do if it were alone.
struct ChoiceAlone {
  std::optional<spec::DeviceInfo> device;
  std::optional<Choice> choice;
  std::exception_ptr failure;  ///< why there is none
  std::string why;
};

namespace {

double distance_of(const spec::Problem& problem, const std::string& donor_text) {
  if (donor_text.empty()) return kNoDistance;
  const auto donor = spec::problem_from_text(donor_text);
  const bool same_names =
      std::all_of(problem.sizes.begin(), problem.sizes.end(), [&](const auto& size) { return donor.sizes.contains(size.first); });
  return same_names ? size_distance(problem, donor) : kNoDistance;
}

RankPlan to_rank_plan(const spec::KernelTemplate& kernel, const spec::Problem& problem, const ChoiceAlone& alone) {
  RankPlan plan{kernel.content_hash, alone.device, std::nullopt, alone.why};
  if (alone.choice) {
    const auto& decision = alone.choice->decision;
    plan.proposal = Proposal{decision.tier,         decision.configuration, decision.donor_problem,
                             decision.donor_device, decision.median_us,     distance_of(problem, decision.donor_problem),
                             decision.layer};
  }
  return plan;
}

/// Another rank's choice, on this rank's device. Its code is not stored here, but may have been compiled before.
Choice choice_of(const Settled& settled, const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::DeviceInfo& device) {
  Choice choice;
  choice.configuration = spec::configuration_from_text(kernel, settled.configuration);
  choice.plan = spec::resolve(kernel, problem, choice.configuration, device);
  choice.decision.configuration = settled.configuration;
  if (settled.proposal) {
    choice.decision.tier = settled.proposal->tier;
    choice.decision.donor_problem = base::escape_line(settled.proposal->donor_problem);
    choice.decision.donor_device = base::escape_line(settled.proposal->donor_device);
    choice.decision.median_us = settled.proposal->median_us;
    if (const auto& layer = settled.proposal->layer; !layer.empty()) {
      choice.decision.layer = fmt::format("{} ({})", base::escape_line(layer), rank_name(settled.rank.value()));
    }
  }
  return choice;
}

}  // namespace
}  // namespace runtime

runtime::RankOpening Runtime::State::opening() const { return runtime::opening_of(options_, library_, layers_.layers); }

void Runtime::State::agree_with_ranks(const runtime::RankOpening& opening) {
  agreement_ = std::make_unique<runtime::Agreement>(options_.agree, options_.on_miss);
  agreement_->open(opening);
}

runtime::ChoiceAlone Runtime::State::choose_alone(detail::KernelState& kernel, CUcontext context, const std::int64_t* sizes) {
  runtime::ChoiceAlone alone;
  try {
    const std::lock_guard lock(mutex_);
    const auto& state = context_state(context);
    alone.device = state.device;
    act_on_miss(kernel, state, sizes);
    alone.choice = choose(kernel, state.device, sizes);
  } catch (const std::exception& error) {  // the other ranks wait for what this one says, whatever it is
    alone.failure = std::current_exception();
    alone.why = error.what();
  }
  return alone;
}

const detail::PlanState& Runtime::State::agreed_plan(detail::KernelState& kernel, CUcontext context, const std::int64_t* sizes) {
  const runtime::Agreement::Turn turn(*agreement_);
  if (const auto* plan = kernel.find(context, sizes)) return *plan;  // another thread was faster
  auto alone = choose_alone(kernel, context, sizes);
  const auto problem = kernel.problem(sizes);
  const auto settled = agreement_->settle(kernel.kernel, problem, runtime::to_rank_plan(kernel.kernel, problem, alone));  // without mutex_
  if (!settled || !alone.device) std::rethrow_exception(alone.failure);
  const bool as_alone = alone.choice && alone.choice->decision.configuration == settled->configuration;
  auto choice = as_alone ? std::move(*alone.choice) : runtime::choice_of(*settled, kernel.kernel, problem, *alone.device);
  choice.decision.agreement = settled->agreement;
  const std::lock_guard lock(mutex_);
  return keep(kernel, build(kernel, context_state(context), sizes, std::move(choice)));
}

}  // namespace attune
