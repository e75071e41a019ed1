#include "tuner/runtime/state.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "attune/error.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/json.hpp"

namespace attune {
namespace {

namespace fs = std::filesystem;

bool tunes_on_miss(const Options& options) { return options.on_miss == OnMiss::TuneInBackground || options.on_miss == OnMiss::TuneNow; }

const Options& checked(const Options& options) {
  static constexpr std::array<const char*, 4> kPolicies{"cold/graph", "cold/stream", "hot/graph", "hot/stream"};
  if (std::find(kPolicies.begin(), kPolicies.end(), options.policy) == kPolicies.end()) {
    throw UsageError(fmt::format("failed creating a Runtime: unknown policy '{}'; known: {}", options.policy, fmt::join(kPolicies, ", ")));
  }
  if (!(options.reach >= 1) || !std::isfinite(options.reach)) {
    throw UsageError(fmt::format("failed creating a Runtime: Options::reach is {}; it is a factor, at least 1", options.reach));
  }
  if (!(options.tuning_budget_s > 0) || !std::isfinite(options.tuning_budget_s)) {
    throw UsageError(
        fmt::format("failed creating a Runtime: Options::tuning_budget_s is {}; give seconds above 0", options.tuning_budget_s));
  }
  if (!(options.tuning_share >= 0 && options.tuning_share <= 1)) {
    throw UsageError(
        fmt::format("failed creating a Runtime: Options::tuning_share is {}; give a share between 0 and 1", options.tuning_share));
  }
  if (options.agree && tunes_on_miss(options)) {
    throw UsageError(
        "failed creating a Runtime: Options::agree and an Options::on_miss that tunes exclude each other: every rank would tune for itself, at "
        "its own time, and their plans would diverge; tune before the job (`attune tune`, `attune fleet`), and give all ranks the database");
  }
  for (const auto& folder : options.templates) {
    if (std::error_code error; !fs::is_directory(folder, error)) {
      throw UsageError(fmt::format("failed creating a Runtime: Options::templates names {}, which is no folder", folder.string()));
    }
  }
  return options;
}

/// The file that tuning writes into is the same one wherever the program changes its folder to.
Options settled(Options options) {
  if (tunes_on_miss(options) && !options.databases.empty()) {
    options.databases.front() = fs::absolute(options.databases.front());
  }
  return options;
}

/// The file that tuning is to create may be missing; all else is as it was named.
runtime::OpenedLayers open_with_results(const Options& options) {
  auto named = options.databases;
  std::error_code ignored;
  const bool to_be_created = tunes_on_miss(options) && !named.empty() && !fs::exists(named.front(), ignored);
  if (!to_be_created) return runtime::open_layers(named);
  named.erase(named.begin());
  return named.empty() ? runtime::OpenedLayers{} : runtime::open_layers(named);
}

fs::path cubin_folder() {
  const fs::path cache = base::cache_folder();
  return cache.empty() ? cache : cache / "cubins";
}

std::uint64_t plan_hash(CUcontext context, const std::int64_t* sizes, std::size_t count) {
  std::uint64_t hash = runtime::mix(0, reinterpret_cast<std::uint64_t>(context));
  for (std::size_t i = 0; i < count; ++i) hash = runtime::mix(hash, static_cast<std::uint64_t>(sizes[i]));
  return hash;
}

/// A row's sizes in the template's order; nothing for a row that names others, which the lookup refuses and explains.
std::optional<std::vector<std::int64_t>> sizes_in_order(const std::string& sizes_json, const std::vector<std::string>& names) {
  const auto recorded = base::try_parse_json(sizes_json);
  std::vector<std::int64_t> sizes;
  for (const auto& name : names) {
    if (!recorded.is_object() || !recorded.contains(name) || !recorded[name].is_number_integer()) return std::nullopt;
    sizes.push_back(recorded[name].get<std::int64_t>());
  }
  return sizes;
}

/// The driver's ordinal of a device handle.
int ordinal_of(const gpu::Driver& driver, CUdevice device) {
  const int count = gpu::device_count();
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice handle = 0;
    gpu::check(driver.cuDeviceGet(&handle, ordinal), "cuDeviceGet", fmt::format("finding device {}", ordinal));
    if (handle == device) return ordinal;
  }
  throw EnvironmentError("failed identifying the current context's device: the driver does not list it");
}

}  // namespace

