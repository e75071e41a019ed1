#include "attune/runtime.hpp"

#include <fmt/core.h>

#include "tuner/runtime/launching.hpp"

namespace attune {
namespace {

using detail::PlanState;

void launch_with_scratch(const PlanState& plan, CUcontext context, const Argument* arguments, CUstream stream) {
  auto& state = *plan.kernel->runtime;
  const auto& layout = plan.workspace;
  runtime::refuse_scratch_under_capture(plan, stream);
  const auto claim = state.scratch.claim(state.driver(), context, stream, layout.zero_bytes, layout.total_bytes - layout.zero_bytes);
  runtime::enqueue_with_scratch(plan, arguments, claim, stream);
}

void check_workspace(const PlanState& plan, const void* workspace) {
  const auto address = reinterpret_cast<std::uint64_t>(workspace);
  if (plan.workspace.total_bytes == 0 || (address != 0 && address % runtime::kWorkspaceAlignment == 0)) return;
  throw UsageError(fmt::format("failed launching {}: it needs a workspace of {} bytes, aligned to {}; {} was given",
                               plan.kernel->title(plan.sizes.data()), plan.workspace.total_bytes, runtime::kWorkspaceAlignment,
                               address == 0 ? std::string("none") : fmt::format("{:#x}", address)));
}

}  // namespace

std::size_t Plan::workspace_bytes() const { return state_->workspace.total_bytes; }

const Decision& Plan::decision() const { return state_->decision; }

void Plan::launch(const Argument* arguments, std::size_t count, void* workspace, Stream stream) const {
  state_->signature.check(arguments, count);
  check_workspace(*state_, workspace);
  if (state_->kernel->runtime->current_context() != state_->context) {
    throw UsageError(fmt::format("failed launching {}: the plan was made in another CUDA context than the current one",
                                 state_->kernel->title(state_->sizes.data())));
  }
  const auto base = reinterpret_cast<CUdeviceptr>(workspace);
  runtime::enqueue(*state_, arguments, base, base + state_->workspace.zero_bytes, stream);
}

void Kernel::launch(const std::int64_t* sizes, std::size_t size_count, const Argument* arguments, std::size_t count, Stream stream) const {
  state_->check_size_count(size_count);
  const CUcontext context = state_->runtime->current_context();
  const PlanState& plan = runtime::plan_for_launch(*state_, context, sizes, stream);
  plan.signature.check(arguments, count);
  if (plan.workspace.total_bytes == 0) {
    runtime::enqueue(plan, arguments, 0, 0, stream);
  } else {
    launch_with_scratch(plan, context, arguments, stream);
  }
}

void Kernel::prepare() const {
  if (state_->runtime->agreement() != nullptr) {
    throw UsageError(
        fmt::format("failed preparing kernel '{}': with Options::agree all ranks have to prepare the same sizes, and which were tuned may "
                    "differ between their databases; call prepare with sizes",
                    state_->kernel.name));
  }
  const CUcontext context = state_->runtime->current_context();
  for (const auto& sizes : state_->runtime->tuned_sizes(*state_, context)) {
    static_cast<void>(state_->runtime->plan(*state_, context, sizes.data()));
  }
}

void Kernel::prepare(std::initializer_list<std::int64_t> sizes) const { static_cast<void>(plan(sizes)); }

Plan Kernel::plan(std::initializer_list<std::int64_t> sizes) const {
  state_->check_size_count(sizes.size());
  return Plan(&state_->runtime->plan(*state_, state_->runtime->current_context(), sizes.begin()));
}

Decision Kernel::explain(std::initializer_list<std::int64_t> sizes) const {
  state_->check_size_count(sizes.size());
  auto& runtime = *state_->runtime;
  const CUcontext context = runtime.current_context();
  if (const auto* plan = state_->find(context, sizes.begin())) return runtime.explain(*plan);
  return runtime.explain(*state_, runtime.device_of(context), sizes.begin());
}

Decision Kernel::explain_on(const std::string& device, std::initializer_list<std::int64_t> sizes) const {
  state_->check_size_count(sizes.size());
  auto& runtime = *state_->runtime;
  return runtime.explain(*state_, runtime.device_named(device), sizes.begin());
}

Runtime::Runtime(Options options) {
  runtime::RankOpening opening;
  try {
    state_ = std::make_unique<State>(options);
    if (options.agree) opening = state_->opening();
  } catch (const std::exception& error) {
    if (options.agree) runtime::tell_ranks_of_failure(options.agree, error.what());
    throw;
  }
  if (options.agree) state_->agree_with_ranks(opening);
}

Runtime::~Runtime() = default;

Kernel Runtime::kernel(const std::string& name, const std::map<std::string, std::string>& choices) {
  return Kernel(state_->kernel(name, choices));
}

RuntimeCounters Runtime::counters() const {
  const auto tuned = state_->tuner() ? state_->tuner()->counters() : runtime::OnlineTuner::Counters{};
  const auto* const agreement = state_->agreement();
  return {state_->launches.total(),
          state_->plans_built.load(),
          state_->compiles.load(),
          state_->database_reads.load(),
          tuned.started,
          tuned.finished,
          tuned.failed,
          agreement == nullptr ? 0 : agreement->exchanges(),
          agreement == nullptr ? 0 : agreement->diverged()};
}

bool Runtime::wait_for_tuning(double timeout_s) const { return state_->tuner() == nullptr || state_->tuner()->wait_idle(timeout_s); }

std::vector<std::string> Runtime::notices() const { return state_->notices(); }

}  // namespace attune
