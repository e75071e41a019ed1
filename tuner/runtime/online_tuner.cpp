#include "tuner/runtime/online_tuner.hpp"

#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

namespace attune::runtime {
namespace {

/// A thread of ours must not be the one that a signal of the program's interrupts: it inherits a full mask.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// What a condition variable can wait for without its clock overflowing.
std::chrono::duration<double> waitable(double seconds) { return std::chrono::duration<double>(std::min(seconds, 86400.0)); }

}  // namespace

OnlineTuner::~OnlineTuner() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void OnlineTuner::start_thread() {
  if (thread_.joinable()) return;
  const AllSignalsBlocked blocked;
  thread_ = std::thread([this] { work(); });
}

void OnlineTuner::enqueue(TuningJob job) {
  const std::lock_guard lock(mutex_);
  if (!entries_.try_emplace(job.key).second) return;
  queue_.push_back(std::move(job));
  start_thread();
  changed_.notify_all();
}

void OnlineTuner::tune_now(TuningJob job) {
  const std::string key = job.key;
  enqueue(std::move(job));
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    const State state = entries_.at(key).state;
    return stop_ || state == State::Done || state == State::Failed;
  });
}

std::string OnlineTuner::status(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.state == State::Done) return "";
  if (found->second.state == State::Queued) return "queued";
  return found->second.state == State::Running ? "running" : "failed: " + found->second.why;
}

bool OnlineTuner::wait_idle(double timeout_s) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, waitable(timeout_s), [&] {
    return std::none_of(entries_.begin(), entries_.end(),
                        [](const auto& entry) { return entry.second.state == State::Queued || entry.second.state == State::Running; });
  });
}

OnlineTuner::Counters OnlineTuner::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::vector<std::string> OnlineTuner::notices() const {
  const std::lock_guard lock(mutex_);
  return notices_;
}

bool OnlineTuner::stopping() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

bool OnlineTuner::wait_for_job(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (stop_) return false;
    if (queue_.empty()) {
      changed_.wait(lock);
      continue;
    }
    if (queue_.front().priority == TuningPriority::Program) return true;
    const double wait_s = allowance_.wait_s(hooks_.elapsed_s());
    if (wait_s <= 0) return true;
    changed_.wait_for(lock, waitable(wait_s));
  }
}

void OnlineTuner::work() {
  std::unique_lock lock(mutex_);
  while (wait_for_job(lock)) {
    const TuningJob job = std::move(queue_.front());
    queue_.pop_front();
    entries_.at(job.key).state = State::Running;
    lock.unlock();
    run(job);
    lock.lock();
  }
}

void OnlineTuner::run(const TuningJob& job) {
  const double begin_s = hooks_.elapsed_s();
  TuningOutcome outcome = attempt(job);
  {
    const std::lock_guard lock(mutex_);
    allowance_.spend(hooks_.elapsed_s() - begin_s);
  }
  close(job, outcome);
}

TuningOutcome OnlineTuner::attempt(const TuningJob& job) {
  TuningOutcome outcome;
  bool tuned = false;
  try {
    if (!hooks_.still_missing(job)) {
      outcome.kind = TuningOutcome::Kind::Tuned;
    } else {
      {
        const std::lock_guard lock(mutex_);
        ++counters_.started;
      }
      outcome = hooks_.tune(job, [this] { return stopping(); });
      tuned = outcome.kind == TuningOutcome::Kind::Tuned;
    }
    if (outcome.kind == TuningOutcome::Kind::Tuned) hooks_.adopt(job, outcome);
    const std::lock_guard lock(mutex_);
    if (tuned) ++counters_.finished;
  } catch (const std::exception& error) {
    outcome.kind = TuningOutcome::Kind::Failed;
    outcome.why = error.what();
  }
  return outcome;
}

void OnlineTuner::close(const TuningJob& job, const TuningOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_.at(job.key);
  entry.state = State::Done;
  for (const auto& notice : outcome.notices) notices_.push_back(fmt::format("tuning {}: {}", job.title, notice));
  if (outcome.kind == TuningOutcome::Kind::Failed) {
    ++counters_.failed;
    entry.state = State::Failed;
    entry.why = outcome.why;
    notices_.push_back(fmt::format("failed tuning {}: {}; this Runtime does not try it again", job.title, outcome.why));
  }
  changed_.notify_all();
}

}  // namespace attune::runtime