namespace detail {

PlanState* KernelState::find(CUcontext context, const std::int64_t* sizes) const {
  const std::size_t count = size_names.size();
  return plans.find(plan_hash(context, sizes, count), [&](const PlanState& plan) {
    return plan.context == context && std::equal(plan.sizes.begin(), plan.sizes.end(), sizes);
  });
}

void KernelState::replace(const PlanState& stale, PlanState* fresh) {
  plans.replace(plan_hash(stale.context, stale.sizes.data(), stale.sizes.size()), &stale, fresh);
  replacements.fetch_add(1, std::memory_order_release);
}

void KernelState::check_size_count(std::size_t count) const {
  if (count == size_names.size()) return;
  throw UsageError(fmt::format("failed looking up kernel '{}': it has {} size(s) ({}), {} were given", kernel.name, size_names.size(),
                               fmt::join(size_names, ", "), count));
}

spec::Problem KernelState::problem(const std::int64_t* sizes) const {
  spec::Problem problem{choices, {}};
  for (std::size_t i = 0; i < size_names.size(); ++i) problem.sizes[size_names[i]] = sizes[i];
  return problem;
}

std::string KernelState::title(const std::int64_t* sizes) const {
  return fmt::format("kernel '{}' at {}", kernel.name, spec::to_text(problem(sizes)));
}

}  // namespace detail

bool Runtime::State::tunes() const { return tunes_on_miss(options_); }

Runtime::State::State(const Options& options)
    : options_(settled(checked(options))), library_(options_.templates), layers_(open_with_results(options_)), code_(cubin_folder()) {
  if (tunes()) make_tuner();
}

/// Code and scratch are released in the context they belong to, once its work is done. A context that is already gone
/// (the driver shuts down before static objects) took them along.
Runtime::State::~State() {
  tuner_.reset();  // first: its thread builds plans
  const gpu::Driver* const driver = driver_.load(std::memory_order_acquire);
  if (driver == nullptr) return;
  CUcontext before = nullptr;
  const bool known = driver->cuCtxGetCurrent(&before) == CUDA_SUCCESS;
  for (const auto& context : contexts_) {
    if (driver->cuCtxSetCurrent(context->context) == CUDA_SUCCESS) driver->cuCtxSynchronize();
    std::erase_if(plans_, [&](const auto& plan) { return plan->context == context->context; });
    scratch.release(context->context);
    context->modules.clear();
  }
  if (known) driver->cuCtxSetCurrent(before);
}

detail::KernelState* Runtime::State::kernel(const std::string& name, const std::map<std::string, std::string>& choices) {
  const std::lock_guard lock(mutex_);
  auto& entry = kernels_[{name, choices}];
  if (entry) return entry.get();
  auto created = std::make_unique<detail::KernelState>();
  created->runtime = this;
  created->asked_name = name;
  created->kernel = library_.find(name);
  created->size_names = created->kernel.size_names();
  spec::Problem smallest = spec::canonical(created->kernel, {choices, {}});  // sizes come with every launch; the choices are checked now
  for (const auto& axis : created->kernel.problem) {
    if (axis.kind == spec::AxisKind::Size) smallest.sizes[axis.name] = axis.min;
  }
  spec::validate(created->kernel, smallest);
  created->choices = smallest.choices;
  entry = std::move(created);
  return entry.get();
}

const gpu::Driver& Runtime::State::driver() {
  const gpu::Driver* driver = driver_.load(std::memory_order_acquire);
  if (driver == nullptr) {
    driver = &gpu::Driver::get();
    driver_.store(driver, std::memory_order_release);
  }
  return *driver;
}

CUcontext Runtime::State::current_context() {
  CUcontext context = nullptr;
  runtime::check(driver().cuCtxGetCurrent(&context), "cuCtxGetCurrent", "finding the current context");
  if (context == nullptr) {
    throw UsageError(
        "failed dispatching: no CUDA context is current on this thread; call cudaSetDevice (CUDA 12 and later), "
        "allocate memory, or make a context current first");
  }
  return context;
}

const detail::PlanState& Runtime::State::plan(detail::KernelState& kernel, CUcontext context, const std::int64_t* sizes) {
  if (const auto* plan = kernel.find(context, sizes)) return *plan;
  if (agreement_) return agreed_plan(kernel, context, sizes);
  if (options_.on_miss == OnMiss::TuneNow) tune_first(kernel, context, sizes);
  const std::lock_guard lock(mutex_);
  if (const auto* plan = kernel.find(context, sizes)) return *plan;  // another thread was faster
  auto& state = context_state(context);
  act_on_miss(kernel, state, sizes);
  return keep(kernel, build(kernel, state, sizes, choose(kernel, state.device, sizes)));
}

const detail::PlanState& Runtime::State::keep(detail::KernelState& kernel, std::unique_ptr<detail::PlanState> built) {
  plans_.push_back(std::move(built));
  auto* const plan = plans_.back().get();
  kernel.plans.insert(plan_hash(plan->context, plan->sizes.data(), plan->sizes.size()), plan);
  plans_built.fetch_add(1, std::memory_order_relaxed);
  return *plan;
}

std::unique_ptr<detail::PlanState> Runtime::State::build(detail::KernelState& kernel, runtime::ContextState& context,
                                                         const std::int64_t* sizes, runtime::Choice choice) {
  auto plan = std::make_unique<detail::PlanState>();
  plan->kernel = &kernel;
  plan->context = context.context;
  plan->sizes.assign(sizes, sizes + kernel.size_names.size());
  plan->decision = choice.decision;
  load(*plan, choice, context, sizes);
  plan->bind(std::move(choice.plan), kernel.title(sizes), kernel.kernel.spec_path, *plan->module);
  return plan;
}

