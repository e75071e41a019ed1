#include "tuner/session/fleet/run_progress.hpp"

#include <algorithm>

namespace attune::session {
namespace {

constexpr double kWindow_s = 5;       // long enough to be readable, short enough to show a stall
constexpr double kMuchWaiting = 0.3;  // of the GPUs' time, on compilers

}  // namespace

const char* RunProgress::name(Limit limit) {
  switch (limit) {
    case Limit::Unknown:
      return "";
    case Limit::Compiling:
      return "compiling";
    case Limit::Verifying:
      return "verifying";
    case Limit::Measuring:
      return "measuring";
  }
  return "";
}

RunProgress::RunProgress(std::size_t problem_count, std::size_t devices, std::optional<double> budget_s)
    : problem_count_(problem_count), budget_s_(budget_s), running_(devices), samples_(1) {}

void RunProgress::progress(std::size_t device, const Progress& progress, double now_s) {
  Running& running = running_.at(device);
  running.active = true;
  running.problem = *progress.problem;
  running.part = progress.part;
  running.done = progress.done;
  running.total = progress.total;
  running.reused = progress.reused;
  running.failed = progress.failed;
  running.best_us = progress.best_us;
  running.used = progress.used;
  running.waits_for = progress.waits_for;
  sample(now_s);
}

void RunProgress::finished(std::size_t device, const ProblemResult& result, double now_s) {
  running_.at(device) = {};
  ++problems_done_;
  fresh_done_ += result.measured;
  decided_done_ += result.measured + result.reused;
  finished_.add(result.utilisation);
  reused_done_ += result.reused;
  for (const auto& [outcome, count] : result.failed) failed_done_ += count;
  sample(now_s);
}

void RunProgress::lost(std::size_t device) { running_.at(device) = {}; }

std::uint64_t RunProgress::fresh() const {
  std::uint64_t fresh = fresh_done_;
  for (const Running& running : running_) fresh += running.done - std::min(running.done, running.reused);
  return fresh;
}

void RunProgress::Sample::add(const Utilisation& used) {
  busy_s += used.gpu_busy_s;
  verifying_s += used.verifying_s;
  waiting_s += used.idle_waiting_compile_s;
  compilations += used.compilations;
}

RunProgress::Sample RunProgress::sample_at(double now_s) const {
  Sample sample = finished_;
  sample.at_s = now_s;
  sample.fresh = fresh();
  for (const Running& running : running_) sample.add(running.used);
  return sample;
}

void RunProgress::sample(double now_s) {
  samples_.push_back(sample_at(now_s));
  // The last one before the window stays: it is what the window is counted from.
  while (samples_.size() > 2 && samples_[1].at_s <= now_s - kWindow_s) samples_.pop_front();
}

RunProgress::Limit RunProgress::limit_between(const Sample& before, const Sample& now) {
  const double busy_s = now.busy_s - before.busy_s, waiting_s = now.waiting_s - before.waiting_s;
  if (!(busy_s + waiting_s > 0)) return Limit::Unknown;
  if (waiting_s > kMuchWaiting * (busy_s + waiting_s)) return Limit::Compiling;
  return 2 * (now.verifying_s - before.verifying_s) > busy_s ? Limit::Verifying : Limit::Measuring;
}

/// Problems that have not begun are taken to be like those that have; the rate is that of the whole command, in which
/// preparing and running off have their share.
std::optional<double> RunProgress::eta(double now_s) const {
  std::optional<double> eta_s;
  if (budget_s_) eta_s = std::max(0.0, *budget_s_ - now_s);
  std::uint64_t known = decided_done_, left = 0, active = 0;
  for (const Running& running : running_) {
    if (!running.active) continue;
    ++active;
    known += running.total;
    left += running.total - std::min(running.total, running.done);
  }
  const std::size_t begun = problems_done_ + active;
  const double rate = now_s > 0 ? static_cast<double>(fresh()) / now_s : 0;
  if (begun == 0 || !(rate > 0)) return eta_s;
  const double of_one = static_cast<double>(known) / static_cast<double>(begun);
  const double not_begun = static_cast<double>(problem_count_ - std::min(problem_count_, begun));
  const double by_rate = (static_cast<double>(left) + of_one * not_begun) / rate;
  return std::min(by_rate, eta_s.value_or(by_rate));
}

std::string RunProgress::waits_for() const {
  std::string first;
  for (const Running& running : running_) {
    if (!running.active) continue;
    if (running.waits_for.empty()) return {};
    if (first.empty()) first = running.waits_for;
  }
  return first;
}

RunProgress::View RunProgress::view(double now_s) const {
  View view;
  view.problems_done = problems_done_;
  view.problem_count = problem_count_;
  view.devices = running_.size();
  view.reused = reused_done_;
  view.failed = failed_done_;
  for (const Running& running : running_) {
    if (!running.active) continue;
    ++view.devices_busy;
    view.done += running.done;
    view.total += running.total;
    view.reused += running.reused;
    view.failed += running.failed;
  }
  view.waits_for = waits_for();
  if (running_.size() == 1 && running_.front().active) {
    view.problem = running_.front().problem;
    view.part = running_.front().part;
    view.best_us = running_.front().best_us;
  }
  const Sample &before = samples_.front(), &last = samples_.back();
  // A problem that a device lost takes its counts along.
  const auto per_s = [&](std::uint64_t now, std::uint64_t then) {
    return now_s > before.at_s ? static_cast<double>(std::max(now, then) - then) / (now_s - before.at_s) : 0;
  };
  view.configurations_per_s = per_s(fresh(), before.fresh);
  view.compilations_per_s = per_s(last.compilations, before.compilations);
  view.limit = limit_between(before, last);
  view.eta_s = eta(now_s);
  view.budget_s = budget_s_;
  view.elapsed_s = now_s;
  return view;
}

}  // namespace attune::session
