#include "tuner/session/source/live_backend.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/session/source/compile_while.hpp"
#include "tuner/session/source/kernel_resources.hpp"
#include "tuner/session/source/live_run_off.hpp"
#include "tuner/session/source/visit_rule.hpp"
#include "tuner/spec/launch_plan.hpp"
#include "tuner/spec/metrics.hpp"

namespace attune::session {
namespace {

using std::chrono::milliseconds;

constexpr VisitRule kVisits;
constexpr std::uint64_t kVisitsForDefault = 200;  // by then the default has been measured, or does not work
constexpr milliseconds kAbandonGrace{500};
constexpr std::chrono::seconds kSentinelPeriod{1};
constexpr double kSentinelShare = 0.02;     // of the time, at most: it may be a costly kernel
constexpr std::size_t kAheadPerWorker = 8;  // several configurations may share one cubin
constexpr std::size_t kMostUnsettled = 4096;

}  // namespace

compile::CompileRequest LiveBackend::request_for(const spec::Configuration& configuration) const {
  return {spec::make_source(*kernel_, problem_, configuration, gpu_->device()), kernel_->name + ".cu", gpu_->device().architecture,
          spec::compiler_options(*kernel_, problem_, configuration, gpu_->device())};
}

bool LiveBackend::wants_more() const {
  const std::size_t ahead = compiling_.size() - std::min(compiling_.size(), compilers_.aside()) + ready_.size();
  if (!another_fits()) return false;
  return ahead < kAheadPerWorker * static_cast<std::size_t>(compilers_.workers()) && entries_.size() < kMostUnsettled;
}

void LiveBackend::submit(const spec::Configuration& configuration) {
  auto entry = std::make_shared<Entry>();
  entry->configuration = configuration;
  entry->measurement.configuration = spec::to_text(*kernel_, configuration);
  entries_.emplace(entry.get(), entry);
  compiling_.emplace(compilers_.submit(request_for(configuration)), entry);
}

std::vector<measure::Measurement> LiveBackend::collect(milliseconds timeout) {
  const auto end = Clock::now() + timeout;
  for (;;) {
    take_compiled();
    take_visits();
    if (may_ask_gpu()) {
      if (!compiling_.empty()) (void)gpu_is_there([&] { gpu_->ensure_running(); });  // while they compile
      account();
      feed_gpu();
    }
    if (end_.is_past(kAbandonGrace) || (visiting_.empty() && nothing_ends_in_time())) end_here();
    const auto now = Clock::now();
    if (!finished_.empty() || entries_.empty() || now >= end) return std::exchange(finished_, {});
    wait(std::min(std::chrono::duration_cast<milliseconds>(end - now) + milliseconds(1), milliseconds(100)));
  }
}

/// The GPU worker waits for compiled work while it has nothing, nothing is ready, and something is being compiled.
void LiveBackend::account() {
  const auto now = Clock::now();
  if (waiting_since_) waiting_s_ += std::chrono::duration<double>(now - *waiting_since_).count();
  const bool waits = !gpu_->busy() && ready_.empty() && again_.empty() && !compiling_.empty();
  waiting_since_ = waits ? std::optional(now) : std::nullopt;
}

Utilisation LiveBackend::utilisation() const {
  Utilisation utilisation;
  utilisation.gpu_busy_s = gpu_busy_s_;
  utilisation.verifying_s = verifying_s_;
  utilisation.compile_busy_s = compilers_.busy_seconds() - compile_busy_before_s_;
  utilisation.compile_workers = compilers_.workers();
  utilisation.compilations = compilers_.compilations() - compilations_before_;
  utilisation.idle_waiting_compile_s = waiting_s_;
  utilisation.recovering_s = gpu_->recovering_s() - recovering_before_s_;
  return utilisation;
}

void LiveBackend::wait(milliseconds timeout) const {
  timeout = std::clamp(std::chrono::ceil<milliseconds>(compilers_.look_at() - Clock::now()), milliseconds(0), timeout);
  std::vector<pollfd> descriptors;
  for (const int fd : compilers_.descriptors()) descriptors.push_back({fd, POLLIN, 0});
  if (gpu_->busy()) descriptors.push_back({gpu_->descriptor(), POLLIN, 0});
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(timeout.count()));  // EINTR: the caller looks again
}

