#include "tuner/session/live_backend.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/compile/occupancy.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {
namespace {

using std::chrono::milliseconds;

constexpr int kVisits = 3;             // at least; more while the interval of a promising configuration is wide
constexpr int kMostVisits = 6;
constexpr int kSamplesPerVisit = 4;
constexpr std::uint64_t kSpacing = 12;  // visits of others between two visits of one configuration
constexpr double kIntervalGoal = 0.005;
constexpr double kPromising = 1.10;

compile::CompilePool::Options pool_options(const LiveBackend::Options& options) {
  compile::CompilePool::Options pool;
  pool.worker = options.worker;
  pool.workers = options.compile_workers;
  pool.deadline = options.compile_deadline;
  pool.cache = options.cache;
  return pool;
}

}  // namespace

LiveBackend::LiveBackend(const Options& options, std::unique_ptr<measure::GpuExecutor> gpu)
    : compilers_(pool_options(options)), gpu_(std::move(gpu)) {
  const auto support = compilers_.compile_now(
      {measure::GpuExecutor::support_source(), "attune_support.cu", gpu_->device().architecture, {}});
  if (support.status != compile::CompileStatus::Ok) {
    throw CompileError("failed compiling attune's own device kernels for " + gpu_->device().architecture, support.log);
  }
  gpu_->set_support(support.cubin);
}

double LiveBackend::read_ceiling_bytes_per_s() {
  if (read_ceiling_ < 0) read_ceiling_ = gpu_->read_ceiling_bytes_per_s();
  return read_ceiling_;
}

compile::CompileRequest LiveBackend::request_for(const spec::Configuration& configuration) const {
  return {spec::make_source(*kernel_, problem_, configuration, gpu_->device()), kernel_->name + ".cu", gpu_->device().architecture,
          kernel_->options};
}

std::shared_ptr<const compile::CompileResult> LiveBackend::compile_now(const spec::Configuration& configuration) {
  return std::make_shared<const compile::CompileResult>(compilers_.compile_now(request_for(configuration)));
}

void LiveBackend::prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  abandon();
  kernel_ = &kernel;
  problem_ = problem;
  best_us_ = 0;
  std::string reference_cubin;
  if (kernel.reference.kind == spec::ReferenceSpec::Kind::Kernel) {
    const auto compiled = compile_now(spec::default_configuration(kernel));
    if (compiled->status != compile::CompileStatus::Ok) {
      throw CompileError(fmt::format("failed compiling the reference of template \"{}\" with its default configuration", kernel.name),
                         compiled->log);
    }
    reference_cubin = compiled->cubin;
  }
  gpu_->prepare(kernel, problem, reference_cubin);
}

void LiveBackend::submit(const spec::Configuration& configuration) {
  auto entry = std::make_shared<Entry>();
  entry->configuration = configuration;
  entry->measurement.configuration = spec::to_text(*kernel_, configuration);
  entries_.emplace(entry.get(), entry);
  compiling_.emplace(compilers_.submit(request_for(configuration)), entry);
}

std::vector<measure::Measurement> LiveBackend::collect(milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    take_compiled();
    take_visit();
    feed_gpu();
    const auto now = std::chrono::steady_clock::now();
    if (!finished_.empty() || entries_.empty() || now >= end) return std::exchange(finished_, {});
    wait(std::min(std::chrono::duration_cast<milliseconds>(end - now) + milliseconds(1), milliseconds(100)));
  }
}

void LiveBackend::wait(milliseconds timeout) const {
  std::vector<pollfd> descriptors;
  for (const int fd : compilers_.descriptors()) descriptors.push_back({fd, POLLIN, 0});
  if (gpu_->busy()) descriptors.push_back({gpu_->descriptor(), POLLIN, 0});
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(timeout.count()));  // EINTR: the caller looks again
}

