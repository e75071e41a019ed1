#pragma once
#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/gpu/driver.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::gpu {

/// Number of devices the driver shows. Throws: EnvironmentError.
[[nodiscard]] int device_count();
/// Hard and soft identity of a device. Requires: nothing (no context). Throws: EnvironmentError, UsageError (ordinal).
[[nodiscard]] spec::DeviceInfo read_device(int ordinal);

/// What CUDA_VISIBLE_DEVICES is to be, and the ordinal that a device then has.
struct Visible {
  std::string value;
  int ordinal = 0;
  [[nodiscard]] bool operator==(const Visible&) const = default;
};
/// With the fewest devices beside the one that is `ordinal` under the value `now` (null: not set): none where it is not set; else those
/// that `now` names before it, since one that does not exist hides all after it. Nothing where `now` names too few.
[[nodiscard]] std::optional<Visible> fewest_visible(const char* now, int ordinal);
/// Makes the driver show this process the fewest devices beside that one. Returns the ordinal it then has.
/// Requires: the driver was not used yet, and no other thread reads the environment. Throws: EnvironmentError (it shows others than these;
/// also where GPUs are divided into MIG instances, which are numbered otherwise).
[[nodiscard]] int show_fewest(int ordinal);

/// Retains the primary context of a device and makes it current; releases it at the end. Same context as the CUDA
/// runtime API's.
class Context {
 public:
  explicit Context(int ordinal);
  Context(Context&& other) noexcept : device_(std::exchange(other.device_, -1)), context_(std::exchange(other.context_, nullptr)) {}
  Context& operator=(Context&&) = delete;
  ~Context();
  void make_current() const;
  [[nodiscard]] CUcontext get() const noexcept { return context_; }

 private:
  CUdevice device_ = -1;
  CUcontext context_ = nullptr;
};

/// A kernel of a loaded module; a view, valid as long as its Module.
struct Function {
  CUfunction handle = nullptr;
  std::string name;
  std::vector<int> parameter_bytes;  ///< from cuFuncGetParamInfo
};

/// A loaded cubin.
class Module {
 public:
  /// Throws: CudaError (wrong architecture, damaged image).
  explicit Module(const std::string& cubin);
  Module(Module&& other) noexcept : module_(std::exchange(other.module_, nullptr)) {}
  Module& operator=(Module&& other) noexcept;
  ~Module();
  /// By its name, of C++ as base::kernel_symbol reads it. Throws: Error with ExitCode::Spec naming the kernel when the module has none of
  /// that name, or several.
  [[nodiscard]] Function function(const std::string& name) const;
  /// Address and bytes of a __constant__ or __device__ variable.
  [[nodiscard]] std::pair<CUdeviceptr, std::size_t> global(const std::string& name) const;

 private:
  CUmodule module_ = nullptr;
};

/// Device memory.
class Buffer {
 public:
  Buffer() = default;
  /// Throws: EnvironmentError naming bytes asked for and free when the device has not enough.
  explicit Buffer(std::size_t bytes);
  Buffer(Buffer&& other) noexcept : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
};

class Stream {
 public:
  Stream();
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream();
  [[nodiscard]] CUstream get() const noexcept { return stream_; }
  void synchronize() const;

 private:
  CUstream stream_ = nullptr;
};

class Event {
 public:
  Event();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event();
  void record(const Stream& stream) const;
  void synchronize() const;
  [[nodiscard]] CUevent get() const noexcept { return event_; }

 private:
  CUevent event_ = nullptr;
};

/// Units: microseconds. Requires: both recorded and completed.
[[nodiscard]] double elapsed_us(const Event& start, const Event& end);

/// An executable graph captured from a stream.
class Graph {
 public:
  /// Captures what `enqueue` puts on the stream (cuStreamBeginCapture, relaxed), instantiates and uploads it.
  template <class Enqueue>
  static Graph capture(const Stream& stream, Enqueue&& enqueue) {
    begin(stream);
    try {
      enqueue();
    } catch (...) {
      abandon(stream);
      throw;
    }
    return finish(stream);
  }
  Graph(Graph&& other) noexcept : exec_(std::exchange(other.exec_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();
  void launch(const Stream& stream) const;

 private:
  explicit Graph(CUgraphExec exec) : exec_(exec) {}
  static void begin(const Stream& stream);
  static void abandon(const Stream& stream) noexcept;
  static Graph finish(const Stream& stream);
  CUgraphExec exec_ = nullptr;
};

/// A resolved launch bound to its compiled kernel: geometry and attributes are prepared once, `enqueue` only fills in
/// arguments. Sets the >48 KB dynamic shared memory attribute and the non-portable cluster size where needed.
class BoundLaunch {
 public:
  /// Throws: SpecError-like Error when the number or the sizes of the arguments differ from the compiled kernel
  /// (names the argument), CudaError when an attribute is refused.
  BoundLaunch(const spec::ResolvedLaunch& launch, Function function);
  /// `parameters[i]` points to the i-th argument's bytes. Returns the driver's result: the caller decides whether a
  /// failed launch is data (tuning) or an exception (dispatch). No allocation.
  [[nodiscard]] CUresult enqueue(void** parameters, CUstream stream) const noexcept;
  [[nodiscard]] const spec::ResolvedLaunch& launch() const noexcept { return launch_; }
  [[nodiscard]] const Function& function() const noexcept { return function_; }

 private:
  // What every launch reads comes first.
  const Driver* driver_;
  CUlaunchConfig config_{};  ///< all but the stream, and the address of the attributes, which moves with this object
  Function function_;
  CUlaunchAttribute attributes_[3]{};
  spec::ResolvedLaunch launch_;
};

}  // namespace attune::gpu