runtime::Choice Runtime::State::choose(const detail::KernelState& kernel, const spec::DeviceInfo& device, const std::int64_t* sizes) {
  database_reads.fetch_add(1, std::memory_order_relaxed);
  return runtime::choose(kernel.kernel, kernel.problem(sizes), device, layers_.layers, {options_.policy, options_.unverified},
                         kernel.evidence);
}

void Runtime::State::load(detail::PlanState& plan, const runtime::Choice& choice, runtime::ContextState& context,
                          const std::int64_t* sizes) {
  const auto& kernel = *plan.kernel;
  const auto request = runtime::make_code_request(kernel.kernel, kernel.problem(sizes), choice.configuration, context.device);
  auto found = context.modules.find(request.cache_key);
  if (found == context.modules.end()) {
    runtime::CodeLoader loader(code_, layers_.layers, compiles, refused_code_);
    found = context.modules.emplace(request.cache_key, loader.load(request, choice)).first;
    plan.decision.compiled = found->second.compiled;
  }
  plan.decision.cubin_source = found->second.origin;
  plan.module = found->second.module;
}

runtime::ContextState& Runtime::State::context_state(CUcontext context) {
  for (const auto& known : contexts_) {
    if (known->context == context) return *known;
  }
  CUdevice device = 0;
  gpu::check(driver().cuCtxGetDevice(&device), "cuCtxGetDevice", "finding the current context's device");
  auto created = std::make_unique<runtime::ContextState>();
  created->context = context;
  created->ordinal = ordinal_of(driver(), device);
  created->device = gpu::read_device(created->ordinal);
  contexts_.push_back(std::move(created));
  return *contexts_.back();
}

std::vector<std::vector<std::int64_t>> Runtime::State::tuned_sizes(const detail::KernelState& kernel, CUcontext context) {
  const std::lock_guard lock(mutex_);
  const std::string device_key = context_state(context).device.hard_key();
  const std::string family = spec::family_text(spec::Problem{kernel.choices, {}});
  const auto objective = runtime::objective_of(kernel.kernel, {options_.policy, options_.unverified});
  std::set<std::vector<std::int64_t>> found;
  database_reads.fetch_add(1, std::memory_order_relaxed);
  for (const auto& layer : layers_.layers) {
    for (const auto& row : runtime::candidates_of(layer, kernel.kernel.content_hash, family, options_.policy)) {
      if (row.device_key != device_key || row.objective != objective) continue;
      if (auto sizes = sizes_in_order(row.sizes_json, kernel.size_names)) found.insert(std::move(*sizes));
    }
  }
  return {found.begin(), found.end()};
}

Decision Runtime::State::explain(const detail::KernelState& kernel, const spec::DeviceInfo& device, const std::int64_t* sizes) {
  const std::lock_guard lock(mutex_);
  auto choice = choose(kernel, device, sizes);
  const auto request = runtime::make_code_request(kernel.kernel, kernel.problem(sizes), choice.configuration, device);
  const auto code = code_.find(request, choice, layers_.layers);
  choice.decision.cubin_source = code ? code->origin : "compiled";
  if (tuner_) choice.decision.tuning = tuner_->status(tuning_key(kernel, device, sizes));
  return choice.decision;
}

Decision Runtime::State::explain(const detail::PlanState& plan) {
  Decision decision = plan.decision;
  if (tuner_) {
    const std::lock_guard lock(mutex_);
    decision.tuning = tuner_->status(tuning_key(*plan.kernel, context_state(plan.context).device, plan.sizes.data()));
  }
  return decision;
}

spec::DeviceInfo Runtime::State::device_of(CUcontext context) {
  const std::lock_guard lock(mutex_);
  return context_state(context).device;
}

spec::DeviceInfo Runtime::State::device_named(const std::string& text) {
  const std::lock_guard lock(mutex_);
  return runtime::device_by_name(layers_.layers, text);
}

std::vector<std::string> Runtime::State::notices() {
  const std::lock_guard lock(mutex_);
  auto notices = layers_.notices;
  for (const auto& layer : layers_.layers) {
    if (const auto& failure = layer.database.read_failure(); !failure.empty()) {
      notices.push_back(failure + "; dispatching without it");
    } else if (const auto bad = layer.database.bad_rows(); bad > 0) {
      notices.push_back(fmt::format("{}: {} damaged row(s) were skipped; `attune db check` names them", layer.path.string(), bad));
    }
  }
  if (!code_.warning().empty()) notices.push_back(code_.warning());
  notices.insert(notices.end(), refused_code_.begin(), refused_code_.end());
  notices.insert(notices.end(), tuning_notices_.begin(), tuning_notices_.end());
  if (agreement_) {
    for (auto& notice : agreement_->notices()) notices.push_back(std::move(notice));
  }
  if (tuner_) {
    for (auto& notice : tuner_->notices()) notices.push_back(std::move(notice));
  }
  return notices;
}

}  // namespace attune
