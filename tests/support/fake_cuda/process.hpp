#pragma once
#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/support/fake_cuda/cubin.hpp"
#include "tests/support/fake_cuda/gate.hpp"
#include "tests/support/fake_cuda/kernels.hpp"
#include "tests/support/fake_cuda/settings.hpp"

namespace attune::fake_cuda {

/// A call that ends with this result.
struct CallFailed {
  CUresult result;
};

/// Host memory that stands for device memory.
class Memory {
 public:
  explicit Memory(std::size_t bytes);
  [[nodiscard]] CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(bytes_.get()); }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_bytes_;
};

/// One thing that a stream or a graph does; runs at once, on the caller's thread.
using Operation = std::function<Effect()>;

struct Stream {
  Device* device = nullptr;
  std::uint64_t id = 0;
  double now_us = 0;  ///< virtual time
  double waited_us = 0;
  bool hung = false;
  bool capturing = false;
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;  ///< while it captures
  std::vector<Operation> captured;
  SpinLock busy;  ///< of launches that go beside those of other streams; everything else has the driver for itself
};

struct Event {
  Stream* stream = nullptr;  ///< nullptr: never recorded
  double at_us = 0;
};

struct Graph {
  std::vector<Operation> operations;
};

struct Kernel {
  Device* device = nullptr;
  CubinKernel cubin;
  int dynamic_shared_limit_bytes = 0;
  mutable bool launched = false;
};

struct Module {
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::map<std::string, Memory> variables;
  Device* device = nullptr;
};

/// One GPU and its primary context.
struct Device {
  int ordinal = 0;  ///< among those that CUDA_VISIBLE_DEVICES shows
  int number = 0;   ///< among all
  DeviceSettings settings;
  int retained = 0;
  std::map<CUdeviceptr, std::size_t> ranges;  ///< everything that kernels may touch: address and bytes
  std::map<CUdeviceptr, Memory> allocations;
  std::size_t allocated_bytes = 0;
  Stream default_stream;
  std::mt19937_64 random;
  std::map<std::string, std::uint64_t> launches;  ///< of each kernel so far

  [[nodiscard]] bool contains(CUdeviceptr address, std::size_t bytes) const;
};

/// Objects behind opaque handles; a handle that is not (or no longer) one of them is told apart.
template <class T>
class Handles {
 public:
  T* add(std::unique_ptr<T> object) {
    T* const handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  /// Throws: CallFailed (invalid handle).
  T& at(const void* handle) const {
    const auto found = objects_.find(handle);
    if (found == objects_.end()) throw CallFailed{CUDA_ERROR_INVALID_HANDLE};
    return *found->second;
  }
  void remove(const void* handle) {
    if (objects_.erase(handle) == 0) throw CallFailed{CUDA_ERROR_INVALID_HANDLE};
  }
  template <class Visit>
  void for_each(Visit&& visit) {
    for (auto& [handle, object] : objects_) visit(*object);
  }

 private:
  std::unordered_map<const void*, std::unique_ptr<T>> objects_;
};

/// The driver's state in this process.
class Process {
 public:
  static Process& get();

  Settings settings;
  std::atomic<bool> initialised{false};
  std::vector<std::unique_ptr<Device>> devices;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Graph> graphs;
  Handles<Graph> executable_graphs;
  Handles<Module> modules;
  std::unordered_map<const void*, Kernel*> kernels;
  Gate gate;
  std::atomic<CUresult> sticky{CUDA_SUCCESS};  ///< what every call returns from now on

  /// Throws: CallFailed.
  Device& device(CUdevice ordinal);
  Device& current_device();
  /// nullptr and the two reserved handles are the current device's default stream.
  Stream& stream(CUstream handle);

  /// Puts an operation on a stream: into its graph while it captures, else runs it and advances the stream's clock.
  void enqueue(Stream& stream, Operation operation);
  /// Puts work on a stream while other threads do so on theirs: no lock but the stream's, no allocation, no system call.
  /// False, and nothing is done, for what needs the whole driver: capture, noise, planned faults, loading.
  template <class Work>
  bool run_beside(Stream& stream, Work&& work) {
    if (stream.capturing || settings.noise > 0 || settings.loading_us > 0 || !settings.faults.empty()) return false;
    const std::lock_guard lock(stream.busy);
    if (stream.hung || pending_ != CUDA_SUCCESS) return true;  // queued behind what never ends, or in a lost context
    const Effect effect = work();
    stream.now_us += effect.us * factor(*stream.device, stream.now_us);
    if (effect.fault != Fault::None) raise(stream, effect.fault);
    return true;
  }
  /// Runs operations as one submission, whose noise they share.
  void submit(Stream& stream, const std::vector<Operation>& operations);
  /// Waits for a stream: for ever when it hangs; faults of earlier work appear here. Throws: CallFailed.
  void synchronize(Stream& stream);
  /// A call on this device that waits for all its streams.
  void synchronize(Device& device);
  /// Refuses what the driver calls potentially unsafe while some thread captures in global mode, unless the calling
  /// thread's own mode is relaxed. Throws: CallFailed.
  void refuse_during_captures();
  /// Counts this launch of this kernel; stalls when that is planned for it, and returns its planned fault.
  Fault planned_fault(Device& device, const std::string& kernel);

 private:
  Process();
  void raise(Stream& stream, Fault fault);
  double factor(Device& device, double now_us);

  std::atomic<CUresult> pending_{CUDA_SUCCESS};  ///< fault of work that nobody has waited for yet
};

/// What the calling thread may do while others capture.
CUstreamCaptureMode& thread_capture_mode();

/// The context of the calling thread.
Device*& current_context();

void report_defect(const std::exception& error) noexcept;

template <class Lock, class Body>
CUresult entry_with(Body&& body) noexcept {
  try {
    Process& process = Process::get();
    const Lock lock(process.gate);
    if (!process.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (process.sticky != CUDA_SUCCESS) return process.sticky;
    body(process);
    return CUDA_SUCCESS;
  } catch (const CallFailed& failed) {
    return failed.result;
  } catch (const std::exception& error) {
    report_defect(error);
    return CUDA_ERROR_UNKNOWN;
  }
}

/// Body of an entry point: has the driver for itself, refuses after a sticky error and before cuInit, turns CallFailed
/// into its result. Anything else is a defect of a test or of the fake driver: told on standard error.
template <class Body>
CUresult entry(Body&& body) noexcept {
  return entry_with<Exclusive>(std::forward<Body>(body));
}

/// The same for what changes nothing but one stream: runs beside others of its kind, without a system call.
template <class Body>
CUresult entry_beside(Body&& body) noexcept {
  return entry_with<Shared>(std::forward<Body>(body));
}

}  // namespace attune::fake_cuda
