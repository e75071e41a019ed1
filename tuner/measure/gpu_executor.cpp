#include "tuner/measure/gpu_executor.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tuner/base/median.hpp"
#include "tuner/measure/messages.hpp"

namespace attune::measure {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kFirstDeadline{10000};  // before a problem's first success
constexpr milliseconds kShortestDeadline{2000};
constexpr milliseconds kPowerAllowance{10000};  // far more than the windows of a power meter (worker/power_meter.hpp)
constexpr double kDeadlineRatio = 20;
constexpr std::size_t kQueuedCubinBytes = 64 * 1024;

}  // namespace

milliseconds GpuExecutor::deadline_for(double best_us, bool power) const {
  // Verification touches the same data as preparing did.
  const milliseconds allowance = 2 * prepare_time_ + (power ? kPowerAllowance : milliseconds(0));
  if (best_us_ <= 0) return kFirstDeadline + allowance;
  const double batch_us = batch_us_ * std::max(1.0, best_us / best_us_);
  return std::max(kShortestDeadline, milliseconds(static_cast<std::int64_t>(kDeadlineRatio * batch_us / 1000))) + allowance;
}

bool GpuExecutor::has_room(const VisitRequest& request) const {
  if (queue_.empty()) return true;
  if (queue_.size() >= kQueueLength) return false;
  return fits_behind(request);
}

bool GpuExecutor::fits_behind(const VisitRequest& request) const {
  return loaded_.contains(request.cubin_key) || request.cubin.size() <= kQueuedCubinBytes;
}

void GpuExecutor::submit(VisitRequest request) {
  if (!has_room(request)) throw UsageError("failed submitting a configuration: the GPU worker's queue is full");
  if (!prepare_message_) throw UsageError("failed submitting a configuration: no problem is prepared");
  queue_.push_back({std::move(request)});
  if (!worker_.running()) return ensure_running();
  try {
    if (queue_.size() == 1) start_clock();
    send_waiting();
  } catch (const base::ChannelClosed&) {
    // It died between two configurations: found out, replaced and answered by `collect`.
  } catch (...) {
    queue_.pop_back();
    throw;
  }
}

void GpuExecutor::start_clock() {
  started_ = Clock::now();
  const VisitRequest& request = queue_.front().request;
  deadline_ = started_ + deadline_for(request.best_us, request.power);
}

void GpuExecutor::send(Visit& visit) {
  const bool with_cubin = !loaded_.contains(visit.request.cubin_key);
  worker_.channel().send(messages::visit(visit.request, with_cubin));
  loaded_.insert(visit.request.cubin_key);
  visit.sent = true;
}

void GpuExecutor::send_queue() {
  start_clock();
  for (auto& visit : queue_) visit.sent = false;
  send_waiting();
}

void GpuExecutor::send_waiting() {
  for (auto& visit : queue_) {
    if (visit.sent) continue;
    // Behind a visit that may take long, only what the socket's buffer surely takes: a blocking send would keep this
    // process from enforcing the deadline. A fresh worker holds no cubin, so one that fitted may have to wait after all.
    if (&visit != &queue_.front() && !fits_behind(visit.request)) return;
    send(visit);
  }
}

std::vector<std::string> GpuExecutor::in_hand() const {
  std::vector<std::string> texts;
  for (const auto& visit : queue_) texts.push_back(visit.request.configuration);
  return texts;
}

std::optional<VisitReply> GpuExecutor::collect(milliseconds timeout) {
  if (queue_.empty()) throw UsageError("failed collecting a reply: nothing was submitted");
  const auto end = Clock::now() + timeout;
  while (true) {
    ensure_running();
    const auto wait = std::max(milliseconds(0), std::chrono::ceil<milliseconds>(std::min(end, deadline_) - Clock::now()));
    std::optional<VisitReply> reply;
    const base::Heard heard = worker_.hear(wait);
    if (heard.died()) {
      reply = after_failure(End::Died, "the GPU worker " + heard.end);
    } else if (heard.message_came()) {
      reply = handle(heard.message);
    } else if (Clock::now() >= deadline_) {
      const auto limit = deadline_ - started_;
      worker_.kill_and_reap();
      reply = after_failure(
          End::TimedOut, fmt::format("no answer within {:.1f} s; the GPU worker was killed", std::chrono::duration<double>(limit).count()));
    } else if (Clock::now() >= end) {
      return std::nullopt;
    }
    if (reply) return reply;
  }
}

std::optional<VisitReply> GpuExecutor::handle(const json& message) {
  if (message.value("fatal", false)) {
    worker_.kill_and_reap();
    throw_of_reference(message);
    return after_failure(End::Died, message.at("error"));
  }
  forget_dropped(message);
  if (message.contains("missing_cubin")) {  // unloaded while this visit waited in the queue: to its end, with the cubin
    Visit visit = std::move(queue_.front());
    queue_.pop_front();
    visit.sent = false;
    queue_.push_back(std::move(visit));
    start_clock();
    send_waiting();
    return std::nullopt;
  }
  if (message.contains("error")) queue_.pop_front();
  messages::rethrow(message);  // a defect of the protocol, not of the configuration
  return accept(message);
}

