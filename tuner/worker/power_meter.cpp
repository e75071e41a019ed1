#include "tuner/worker/power_meter.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "tuner/spec/metrics.hpp"

namespace attune::worker {
namespace {

using std::chrono::milliseconds;

constexpr double kChunk_us = 10000;  // of calls between two looks at whether the device has enough to do
constexpr double kMostBatches = 1000;
constexpr milliseconds kLeadIn{150};  // clocks and power settle
constexpr milliseconds kWindow{500};
constexpr milliseconds kMostWait{1500};          // for the next count
constexpr std::chrono::microseconds kLook{500};  // a look takes about as long itself

bool is_over(const gpu::Event& event) {
  const CUresult result = gpu::Driver::get().cuEventQuery(event.get());
  if (result == CUDA_ERROR_NOT_READY) return false;
  gpu::check(result, "cuEventQuery", "measuring the device's power");
  return true;
}

}  // namespace

void require_energy(const spec::KernelTemplate& kernel, const std::optional<gpu::Nvml>& nvml) {
  if (!spec::objective_uses_power(kernel) || (nvml && nvml->energy_mj())) return;
  throw EnvironmentError(fmt::format(
      "failed preparing template \"{}\": its objective needs the energy that the device consumes, which NVML does not tell here "
      "(libnvidia-ml.so.1; no MIG instance has it); choose another objective or device",
      kernel.name));
}

measure::Power power_of(Prepared& prepared, const spec::KernelTemplate& kernel, const std::optional<gpu::Nvml>& nvml,
                        verify::Support& support, Timer& timer) {
  const auto power = nvml ? PowerMeter(*nvml, support, timer).measure(prepared) : std::nullopt;
  if (!power && spec::objective_uses_power(kernel))
    throw PowerUnknown("failed measuring the device's power: the driver's count of its energy does not move on; choose another objective",
                       ExitCode::Environment);
  return power.value_or(measure::Power{});
}

/// Two chunks are under way at any time, so that the device never waits for this thread.
void PowerMeter::keep_busy(Prepared& prepared) {
  if (!is_over(ends_[next_])) return;
  for (int i = 0; i < batches_; ++i) timer_->enqueue(prepared);
  ends_[next_].record(support_->stream());
  next_ = 1 - next_;
}

std::optional<PowerMeter::Count> PowerMeter::next_count(Prepared& prepared, Clock::time_point from) {
  auto energy_mj = nvml_->energy_mj();
  auto looked = Clock::now();
  const auto latest = std::max(looked, from) + kMostWait;
  while (energy_mj && looked < latest) {
    std::this_thread::sleep_for(kLook);
    keep_busy(prepared);
    const auto now_mj = nvml_->energy_mj();
    const auto now = Clock::now();
    if (now_mj && *now_mj != *energy_mj && now >= from) return Count{*now_mj, now, now - looked};
    energy_mj = now_mj;
    looked = now;
  }
  return std::nullopt;
}

std::optional<measure::Power> PowerMeter::measure(Prepared& prepared) {
  if (!nvml_->energy_mj()) return std::nullopt;
  const gpu::Stream& stream = support_->stream();
  gpu::Event start;
  start.record(stream);
  timer_->enqueue(prepared);
  ends_[0].record(stream);
  ends_[0].synchronize();
  const double batch_us = std::max(gpu::elapsed_us(start, ends_[0]), 0.1);
  batches_ = static_cast<int>(std::clamp(kChunk_us / batch_us, 1.0, kMostBatches));
  ends_[1].record(stream);
  ends_[1].synchronize();
  const auto begin = Clock::now();
  for (int i = 0; i < 2; ++i) keep_busy(prepared);
  const auto first = next_count(prepared, begin + kLeadIn);
  const auto last = first ? next_count(prepared, first->at + kWindow) : std::nullopt;
  stream.synchronize();
  if (!last) return std::nullopt;
  const auto seconds = [](Clock::duration duration) { return std::chrono::duration<double>(duration).count(); };
  const double window_s = seconds(last->at - first->at);
  const auto energy_mj = static_cast<double>(last->energy_mj - first->energy_mj);
  return measure::Power{energy_mj / 1000 / window_s, seconds(first->missed + last->missed) / window_s};
}

}  // namespace attune::worker
