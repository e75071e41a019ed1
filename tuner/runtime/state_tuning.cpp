// What a miss leads to (Options::on_miss).
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/runtime/miss.hpp"
#include "tuner/runtime/state.hpp"

namespace attune {
namespace {

namespace fs = std::filesystem;

/// Where results go: the first database that the program names, else the user's.
fs::path results_path(const Options& options) {
  if (!options.databases.empty()) return options.databases.front();
  try {
    return fs::absolute(db::default_path());
  } catch (const DatabaseError&) {  // neither ATTUNE_DB nor a home: opening the layers has said so
    return {};
  }
}

/// What the tuning thread does to contexts of the program is allowed while other threads capture, and leaves their
/// captures valid: a new module is no part of them. In the default mode loading one would end a global capture.
void allow_during_captures(const gpu::Driver& driver) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  runtime::check(driver.cuThreadExchangeStreamCaptureMode(&mode), "cuThreadExchangeStreamCaptureMode",
                 "preparing to load code while other threads capture");
}

}  // namespace

void Runtime::State::make_tuner() {
  worker_ = runtime::find_tuning_worker(options_.worker);
  results_ = results_path(options_);
  const auto start = std::chrono::steady_clock::now();
  runtime::OnlineTuner::Hooks hooks;
  hooks.still_missing = [this](const runtime::TuningJob& job) { return still_missing(job); };
  hooks.tune = [this](const runtime::TuningJob& job, const std::function<bool()>& stop) { return tune(job, stop); };
  hooks.adopt = [this](const runtime::TuningJob& job, runtime::TuningOutcome& outcome) { adopt(job, outcome); };
  hooks.elapsed_s = [start] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  tuner_ = std::make_unique<runtime::OnlineTuner>(std::move(hooks), options_.tuning_share);
}

bool Runtime::State::is_miss(const detail::KernelState& kernel, const spec::DeviceInfo& device, const std::int64_t* sizes) const {
  const auto problem = kernel.problem(sizes);
  spec::validate(kernel.kernel, problem);
  if (!spec::has_reference(kernel.kernel) && !options_.unverified)
    throw UsageError(
        fmt::format("failed dispatching '{}' with Options::on_miss: the template has no reference, so that nothing of it is verified, and "
                    "results are dispatched only with Options::unverified; set that, or leave on_miss",
                    kernel.kernel.name));
  return runtime::is_miss(kernel.kernel, problem, device, layers_.layers, {options_.policy, options_.unverified}, options_.reach);
}

std::string Runtime::State::tuning_key(const detail::KernelState& kernel, const spec::DeviceInfo& device, const std::int64_t* sizes) const {
  base::ContentHasher hasher;
  return hasher.add(kernel.kernel.content_hash).add(spec::to_text(kernel.problem(sizes))).add(device.hard_key()).add(options_.policy).key();
}

runtime::TuningJob Runtime::State::job_of(detail::KernelState& kernel, const runtime::ContextState& context,
                                          const std::int64_t* sizes) const {
  runtime::TuningJob job;
  job.key = tuning_key(kernel, context.device, sizes);
  job.title = kernel.title(sizes);
  job.kernel = &kernel;
  job.device = context.device;
  job.priority = options_.on_miss == OnMiss::TuneNow ? runtime::TuningPriority::Program : runtime::TuningPriority::Background;
  job.request.kernel = kernel.kernel;
  job.request.problem = kernel.problem(sizes);
  job.request.policy = options_.policy;
  job.request.device_ordinal = context.ordinal;
  job.request.device_uuid = context.device.uuid;
  job.request.database = results_;
  job.request.budget_s = options_.tuning_budget_s;
  return job;
}

void Runtime::State::act_on_miss(detail::KernelState& kernel, const runtime::ContextState& context, const std::int64_t* sizes) {
  if (options_.on_miss != OnMiss::Error && options_.on_miss != OnMiss::TuneInBackground) return;
  if (!is_miss(kernel, context.device, sizes)) return;
  if (options_.on_miss == OnMiss::TuneInBackground) return tuner_->enqueue(job_of(kernel, context, sizes));
  std::string instead;
  try {
    instead = name(choose(kernel, context.device, sizes).decision.tier);
  } catch (const UsageError& error) {
    instead = error.what();
  }
  throw NotTunedError(
      fmt::format("failed dispatching {} on {}: nothing usable was tuned on this device within a factor {} of these sizes, and "
                  "Options::on_miss is Error (otherwise: {}); run `{}`",
                  kernel.title(sizes), context.device.name, options_.reach, instead,
                  runtime::tune_command(kernel.asked_name, kernel.problem(sizes), options_)));
}