void LiveBackend::take_compiled() {
  std::string noted;  // tickets of one job come one after the other
  for (auto& completed : compilers_.collect(milliseconds(0))) {
    const auto found = compiling_.find(completed.ticket);
    if (found == compiling_.end()) continue;  // abandoned meanwhile
    const EntryPtr entry = found->second;
    compiling_.erase(found);
    entry->compiled = std::make_shared<const compile::CompileResult>(std::move(completed.result));
    entry->measurement.resources.compile_ms = entry->compiled->compile_ms;
    const auto& compiled = *entry->compiled;
    if (!compiled.from_cache && compiled.compile_ms > 0 && compiled.key != noted) note_compile_time(compiled.compile_ms / 1000);
    noted = compiled.key;
    if (entry->compiled->status != compile::CompileStatus::Ok) {
      note_failure(entry->measurement, compiled);
      settle(entry);
      continue;
    }
    try {
      const auto plan = spec::resolve(*kernel_, problem_, entry->configuration, gpu_->device());
      add_resources(entry->measurement.resources, plan, *entry->compiled, gpu_->device(), kernel_->spec_path);
      require_untimed_fits(*kernel_, problem_, entry->configuration, *entry->compiled, gpu_->device());
      ready_.push_back(entry);
    } catch (const Error& error) {
      if (!note_failure(entry->measurement, error)) throw;
      settle(entry);
    }
  }
}

void LiveBackend::note_compile_time(double seconds) {
  end_.compile.add(seconds);
  if (!patience_) return;
  patience_->add(seconds);
  compilers_.make_way_after(patience_->limit());
}

void LiveBackend::end_by(std::optional<Clock::time_point> when) {
  end_.when = when;
  if (when && !patience_) patience_.emplace(*when - Clock::now());
}

void LiveBackend::feed_gpu() {
  while (visiting_.size() < measure::GpuExecutor::kQueueLength) {
    const EntryPtr entry = next_entry();
    if (!entry || !start_visit(entry)) return;
  }
}

bool LiveBackend::sentinel_is_due() const {
  const bool in_hand = std::find(visiting_.begin(), visiting_.end(), sentinel_entry_) != visiting_.end();
  if (!sentinel_entry_ || in_hand) return false;
  const std::chrono::duration<double> rare(sentinel_entry_->visit_s / kSentinelShare);
  return Clock::now() - sentinel_at_ >= std::max<std::chrono::duration<double>>(kSentinelPeriod, rare);
}

LiveBackend::EntryPtr LiveBackend::next_entry() {
  double in_hand_s = 0;
  for (const auto& entry : visiting_) in_hand_s += entry->expected_visit_s(end_);  // some of it has passed already
  const auto in_time = [&](const std::deque<EntryPtr>& entries) {
    return !entries.empty() && end_.allows(in_hand_s + entries.front()->expected_visit_s(end_));
  };
  const bool again = in_time(again_), ready = in_time(ready_);
  if (sentinel_is_due() && (again || ready)) return sentinel_entry_;
  if (again && (again_.front()->due <= visits_made_ || !ready)) return again_.front();
  return ready ? ready_.front() : nullptr;
}

bool LiveBackend::nothing_ends_in_time() const {  // nor would it help to wait for what is being compiled
  return !end_.allows(end_.first_visit.value()) && (again_.empty() || !end_.allows(again_.front()->visit_s));
}

