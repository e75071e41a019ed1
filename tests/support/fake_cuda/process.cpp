#include "tests/support/fake_cuda/process.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

namespace attune::fake_cuda {
namespace {

constexpr std::size_t kAlign = 256;

CUresult result_of(Fault fault) {
  switch (fault) {
    case Fault::IllegalAddress:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case Fault::MisalignedAddress:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case Fault::Trap:
      return CUDA_ERROR_LAUNCH_FAILED;
    case Fault::Assert:
      return CUDA_ERROR_ASSERT;
    case Fault::StackOverflow:
      return CUDA_ERROR_HARDWARE_STACK_ERROR;
    default:
      return CUDA_SUCCESS;
  }
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

}  // namespace

Memory::Memory(std::size_t bytes)
    : bytes_(static_cast<std::byte*>(::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{kAlign}))), size_bytes_(bytes) {}

void Memory::Free::operator()(std::byte* bytes) const { ::operator delete (bytes, std::align_val_t{kAlign}); }

bool Device::contains(CUdeviceptr address, std::size_t bytes) const {
  auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return false;
  const auto& [begin, size] = *--after;
  return address - begin <= size && bytes <= size - (address - begin);
}

bool KernelLaunch::may_access(const void* address, std::size_t bytes) const {
  return bytes == 0 || device->contains(reinterpret_cast<CUdeviceptr>(address), bytes);
}

Device*& current_context() {
  thread_local Device* device = nullptr;
  return device;
}

CUstreamCaptureMode& thread_capture_mode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

void report_defect(const std::exception& error) noexcept { std::fprintf(stderr, "fake CUDA driver: %s\n", error.what()); }

Process::Process() : settings(Settings::from_environment()) {
  for (const int number : settings.visible) {
    auto device = std::make_unique<Device>();
    device->ordinal = static_cast<int>(devices.size());
    device->number = number;
    device->settings = settings.devices[static_cast<std::size_t>(number)];
    device->default_stream.device = device.get();
    device->random.seed(settings.seed * 1000 + static_cast<std::uint64_t>(number));
    devices.push_back(std::move(device));
  }
}

Process& Process::get() {
  static auto* const process = new Process;  // never destroyed: calls may come from destructors of statics
  return *process;
}

Device& Process::device(CUdevice ordinal) {
  if (ordinal < 0 || ordinal >= static_cast<int>(devices.size())) throw CallFailed{CUDA_ERROR_INVALID_DEVICE};
  return *devices[static_cast<std::size_t>(ordinal)];
}

Device& Process::current_device() {
  Device* const device = current_context();
  if (device == nullptr || device->retained == 0) throw CallFailed{CUDA_ERROR_INVALID_CONTEXT};
  return *device;
}

void Process::refuse_during_captures() {
  if (thread_capture_mode() == CU_STREAM_CAPTURE_MODE_RELAXED) return;
  streams.for_each([](const Stream& stream) {
    if (stream.capturing && stream.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL) {
      throw CallFailed{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
    }
  });
}

Stream& Process::stream(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) return current_device().default_stream;
  return streams.at(handle);
}

double Process::factor(Device& device, double now_us) {
  const double drift = 1 + settings.drift_per_s * now_us * 1e-6;
  const double noise = settings.noise <= 0 ? 1 : 1 + settings.noise * std::normal_distribution<double>()(device.random);
  return std::max(0.1, drift * noise) / device.settings.speed;
}

void Process::enqueue(Stream& stream, Operation operation) {
  if (stream.capturing) {
    stream.captured.push_back(std::move(operation));
  } else {
    submit(stream, {std::move(operation)});
  }
}

void Process::submit(Stream& stream, const std::vector<Operation>& operations) {
  const double share = factor(*stream.device, stream.now_us);
  for (const auto& operation : operations) {
    if (stream.hung || pending_ != CUDA_SUCCESS) return;  // queued behind what never ends, or in a lost context
    const Effect effect = operation();
    stream.now_us += effect.us * share;
    if (effect.fault != Fault::None) raise(stream, effect.fault);
  }
}

void Process::raise(Stream& stream, Fault fault) {
  if (fault == Fault::OutOfResources) throw CallFailed{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES};
  if (fault == Fault::ProcessKilled) ::kill(::getpid(), SIGKILL);
  if (fault == Fault::EndlessLoop)
    stream.hung = true;
  else
    pending_ = result_of(fault);
}

void Process::synchronize(Stream& stream) {
  if (stream.capturing) throw CallFailed{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
  if (stream.hung) hang();
  if (settings.real_time > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(settings.real_time * (stream.now_us - stream.waited_us)));
  }
  stream.waited_us = stream.now_us;
  if (pending_ == CUDA_SUCCESS) return;
  sticky = pending_.load();
  throw CallFailed{sticky.load()};
}

void Process::synchronize(Device& device) {
  synchronize(device.default_stream);
  streams.for_each([&](Stream& stream) {
    if (stream.device == &device && !stream.capturing) synchronize(stream);
  });
}

Fault Process::planned_fault(Device& device, const std::string& kernel) {
  if (settings.faults.empty()) return Fault::None;
  const std::uint64_t number = device.launches[kernel]++;
  for (const auto& planned : settings.faults) {
    if (planned.kernel != kernel || planned.launch != number) continue;
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(planned.stall_ms));
    return planned.fault;
  }
  return Fault::None;
}

}  // namespace attune::fake_cuda
