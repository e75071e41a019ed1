#include "tuner/worker/gpu_worker.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <numeric>
#include <random>

#include "tuner/base/json.hpp"
#include "tuner/base/process.hpp"
#include "tuner/measure/messages.hpp"
#include "tuner/spec/kernel_message.hpp"
#include "tuner/worker/power_meter.hpp"
#include "tuner/worker/read_ceiling.hpp"

namespace attune::worker {
namespace {

using nlohmann::json;

constexpr double kHopelessRatio = 3.0;  // dropped on a short batch already: far outside what its noise could explain
constexpr double kBehindRatio = 1.1;    // by one timed call where calls are long and precise
constexpr double kLaunch_us = 4;        // of each step, which is no node of a graph here
constexpr double kLoading_us = 1000;    // a first call may load its code besides
constexpr double kShared_us = 3000;     // and a short one wait for others that share the GPU

bool exceeds_limits(const CudaError& error) {
  const auto result = static_cast<CUresult>(error.result());
  return result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES || result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE ||
         result == CUDA_ERROR_INVALID_CLUSTER_SIZE || result == CUDA_ERROR_OUT_OF_MEMORY || error.call() == "cuFuncSetAttribute";
}

/// Errors that the process cannot be trusted after: a lost context, or no memory left for the host's own structures.
bool is_fatal(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (const auto* reference = dynamic_cast<const verify::ReferenceError*>(&error)) return reference->context_lost();
  const auto* cuda = dynamic_cast<const CudaError*>(&error);
  return cuda != nullptr && gpu::is_sticky(static_cast<CUresult>(cuda->result()));
}

/// What `use` returns; what it takes is added to `seconds`.
template <class Use>
auto timed_into(double& seconds, Use use) {
  const auto start = std::chrono::steady_clock::now();
  auto result = use();
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

GpuWorker::GpuWorker(int device) : device_(gpu::read_device(device)), nvml_(gpu::Nvml::open(device_.uuid)), context_(device) {
  if (nvml_) device_.power_limit_w = nvml_->read().power_limit_w;
}

GpuWorker::Answer GpuWorker::handle(const json& request, base::Channel& channel) {
  try {
    const std::string type = request.at("type");
    if (type == "prepare") return {prepare(request), false};
    if (type == "visit") return {visit(request), false};
    if (type == "run_off") return {run_off(request, channel), false};
    if (type == "read_ceiling") return {read_ceiling(request), false};
    throw Error("failed answering a request: the worker knows no \"" + type + "\"");
  } catch (const base::ChannelClosed&) {
    throw;
  } catch (const std::exception& error) {
    Answer answer{measure::messages::failure(error), is_fatal(error)};
    answer.message["fatal"] = answer.fatal;
    answer.message["of_reference"] = dynamic_cast<const verify::ReferenceError*>(&error) != nullptr;
    return answer;
  }
}

void GpuWorker::load_support(const json& request) {
  if (!support_) support_ = std::make_unique<verify::Support>(base::bytes_of_json(request.at("support")), device_, stream_);
}

json GpuWorker::prepare(const json& request) {
  load_support(request);
  cache_.forget_configurations();
  timer_.reset();
  verifier_.reset();
  problem_.reset();  // its memory first
  auto kernel = spec::kernel_of(request);
  auto problem = spec::problem_from_text(request.at("problem"));
  spec::validate(kernel, problem);
  const measure::Policy policy = measure::policy_from_text(request.at("policy"));
  require_energy(kernel, nvml_);
  problem_ = std::make_unique<GpuProblem>(std::move(kernel), std::move(problem), policy.cache, base::bytes_of_json(request.at("reference")),
                                          measure::messages::setup_of(request), *support_);
  verifier_ = std::make_unique<verify::Verifier>(*support_);
  timer_ = std::make_unique<Timer>(*support_, *problem_, policy);
  return {{"prepared", true}};
}

json GpuWorker::visit(const json& request) {
  const auto start = std::chrono::steady_clock::now();
  const measure::VisitRequest visit = measure::messages::visit_from(request);
  // Unloaded after the request was queued: the executor sends it again, with the cubin.
  if (visit.cubin.empty() && !cache_.holds(visit.cubin_key)) {
    return {{"missing_cubin", visit.cubin_key}, {"dropped", cache_.take_dropped()}};
  }
  if (problem_) problem_->make_sound();
  measure::VisitReply reply;
  try {
    reply = visit_with_room(visit);
  } catch (const verify::ReferenceError& error) {
    if (!error.context_lost()) spoil();
    throw;
  } catch (const PowerUnknown&) {  // no fault of the configuration
    throw;
  } catch (const std::exception& error) {
    if (is_fatal(error)) throw;
    reply = judge_failure(error);
  }
  reply.worked_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  json message = measure::messages::reply(reply);
  message["dropped"] = cache_.take_dropped();
  return message;
}

Prepared& GpuWorker::prepared_for(const measure::VisitRequest& request) {
  if (!problem_) throw UsageError("failed visiting a configuration: no problem is prepared");
  return cache_.configuration(request.configuration, cache_.module(request.cubin_key, request.cubin), *problem_, *support_);
}

/// Scratch of configurations that wait for their next visit makes room for the one that is measured now.
measure::VisitReply GpuWorker::visit_with_room(const measure::VisitRequest& request) {
  try {
    return visit_configuration(request);
  } catch (const EnvironmentError&) {  // the device's memory
    cache_.forget_configurations();
    verifier_->release();
    return visit_configuration(request);
  }
}

measure::VisitReply GpuWorker::visit_configuration(const measure::VisitRequest& request) {
  Prepared& prepared = prepared_for(request);
  measure::VisitReply reply;
  // Without answers the best is not verified, and lets nobody go.
  const bool may_go = request.once && request.best_us > 0 && problem_->data().has_answers();
  const bool costly = request.best_us >= measure::kCostly_us;
  if (may_go && costly && !may_win(prepared, request.best_us, reply)) return reply;
  double called_us = 0;
  if (request.verify) {
    const verify::Candidate candidate{prepared.configuration, *prepared.module};
    const double enough_us = may_go && !costly ? may_take_us(prepared, request.best_us) : 0;
    const auto verdict = timed_into(reply.verifying_s, [&] { return verifier_->verify(candidate, problem_->data(), enough_us); });
    if (verdict.wrong) return reject(reply, *verdict.wrong);
    called_us = verdict.call_us;
    if (verdict.too_slow) {
      let_go(reply, called_us);
      return reply;
    }
    prepared.verified = problem_->data().has_answers();
  }
  if (request.max_samples == 0) {
    reply.verified = prepared.verified;
    return reply;
  }
  problem_->adapt(prepared.configuration, prepared.untimed.own_setup());
  if (const auto first_us = timer_->arm(prepared, kHopelessRatio * request.best_us, called_us)) reply.samples_us.push_back(*first_us);
  const std::size_t screening = request.best_us > 0 ? 2 : 0;
  const std::size_t wanted = std::max(static_cast<std::size_t>(request.max_samples), screening);
  while (reply.samples_us.size() < wanted) {
    reply.samples_us.push_back(timer_->sample(prepared));
    if (reply.samples_us.size() != screening) continue;
    const double faster_us = *std::min_element(reply.samples_us.begin(), reply.samples_us.end());
    reply.screened_out = faster_us > measure::kScreeningRatio * request.best_us;
    if (reply.screened_out) break;
  }
  reply.calls_per_sample = prepared.calls();
  if (nvml_) {
    const auto& state = nvml_->read();
    reply.sm_clock_mhz = state.sm_clock_mhz;
    reply.throttle = state.throttle;
  }
  const auto wrong = timed_into(reply.verifying_s, [&] { return verifier_->check_timed(prepared.timed(), problem_->data()); });
  if (wrong) return reject(reply, *wrong);
  reply.verified = prepared.verified;
  // Last: many calls leave nothing in window 0 that could be compared.
  if (request.power && !reply.screened_out) reply.power = power_of(prepared, problem_->kernel(), nvml_, *support_, *timer_);
  return reply;
}

double GpuWorker::may_take_us(const Prepared& prepared, double best_us) {
  const double besides_us = best_us >= measure::kCostly_us ? kLoading_us : kShared_us;
  return measure::kScreeningRatio * best_us + besides_us + kLaunch_us * static_cast<double>(prepared.call.steps());
}

void GpuWorker::let_go(measure::VisitReply& reply, double call_us) {
  reply.samples_us.push_back(call_us);
  reply.calls_per_sample = 1;
  reply.screened_out = true;
}

bool GpuWorker::may_win(Prepared& prepared, double best_us, measure::VisitReply& reply) {
  const auto first = timed_into(reply.verifying_s, [&] {
    return verifier_->first_call({prepared.configuration, *prepared.module}, problem_->data());
  });
  if (first.wrong) {
    reject(reply, *first.wrong);
    return false;
  }
  if (first.call_us <= may_take_us(prepared, best_us)) {
    const double behind_us = kBehindRatio * best_us;
    problem_->adapt(prepared.configuration, prepared.untimed.own_setup());
    const auto armed_us = timer_->arm(prepared, behind_us, first.call_us);
    reply.samples_us.push_back(armed_us ? *armed_us : timer_->sample(prepared));
    reply.calls_per_sample = prepared.calls();
    reply.screened_out = reply.samples_us.front() > behind_us;
  } else {
    let_go(reply, first.call_us);
  }
  return !reply.screened_out;
}

measure::VisitReply GpuWorker::reject(measure::VisitReply& reply, const std::string& detail) {
  spoil();
  reply.outcome = measure::Outcome::WrongResult;
  reply.verified = false;
  reply.detail = detail;
  return reply;
}

void GpuWorker::spoil() {
  cache_.forget_configurations();
  if (verifier_) verifier_->release();
  if (problem_) problem_->spoil();
}

measure::VisitReply GpuWorker::judge_failure(const std::exception& error) {
  spoil();  // it may have failed in the midst of its verification, whose data is not what others are timed on
  measure::VisitReply reply;
  reply.detail = error.what();
  reply.outcome = measure::Outcome::LaunchFailed;
  if (const auto* cuda = dynamic_cast<const CudaError*>(&error); cuda != nullptr && exceeds_limits(*cuda))
    reply.outcome = measure::Outcome::ExceedsLimits;
  if (dynamic_cast<const spec::LimitError*>(&error) != nullptr) reply.outcome = measure::Outcome::ExceedsLimits;
  if (dynamic_cast<const EnvironmentError*>(&error) != nullptr) reply.outcome = measure::Outcome::ExceedsLimits;  // scratch does not fit
  return reply;
}

json GpuWorker::run_off(const json& request, base::Channel& channel) {
  if (!problem_) throw UsageError("failed running off configurations: no problem is prepared");
  problem_->make_sound();
  try {
    return race(request, channel);
  } catch (const EnvironmentError& error) {  // the scratch of all of them at once, or answers beside it
    cache_.keep_newest(0);
    spoil();
    return {{"outcome", name(measure::Outcome::ExceedsLimits)}, {"detail", error.what()}, {"dropped", cache_.take_dropped()}};
  }
}

json GpuWorker::race(const json& request, base::Channel& channel) {
  std::mt19937_64 random(request.at("seed").get<std::uint64_t>());
  std::vector<measure::VisitRequest> visits;
  for (const auto& message : request.at("configurations")) visits.push_back(measure::messages::visit_from(message));
  std::vector<std::size_t> order(visits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  const auto finalists = prepare_afresh(visits, order, static_cast<int>(random() % 1000000));
  const int rounds = request.at("rounds");
  std::vector<std::vector<double>> rounds_us;
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<double> samples_us(finalists.size());
    for (const std::size_t i : order) {
      problem_->adapt(finalists[i]->configuration, finalists[i]->untimed.own_setup());
      samples_us[i] = timer_->sample(*finalists[i]);
      if (round + 1 < rounds) continue;
      if (const auto wrong = verifier_->check_timed(finalists[i]->timed(), problem_->data())) {
        const std::string detail = finalists[i]->text + ": " + *wrong;
        spoil();
        return {{"outcome", name(measure::Outcome::WrongResult)}, {"detail", detail}, {"dropped", cache_.take_dropped()}};
      }
    }
    rounds_us.push_back(std::move(samples_us));
    channel.send({{"progress", round + 1}});
  }
  return {{"outcome", name(measure::Outcome::Ok)}, {"detail", ""}, {"rounds_us", rounds_us}, {"dropped", cache_.take_dropped()}};
}

/// Where code, scratch and data lie changes a kernel's time by up to a per cent, the same way for as long as they lie there
/// (docs/measurement.md). Everything is therefore loaded anew, in another order and from another window on.
std::vector<Prepared*> GpuWorker::prepare_afresh(const std::vector<measure::VisitRequest>& visits, const std::vector<std::size_t>& order,
                                                 int first_window) {
  cache_.forget_configurations();
  for (const auto& visit : visits) cache_.unload(visit.cubin_key);
  cache_.keep_newest(visits.size());
  std::vector<Prepared*> prepared(visits.size());
  for (const std::size_t i : order) {
    prepared[i] = &prepared_for(visits[i]);
    prepared[i]->first_window = first_window;
    problem_->adapt(prepared[i]->configuration, prepared[i]->untimed.own_setup());
    timer_->arm(*prepared[i], 0);
  }
  cache_.keep_newest(0);
  return prepared;
}

json GpuWorker::read_ceiling(const json& request) {
  load_support(request);
  return {{"bytes_per_s", read_ceiling_bytes_per_s(*support_, device_)}};
}

int gpu_worker_main() {
  base::Channel channel = base::enter_worker();
  std::unique_ptr<GpuWorker> worker;
  try {
    while (true) {
      const auto request = channel.receive(std::chrono::milliseconds(-1));
      if (!request) continue;
      if (request->at("type") == "hello") {
        try {
          const int device = request->at("device");
          worker = std::make_unique<GpuWorker>(request->at("alone") ? gpu::show_fewest(device) : device);
        } catch (const Error& error) {
          channel.send(measure::messages::failure(error));
          return static_cast<int>(error.exit_code());
        }
        channel.send({{"device", worker->device().to_json()}});
        continue;
      }
      const auto answer = worker->handle(*request, channel);
      channel.send(answer.message);
      // The context is lost: no destructor of a CUDA object can do anything useful, some may hang.
      if (answer.fatal) ::_exit(static_cast<int>(ExitCode::Environment));
    }
  } catch (const base::ChannelClosed&) {
    return static_cast<int>(ExitCode::Ok);  // the parent is done with us
  }
}

}  // namespace attune::worker