void LiveBackend::end_here() {
  compiling_.clear();
  compilers_.abandon();
  ready_.clear();
  if (!visiting_.empty()) gpu_->abandon(milliseconds(0));  // it takes far longer than was expected
  again_.insert(again_.end(), visiting_.begin(), visiting_.end());
  visiting_.clear();
  for (const EntryPtr& entry : std::exchange(again_, {})) {
    if (entry != sentinel_entry_ && !entry->visits.empty()) settle(entry);
  }
  entries_.clear();
}

/// False when the worker has no room for it now; then it stays where it was.
bool LiveBackend::start_visit(const EntryPtr& entry) {
  measure::VisitRequest request;
  request.configuration = entry->measurement.configuration;
  request.cubin_key = entry->compiled->key;
  request.cubin = entry->compiled->cubin;
  request.verify = entry->visits.empty();
  const double slowdown = best_us_ >= measure::kCostly_us ? sentinel_.slowdown() : 1;
  request.best_us = entry->visits.empty() && !kernel_->objective ? best_us_ * slowdown : 0;  // else a slower one may be the better
  request.power = measures_power_ && entry->visits.empty() && entry != sentinel_entry_;
  request.once = may_let_go_ && request.configuration != default_text_;
  request.max_samples = kVisits.samples;
  if (!gpu_->has_room(request)) return false;
  if (entry == sentinel_entry_)
    sentinel_at_ = Clock::now();
  else
    (!again_.empty() && again_.front() == entry ? again_ : ready_).pop_front();
  auto in_hand = gpu_->in_hand();
  in_hand.push_back(request.configuration);
  on_hand_over(in_hand);
  visiting_.push_back(entry);
  return gpu_is_there([&] { gpu_->submit(std::move(request)); });
}

template <class Ask>
bool LiveBackend::gpu_is_there(const Ask& ask) {
  try {
    ask();
    return true;
  } catch (const PreparingStopped&) {
    end_here();
    return false;
  }
}

void LiveBackend::take_visits() {
  while (!visiting_.empty() && gpu_->busy() &&
         may_ask_gpu()) {  // not busy: after an error of its own it is not, and the problem is given up
    std::optional<measure::VisitReply> reply;
    if (!gpu_is_there([&] { reply = gpu_->collect(milliseconds(0)); }) || !reply) return;
    take_visit(*std::move(reply));
  }
}

void LiveBackend::take_visit(measure::VisitReply reply) {
  // Replies come in the worker's order, which is ours but for a visit whose cubin had to be sent again.
  const auto found = std::find_if(visiting_.begin(), visiting_.end(),
                                  [&](const EntryPtr& e) { return e->measurement.configuration == reply.configuration; });
  if (found == visiting_.end()) throw Error("failed measuring: an answer for " + reply.configuration + ", which was not handed over");
  const EntryPtr entry = *found;
  visiting_.erase(found);
  ++visits_made_;
  gpu_busy_s_ += reply.worked_s;
  verifying_s_ += reply.verifying_s;
  const bool let_go = reply.screened_out && reply.samples_us.size() == 1;  // that tells little of what verifying takes
  if (entry->visits.empty() && !let_go) end_.first_visit.add(reply.worked_s);
  if (entry->visits.empty() && reply.verified && !reply.samples_us.empty())
    visit_calls_.add(reply.worked_s * 1e6 / measure::summarise({reply.samples_us}, 1).median_us);
  entry->visit_s = reply.worked_s;
  if (entry == sentinel_entry_) {
    if (reply.outcome == measure::Outcome::Ok) {
      note_sentinel(measure::summarise({std::move(reply.samples_us)}, 1).median_us);
    } else {  // another takes its place, with a series of its own
      sentinel_entry_.reset();
      sentinel_ = {};
    }
    return;
  }
  auto& measurement = entry->measurement;
  if (entry->visits.empty()) measurement.verified = reply.verified;
  if (reply.sm_clock_mhz > 0) measurement.sm_clock_mhz = reply.sm_clock_mhz;
  if (!reply.throttle.empty()) measurement.throttle = reply.throttle;
  if (reply.power.watts > 0) measurement.power = reply.power;
  measurement.outcome = reply.outcome;
  measurement.detail = reply.detail;
  if (reply.outcome != measure::Outcome::Ok) {
    measurement.verified = false;
    settle(entry);
    return;
  }
  entry->calls_per_sample = reply.calls_per_sample;
  entry->visits.push_back(std::move(reply.samples_us));
  measurement.timing = measure::summarise(entry->visits, entry->calls_per_sample);
  measurement.stage = reply.screened_out ? measure::Stage::Screened : measure::Stage::Measured;
  if (best_us_ <= 0 || measurement.timing.median_us < best_us_) best_us_ = measurement.timing.median_us;
  const double compared_us = kernel_->objective ? measurement.timing.median_us : best_us_;
  if (reply.screened_out || kVisits.is_enough(measurement.timing, compared_us)) return settle(entry);
  entry->due = visits_made_ + kVisits.spacing;
  again_.push_back(entry);
}