std::optional<VisitReply> GpuExecutor::after_failure(End end, const std::string& how) {
  const bool retried = std::exchange(queue_.front().retried, true);
  VisitReply reply;
  reply.configuration = queue_.front().request.configuration;
  reply.outcome = end == End::Died ? Outcome::Crashed : Outcome::TimedOut;
  reply.detail = how + ", twice";
  if (retried) queue_.pop_front();
  recovering_s_ += std::chrono::duration<double>(Clock::now() - started_).count();
  if (!retried) return std::nullopt;
  return reply;
}

void GpuExecutor::abandon(milliseconds grace) {
  const auto end = Clock::now() + grace;
  bool lost = false;
  // Not by `collect`: a worker that dies now need not be replaced.
  while (!lost && busy() && queue_.front().sent) {
    const auto left = std::max(milliseconds(0), std::chrono::ceil<milliseconds>(end - Clock::now()));
    const base::Heard heard = worker_.hear(left);
    lost = !heard.message_came() || heard.message.value("fatal", false);
    if (!lost) forget_dropped(heard.message);
    if (!lost) queue_.pop_front();
  }
  if (lost && worker_.running()) worker_.kill_and_reap();
  queue_.clear();
}

void GpuExecutor::forget_dropped(const json& message) {
  if (message.contains("missing_cubin")) loaded_.erase(message.at("missing_cubin").get<std::string>());
  if (!message.contains("dropped")) return;
  for (const auto& key : message.at("dropped")) loaded_.erase(key.get<std::string>());
}

VisitReply GpuExecutor::accept(const json& message) {
  VisitReply reply = messages::reply_from(message);
  reply.configuration = std::move(queue_.front().request.configuration);
  queue_.pop_front();
  if (!queue_.empty()) go_on();
  if (reply.outcome != Outcome::Ok) return reply;
  // A fresh worker does not know what an earlier one has verified.
  if (reply.verified) verified_.insert(reply.configuration);
  reply.verified = verified_.contains(reply.configuration);
  // A single call of a configuration that was let go is far longer than what others are to be allowed.
  if (reply.samples_us.empty() || (reply.screened_out && !reply.verified)) return reply;
  const double middle_us = base::median(reply.samples_us);
  best_us_ = best_us_ <= 0 ? middle_us : std::min(best_us_, middle_us);
  batch_us_ = std::max(batch_us_, middle_us * reply.calls_per_sample);
  return reply;
}

void GpuExecutor::go_on() {
  start_clock();
  try {
    send_waiting();
  } catch (const base::ChannelClosed&) {
    // It died after its answer: the next `collect` finds out.
  }
}

RunOffReply GpuExecutor::run_off(const RunOffRequest& request, const Waits& waits) {
  if (busy()) throw UsageError("failed running off configurations: a configuration is still being measured");
  if (!prepare_message_) throw UsageError("failed running off configurations: no problem is prepared");
  ensure_running();
  RunOffReply reply = try_run_off(request, waits);
  const bool worker_lost = reply.outcome == Outcome::Crashed || reply.outcome == Outcome::TimedOut;
  if (!worker_lost) return reply;
  ensure_running();
  return try_run_off(request, waits);
}

RunOffReply GpuExecutor::try_run_off(const RunOffRequest& request, const Waits& waits) {
  json configurations = json::array();
  for (const auto& configuration : request.configurations) {
    configurations.push_back(messages::visit(configuration, true));  // it is loaded afresh
    loaded_.insert(configuration.cubin_key);
  }
  const auto failed = [](Outcome outcome, std::string detail) { return RunOffReply{outcome, {}, std::move(detail)}; };
  // The deadline is a round's: each reports.
  const auto limit = kFirstDeadline + deadline_for(0, false) * static_cast<int>(request.configurations.size());
  (void)worker_.tell(
      {{"type", "run_off"}, {"configurations", std::move(configurations)}, {"rounds", request.rounds}, {"seed", request.seed}});
  base::Heard heard = worker_.hear(limit, waits);
  while (heard.message_came() && heard.message.contains("progress")) heard = worker_.hear(limit, waits);
  if (heard.died()) return failed(Outcome::Crashed, "the GPU worker " + heard.end);
  if (!heard.message_came()) return failed(Outcome::TimedOut, "a round took too long; the GPU worker " + worker_.kill_and_reap());
  const json& message = heard.message;
  if (message.value("fatal", false)) {
    worker_.kill_and_reap();
    throw_of_reference(message);
    return failed(Outcome::Crashed, message.at("error"));
  }
  messages::rethrow(message);
  forget_dropped(message);
  RunOffReply reply{outcome_from_name(message.at("outcome")), {}, message.at("detail")};
  if (message.contains("rounds_us")) reply.rounds_us = message.at("rounds_us").get<std::vector<std::vector<double>>>();
  return reply;
}

}  // namespace attune::measure