void LiveBackend::take_compiled() {
  for (auto& completed : compilers_.collect(milliseconds(0))) {
    const auto found = compiling_.find(completed.ticket);
    if (found == compiling_.end()) continue;  // abandoned meanwhile
    const EntryPtr entry = found->second;
    compiling_.erase(found);
    entry->compiled = std::make_shared<const compile::CompileResult>(std::move(completed.result));
    entry->measurement.resources.compile_ms = entry->compiled->compile_ms;
    if (entry->compiled->status != compile::CompileStatus::Ok) {
      const bool timed_out = entry->compiled->status == compile::CompileStatus::TimedOut;
      entry->measurement.outcome = measure::Outcome::CompileFailed;
      entry->measurement.detail = (timed_out ? "compiling passed its deadline: " : "") + entry->compiled->log;
      settle(entry);
      continue;
    }
    try {
      fill_resources(*entry);
      ready_.push_back(entry);
    } catch (const spec::LimitError& error) {
      entry->measurement.outcome = measure::Outcome::ExceedsLimits;
      entry->measurement.detail = error.what();
      settle(entry);
    }
  }
}

void LiveBackend::fill_resources(Entry& entry) const {
  const auto plan = spec::resolve(*kernel_, problem_, entry.configuration, gpu_->device());
  const compile::KernelResources* heaviest = nullptr;
  const spec::ResolvedLaunch* launch = nullptr;
  for (const auto& step : plan.steps) {
    const auto* candidate = std::get_if<spec::ResolvedLaunch>(&step);
    if (candidate == nullptr) continue;
    for (const auto& kernel : entry.compiled->kernels) {
      if (kernel.kernel == candidate->kernel && (heaviest == nullptr || kernel.registers > heaviest->registers)) {
        heaviest = &kernel;
        launch = candidate;
      }
    }
  }
  if (heaviest == nullptr) return;
  const int threads = static_cast<int>(launch->block[0] * launch->block[1] * launch->block[2]);
  auto& resources = entry.measurement.resources;
  resources.registers = heaviest->registers;
  resources.shared_bytes = heaviest->static_shared_bytes + static_cast<int>(launch->shared_bytes);
  resources.stack_bytes = heaviest->stack_bytes;
  resources.spill_bytes = heaviest->spill_store_bytes + heaviest->spill_load_bytes;
  resources.occupancy = compile::occupancy(*heaviest, threads, launch->shared_bytes, gpu_->device()).fraction;
}

void LiveBackend::feed_gpu() {
  if (gpu_->busy() || visiting_) return;
  const bool again_is_due = !again_.empty() && again_.front()->due <= visits_made_;
  if (!again_.empty() && (again_is_due || ready_.empty())) {
    EntryPtr entry = again_.front();
    again_.pop_front();
    start_visit(std::move(entry));
  } else if (!ready_.empty()) {
    EntryPtr entry = ready_.front();
    ready_.pop_front();
    start_visit(std::move(entry));
  }
}

void LiveBackend::start_visit(EntryPtr entry) {
  visiting_ = std::move(entry);
  measure::VisitRequest request;
  request.configuration = visiting_->measurement.configuration;
  request.cubin_key = visiting_->compiled->key;
  request.cubin = visiting_->compiled->cubin;
  request.verify = visiting_->visits.empty();
  request.best_us = visiting_->visits.empty() ? best_us_ : 0;
  request.max_samples = kSamplesPerVisit;
  on_hand_over(request.configuration);
  gpu_->submit(request);
}

void LiveBackend::take_visit() {
  if (!visiting_) return;
  auto reply = gpu_->collect(milliseconds(0));
  if (!reply) return;
  const EntryPtr entry = std::exchange(visiting_, nullptr);
  ++visits_made_;
  auto& measurement = entry->measurement;
  if (entry->visits.empty()) measurement.verified = reply->verified;
  if (reply->sm_clock_mhz > 0) measurement.sm_clock_mhz = reply->sm_clock_mhz;
  if (!reply->throttle.empty()) measurement.throttle = reply->throttle;
  measurement.outcome = reply->outcome;
  measurement.detail = reply->detail;
  if (reply->outcome != measure::Outcome::Ok) {
    settle(entry);
    return;
  }
  entry->calls_per_sample = reply->calls_per_sample;
  entry->visits.push_back(std::move(reply->samples_us));
  measurement.timing = measure::summarise(entry->visits, entry->calls_per_sample);
  measurement.stage = reply->screened_out ? measure::Stage::Screened : measure::Stage::Measured;
  if (best_us_ <= 0 || measurement.timing.median_us < best_us_) best_us_ = measurement.timing.median_us;
  if (reply->screened_out || enough_visits(*entry)) {
    settle(entry);
  } else {
    entry->due = visits_made_ + kSpacing;
    again_.push_back(entry);
  }
}