void LiveBackend::note_sentinel(double median_us) {
  sentinel_.points.push_back({std::chrono::duration<double>(Clock::now() - prepared_at_).count(), median_us});
}

void LiveBackend::settle(const EntryPtr& entry) {
  entries_.erase(entry.get());
  // The default when it works: it is nobody's idea of an outlier, and the same in every run.
  const bool is_default = entry->measurement.configuration == default_text_;
  if (!sentinel_entry_ && entry->measurement.stage == measure::Stage::Measured && (is_default || visits_made_ > kVisitsForDefault)) {
    sentinel_entry_ = std::make_shared<Entry>(*entry);
    sentinel_.configuration = entry->measurement.configuration;
    note_sentinel(entry->measurement.timing.median_us);
  }
  finished_.push_back(std::move(entry->measurement));
}

void LiveBackend::abandon() {
  compiling_.clear();
  ready_.clear();
  again_.clear();
  finished_.clear();
  entries_.clear();
  gpu_->abandon(kAbandonGrace);
  visiting_.clear();
}

void LiveBackend::drain() {  // the sentinel's last visit
  for (take_visits(); gpu_->busy(); take_visits()) wait(milliseconds(100));
}

std::optional<RunOffSamples> LiveBackend::run_off(const std::vector<spec::Configuration>& finalists, const Race::Options& options,
                                                  std::uint64_t seed) {
  compiles_until_ = options.until;
  drain();
  gpu_->ensure_running();
  std::vector<std::string> names;
  for (const auto& finalist : finalists) names.push_back(spec::to_text(*kernel_, finalist));
  const auto compile = [&](std::size_t finalist) { return compile_by(finalists[finalist], options.until, options.goes_on); };
  auto samples = LiveRunOff(*gpu_, compile, on_hand_over, {visit_calls_.value(), end_.first_visit.value()}).run(names, options, seed);
  if (!options.goes_on()) compiles_until_ = Clock::now();  // what has run off is compiled, and nothing else is now
  return samples;
}

std::shared_ptr<const compile::CompileResult> LiveBackend::compile_by(const spec::Configuration& configuration,
                                                                      std::optional<Clock::time_point> until,
                                                                      const std::function<bool()>& goes_on) {
  const auto left = [&] {
    if (!goes_on()) return milliseconds(0);
    return until ? std::chrono::ceil<milliseconds>(*until - Clock::now()) : milliseconds::max();
  };
  auto result = compile_while(compilers_, request_for(configuration), left);
  return result ? std::make_shared<const compile::CompileResult>(*std::move(result)) : nullptr;
}

std::optional<CompiledCode> LiveBackend::code(const spec::Configuration& configuration) {
  const auto request = request_for(configuration);
  const auto made = compile_by(configuration, compiles_until_, [] { return true; });
  if (!made) return std::nullopt;
  const auto& compiled = *made;
  if (compiled.status != compile::CompileStatus::Ok) return std::nullopt;
  return CompiledCode{compiled.key, compiled.cubin, compile::source_key(request)};
}

}  // namespace attune::session
