// How a GpuExecutor gets a worker, and gives it a problem: at first, and whenever one is lost.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "tuner/base/json.hpp"
#include "tuner/measure/gpu_executor.hpp"
#include "tuner/measure/messages.hpp"
#include "tuner/measure/worker_start.hpp"

namespace attune::measure {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kCeilingTimeout{60000};
constexpr milliseconds kPrepareTimeout{300000};  // a plain reference kernel at a large size may take its time
constexpr int kStarts = 3;                       // somebody may kill a worker while it starts or prepares; a defect kills it every time

}  // namespace

GpuExecutor::GpuExecutor(const Options& options) : options_(options) { start(); }

void GpuExecutor::start() {
  worker_ = {};  // the one before lets go of the device's memory
  loaded_.clear();
  auto started = start_gpu_worker(options_.worker, options_.device, options_.cpus, waits_);
  worker_ = std::move(started.process);
  device_ = std::move(started.device);
}

void GpuExecutor::restart() {
  for (int attempt = 1;; ++attempt) {
    if (waits_) waits_();  // before a worker is spawned for nothing
    ++replacements_;
    try {
      start();
      if (prepare_message_) send_prepare();
      return;
    } catch (const WorkerLost&) {
      if (attempt >= kStarts) throw;
    }
  }
}

void GpuExecutor::prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& reference_cubin,
                          const std::string& setup_cubin, const Waits& waits) {
  if (busy()) throw UsageError("failed preparing a problem: a configuration is still being measured; collect its reply first");
  prepare_message_ = std::make_shared<const json>(
      messages::prepare(kernel, problem, options_.policy, options_.support_cubin, reference_cubin, setup_cubin));
  waits_ = waits;
  verified_.clear();
  best_us_ = 0;
  batch_us_ = 0;
  try {
    if (!worker_.running()) {
      restart();
    } else {
      try {
        send_prepare();
      } catch (const WorkerLost&) {
        restart();
      }
    }
  } catch (...) {
    prepare_message_.reset();  // a fresh worker must not stumble over it again
    waits_ = {};
    throw;
  }
}

void GpuExecutor::send_prepare() {
  const auto begin = Clock::now();
  (void)worker_.tell(*prepare_message_);  // a worker that is gone is heard of below
  const base::Heard answer = worker_.hear(kPrepareTimeout, waits_);
  if (answer.died()) {
    throw WorkerLost(fmt::format("failed preparing {}: the GPU worker {}", prepare_message_->at("problem").get<std::string>(), answer.end));
  }
  if (!answer.message_came()) {
    throw SpecError(prepare_message_->at("path"), 0, 0,
                    fmt::format("failed preparing the reference: no answer within {} s; the GPU worker {}", kPrepareTimeout.count() / 1000,
                                worker_.kill_and_reap()));
  }
  if (answer.message.value("fatal", false)) {  // only kernels of the reference run here
    worker_.kill_and_reap();
    throw_of_reference(answer.message);
    throw SpecError(prepare_message_->at("path"), 0, 0, "failed computing the reference: " + answer.message.at("error").get<std::string>());
  }
  messages::rethrow(answer.message);
  prepare_time_ = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
}

void GpuExecutor::throw_of_reference(const json& message) {
  if (!message.value("of_reference", false)) return;
  queue_.clear();  // nothing of this problem can be verified
  throw SpecError(prepare_message_->at("path"), 0, 0, message.at("error").get<std::string>());
}

void GpuExecutor::ensure_running() {
  if (worker_.running()) return;
  const auto begin = Clock::now();
  const auto account = [&] { recovering_s_ += std::chrono::duration<double>(Clock::now() - begin).count(); };
  try {
    restart();
  } catch (...) {
    account();
    queue_.clear();
    throw;
  }
  account();
  if (queue_.empty()) return;
  try {
    send_queue();
  } catch (const base::ChannelClosed&) {
    // The fresh worker died before it was asked: `collect` finds out.
  }
}

double GpuExecutor::read_ceiling_bytes_per_s() {
  if (busy()) throw UsageError("failed measuring the read ceiling: a configuration is still being measured");
  if (!worker_.running()) {
    prepare_message_.reset();
    waits_ = {};
    restart();
  }
  const base::Heard answer =
      worker_.ask({{"type", "read_ceiling"}, {"support", base::json_of_bytes(options_.support_cubin)}}, kCeilingTimeout);
  if (answer.died()) throw EnvironmentError("failed measuring the read ceiling: the GPU worker " + answer.end);
  if (!answer.message_came()) {
    throw EnvironmentError("failed measuring the read ceiling: no answer in time; the GPU worker " + worker_.kill_and_reap());
  }
  messages::rethrow(answer.message);
  return answer.message.at("bytes_per_s");
}

}  // namespace attune::measure