bool LiveBackend::enough_visits(const Entry& entry) const {
  const auto& timing = entry.measurement.timing;
  if (timing.visits < kVisits) return false;
  const bool narrow = (timing.high_us - timing.low_us) / 2 <= kIntervalGoal * timing.median_us;
  return narrow || timing.visits >= kMostVisits || timing.median_us > kPromising * best_us_;
}

void LiveBackend::settle(const EntryPtr& entry) {
  entries_.erase(entry.get());
  finished_.push_back(std::move(entry->measurement));
}

void LiveBackend::abandon() {
  compiling_.clear();
  ready_.clear();
  again_.clear();
  finished_.clear();
  entries_.clear();
  while (visiting_) {  // the worker answers or is replaced at its deadline; its answer is not used
    if (gpu_->collect(milliseconds(100))) visiting_ = nullptr;
  }
}

std::optional<RunOffSamples> LiveBackend::run_off(const std::vector<spec::Configuration>& finalists, int rounds, std::uint64_t seed) {
  measure::RunOffRequest request;
  request.rounds = rounds;
  request.seed = seed;
  RunOffSamples samples;
  for (const auto& finalist : finalists) {
    const std::string text = spec::to_text(*kernel_, finalist);
    const auto compiled = compile_now(finalist);
    if (compiled->status != compile::CompileStatus::Ok) {
      samples.failed.push_back({text, measure::Outcome::CompileFailed, compiled->log});
      continue;
    }
    measure::VisitRequest visit;
    visit.configuration = text;
    visit.cubin_key = compiled->key;
    visit.cubin = compiled->cubin;
    visit.verify = true;  // a finalist of an earlier run is unknown to this worker; verifying again costs little
    visit.max_samples = 1;
    on_hand_over(text);
    gpu_->submit(visit);
    std::optional<measure::VisitReply> reply;
    while (!reply) reply = gpu_->collect(milliseconds(100));
    visit.verify = false;
    if (reply->outcome == measure::Outcome::Ok) request.configurations.push_back(std::move(visit));
    else samples.failed.push_back({text, reply->outcome, reply->detail});
  }
  auto reply = run_off_together(request);
  if (reply.outcome != measure::Outcome::Ok) {
    drop_failing(request, samples);
    reply = run_off_together(request);
  }
  if (reply.outcome != measure::Outcome::Ok) throw Error("failed running off the finalists: " + reply.detail);
  for (const auto& visit : request.configurations) samples.configurations.push_back(visit.configuration);
  samples.rounds_us = std::move(reply.rounds_us);
  return samples;
}

measure::RunOffReply LiveBackend::run_off_together(const measure::RunOffRequest& request) {
  return request.configurations.empty() ? measure::RunOffReply{} : gpu_->run_off(request);
}

/// A joint run-off that failed does not say whose fault it was: each finalist runs off alone, and those that fail go.
void LiveBackend::drop_failing(measure::RunOffRequest& request, RunOffSamples& samples) {
  std::vector<measure::VisitRequest> working;
  for (auto& visit : request.configurations) {
    on_hand_over(visit.configuration);
    const auto alone = gpu_->run_off({{visit}, request.rounds, request.seed});
    if (alone.outcome == measure::Outcome::Ok) working.push_back(std::move(visit));
    else samples.failed.push_back({visit.configuration, alone.outcome, alone.detail});
  }
  request.configurations = std::move(working);
}

std::optional<CompiledCode> LiveBackend::code(const spec::Configuration& configuration) {
  const auto request = request_for(configuration);
  const auto compiled = compilers_.compile_now(request);
  if (compiled.status != compile::CompileStatus::Ok) return std::nullopt;
  return CompiledCode{compiled.key, compiled.cubin, base::content_key(request.source + "\n" + request.architecture)};
}

}  // namespace attune::session