void Runtime::State::tune_first(detail::KernelState& kernel, CUcontext context, const std::int64_t* sizes) {
  runtime::TuningJob job;
  {
    const std::lock_guard lock(mutex_);
    const auto& state = context_state(context);
    if (!is_miss(kernel, state.device, sizes)) return;
    job = job_of(kernel, state, sizes);
  }
  tuner_->tune_now(std::move(job));
}

bool Runtime::State::still_missing(const runtime::TuningJob& job) {
  const std::lock_guard lock(mutex_);
  static_cast<void>(reopen_result_layer());  // one that cannot be read has no results; the Runtime has said so
  return runtime::is_miss(job.kernel->kernel, job.request.problem, job.device, layers_.layers, {options_.policy, options_.unverified},
                          options_.reach);
}

runtime::TuningOutcome Runtime::State::tune(const runtime::TuningJob& job, const std::function<bool()>& stop) const {
  return runtime::tune_in_worker(worker_, job.request, job.priority, stop);
}

void Runtime::State::adopt(const runtime::TuningJob& job, runtime::TuningOutcome& outcome) {
  {
    const std::lock_guard lock(mutex_);
    if (outcome.in_memory) {
      keep_in_memory(*outcome.in_memory);
      if (!std::exchange(told_of_memory_, true)) {
        tuning_notices_.push_back(
            fmt::format("what is tuned on a miss is kept in memory until this program ends: {}", outcome.unpersisted_why));
      }
    } else if (const auto unread = reopen_result_layer(); !unread.empty()) {
      tuning_notices_.push_back(fmt::format("{}; dispatching without what was tuned there", unread));
    }
  }
  choose_again(*job.kernel);
}

/// Opened anew even when it is open: the file may have been made, or set aside and replaced, since.
std::string Runtime::State::reopen_result_layer() {
  std::error_code ignored;
  if (results_.empty() || !fs::exists(results_, ignored)) return "";
  auto& layers = layers_.layers;
  const auto known = std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.path == results_; });
  try {
    auto opened = runtime::open_layer(results_, !options_.databases.empty());
    if (known != layers.end()) {
      *known = std::move(opened);
    } else {
      const bool memory_first = !layers.empty() && layers.front().path == db::Database::kInMemory;
      layers.insert(layers.begin() + (memory_first ? 1 : 0), std::move(opened));
    }
  } catch (const DatabaseError& error) {
    return error.what();
  }
  return "";
}

void Runtime::State::keep_in_memory(const db::TunedProblem& tuned) {
  auto& layers = layers_.layers;
  if (layers.empty() || layers.front().path != db::Database::kInMemory) {
    layers.insert(layers.begin(), runtime::Layer{db::Database::open_in_memory(), db::Database::kInMemory, true});
  }
  db::put(layers.front().database, tuned);
}

void Runtime::State::choose_again(detail::KernelState& kernel) {
  std::vector<const detail::PlanState*> inexact;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& plan : plans_) {
      if (plan->kernel == &kernel && plan->decision.tier != Tier::ExactSize) inexact.push_back(plan.get());
    }
  }
  if (inexact.empty()) return;
  allow_during_captures(driver());
  for (const auto* plan : inexact) {
    runtime::check(driver().cuCtxSetCurrent(plan->context), "cuCtxSetCurrent", "entering the context of a plan");
    try {
      const std::lock_guard lock(mutex_);  // for one plan at a time: launches of new sizes wait for it
      replace_if_better(kernel, *plan);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex_);
      tuning_notices_.push_back(fmt::format("{}; {} goes on as before", error.what(), kernel.title(plan->sizes.data())));
    }
  }
  driver().cuCtxSetCurrent(nullptr);
}

void Runtime::State::replace_if_better(detail::KernelState& kernel, const detail::PlanState& stale) {
  const auto* const sizes = stale.sizes.data();
  if (kernel.find(stale.context, sizes) != &stale) return;  // replaced before
  auto& context = context_state(stale.context);
  auto choice = choose(kernel, context.device, sizes);
  const auto& decision = choice.decision;
  const bool same = decision.tier == stale.decision.tier && decision.configuration == stale.decision.configuration &&
                    decision.donor_problem == stale.decision.donor_problem;
  if (same) return;
  plans_.push_back(build(kernel, context, sizes, std::move(choice)));
  kernel.replace(stale, plans_.back().get());
  plans_built.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace attune
