#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "attune/error.hpp"

struct CUstream_st;  // the same type as cudaStream_t and CUstream; no CUDA header is included here

namespace attune {

using Stream = CUstream_st*;

enum class Op { Sum, Min, Max };

/// Which rung of the lookup ladder a plan came from.
enum class Tier {
  ExactSize,      ///< tuned on this device at this size
  NearestSize,    ///< tuned on this device at another size (nearest in log size whose constraints hold here)
  SiblingDevice,  ///< tuned on another device of the same architecture
  OtherDevice,    ///< tuned on the nearest other architecture
  Default,        ///< the template's default: nothing usable was recorded
};
[[nodiscard]] const char* name(Tier tier);  ///< "exact size", "nearest size", ...

/// Why a problem is dispatched as it is. Reading one is cheap; it is plain data.
struct Decision {
  Tier tier = Tier::Default;
  std::string configuration;             ///< canonical JSON
  std::string donor_problem;             ///< canonical JSON of the record it came from; empty for Default
  std::string donor_device;              ///< name of the donor's device
  std::string recorded_at;               ///< UTC of that record
  double median_us = 0;                  ///< the donor's run-off time; 0 for Default
  bool aged = false;                     ///< recorded under another driver
  std::string layer;                     ///< database file it came from
  std::vector<std::string> passed_over;  ///< closer candidates and why each was refused, nearest first
  bool compiled = false;                 ///< NVRTC had to run in this process
  std::string cubin_source;              ///< "database", "cache" or "compiled"; of explain(): where it would come from
};
/// The decision in a few lines of text. No trailing newline.
[[nodiscard]] std::string describe(const Decision& decision);

/// One run-time argument: a device address or a scalar of up to 8 bytes.
struct Argument {
  std::uint64_t bits = 0;
  std::uint32_t size_bytes = 0;
  static Argument pointer(const void* device_address) { return {reinterpret_cast<std::uint64_t>(device_address), 8}; }
  template <class T>
  static Argument scalar(T value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    Argument argument{0, sizeof(T)};
    __builtin_memcpy(&argument.bits, &value, sizeof(T));
    return argument;
  }
};

struct Options {
  /// Database layers in order. Empty: the user's file ($ATTUNE_DB, else attune/attune.db in the XDG data folder), then
  /// the shipped one ($ATTUNE_SHIPPED_DB, else the installed file). Naming a file also says that its stored cubins may
  /// be loaded; those of default layers are loaded only from files that this user owns.
  std::vector<std::filesystem::path> databases;
  /// Folders searched for templates before the built-in ones.
  std::vector<std::filesystem::path> templates;
  /// Objective policy to dispatch for: "cold/graph", "cold/stream", "hot/graph" or "hot/stream".
  std::string policy = "cold/graph";
};

/// Counters of one Runtime, for tests and curiosity.
struct RuntimeCounters {
  std::uint64_t launches = 0;
  std::uint64_t plans_built = 0;     ///< slow path: lookup, resolve, load
  std::uint64_t compiles = 0;        ///< NVRTC runs in this process
  std::uint64_t database_reads = 0;  ///< walks of the lookup ladder through the database layers
};

class Runtime;
namespace detail {
struct KernelState;
struct PlanState;
}  // namespace detail

/// A fixed choice for fixed sizes: configuration, loaded code, geometry. Cheap to copy; valid while its Runtime lives,
/// in the context it was made in.
class Plan {
 public:
  [[nodiscard]] std::size_t workspace_bytes() const;
  [[nodiscard]] const Decision& decision() const;
  /// `arguments`: the template's non-workspace buffers in declaration order, then its scalars.
  /// `workspace`: `workspace_bytes()` of device memory, 256-byte aligned, for this stream alone, zero before its first
  /// use (every launch leaves `zero_once` scratch zero); may be null when none is needed.
  /// Safe under stream capture. Throws: UsageError (count, size or alignment of arguments, null addresses, missing or
  /// misaligned workspace, another context is current), CudaError. Nothing is launched after a UsageError.
  void launch(const Argument* arguments, std::size_t count, void* workspace, Stream stream) const;
  void launch(std::initializer_list<Argument> arguments, void* workspace, Stream stream) const {
    launch(arguments.begin(), arguments.size(), workspace, stream);
  }

 private:
  friend class Kernel;
  explicit Plan(const detail::PlanState* state) : state_(state) {}
  const detail::PlanState* state_;
};

/// A template with its types and choices fixed; a thread-safe handle, cheap to copy; valid while its Runtime lives.
class Kernel {
 public:
  /// Looks up (or builds) the plan for these sizes on the current context's device and launches it; after the first
  /// call for a size there is no lock, allocation, SQL or system call of attune's. Scratch is kept per stream.
  /// Shapes:   `sizes` in the template's declaration order of size axes; `arguments` as Plan::launch.
  /// Requires: a current context, to which `stream` belongs; the context outlives the Runtime.
  /// Throws:   UsageError, EnvironmentError (no driver), CompileError, CudaError; under capture UsageError also when
  /// the
  ///           plan is not prepared or needs scratch (use Plan::launch with a workspace of your own).
  void launch(const std::int64_t* sizes, std::size_t size_count, const Argument* arguments, std::size_t count,
              Stream stream) const;
  void launch(std::initializer_list<std::int64_t> sizes, std::initializer_list<Argument> arguments,
              Stream stream) const {
    launch(sizes.begin(), sizes.size(), arguments.begin(), arguments.size(), stream);
  }
  /// Builds and loads the plans of every size that was tuned on this device now. Sizes in between are prepared by name.
  void prepare() const;
  void prepare(std::initializer_list<std::int64_t> sizes) const;
  [[nodiscard]] Plan plan(std::initializer_list<std::int64_t> sizes) const;
  /// What `launch` would use, without loading anything on the device.
  [[nodiscard]] Decision explain(std::initializer_list<std::int64_t> sizes) const;
  /// The same for a device that need not be here: the name of a device some layer holds records of ("NVIDIA H200"), or
  /// an architecture ("sm_90"). Needs no driver. Throws: UsageError listing what is known.
  [[nodiscard]] Decision explain_on(const std::string& device, std::initializer_list<std::int64_t> sizes) const;

 private:
  friend class Runtime;
  explicit Kernel(detail::KernelState* state) : state_(state) {}
  detail::KernelState* state_;
};

/// Typed front end of the `reduce` template.
template <class T>
class Reduce {
 public:
  explicit Reduce(Kernel kernel) : kernel_(kernel) {}
  using Result = std::conditional_t<sizeof(T) == 1, std::int32_t, T>;  ///< i8 accumulates into i32, modulo 2^32
  /// out[0] = op over in[0..n); n = 0 writes the operator's identity. Device addresses.
  void operator()(const T* in, std::int64_t n, Result* out, Stream stream) const {
    kernel_.launch({n}, {Argument::pointer(in), Argument::pointer(out)}, stream);
  }
  void prepare() const { kernel_.prepare(); }
  [[nodiscard]] Plan plan(std::int64_t n) const { return kernel_.plan({n}); }
  [[nodiscard]] Decision explain(std::int64_t n) const { return kernel_.explain({n}); }
  [[nodiscard]] Decision explain_on(const std::string& device, std::int64_t n) const {
    return kernel_.explain_on(device, {n});
  }
  [[nodiscard]] const Kernel& kernel() const { return kernel_; }

 private:
  Kernel kernel_;
};

/// The dispatcher: opens the database layers read-only and hands out kernels. Thread-safe. No CUDA call happens before
/// the first launch, plan, prepare or explain. docs/dispatch.md is the long form.
class Runtime {
 public:
  /// Throws: only on misuse: UsageError (an Options path that does not exist, an unknown policy), DatabaseError (a file
  /// named in Options::databases cannot be read). A missing or damaged default database is no error: templates run
  /// with their defaults; `notices()` says so.
  explicit Runtime(Options options = {});
  /// Waits for the work of the contexts it launched in, then unloads its code and frees its scratch.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// `choices`: a value for every type and choice axis of the template.
  /// Throws: UsageError (unknown template, axis or value), SpecError.
  [[nodiscard]] Kernel kernel(const std::string& name, const std::map<std::string, std::string>& choices);
  template <class T>
  [[nodiscard]] Reduce<T> reduce(Op op);

  [[nodiscard]] RuntimeCounters counters() const;
  [[nodiscard]] std::vector<std::string> notices() const;

  struct State;  ///< implementation

 private:
  std::unique_ptr<State> state_;
};

namespace detail {
template <class T>
struct TypeName;
template <>
struct TypeName<float> {
  static constexpr const char* value = "f32";
};
template <>
struct TypeName<double> {
  static constexpr const char* value = "f64";
};
template <>
struct TypeName<std::int32_t> {
  static constexpr const char* value = "i32";
};
template <>
struct TypeName<std::int8_t> {
  static constexpr const char* value = "i8";
};
}  // namespace detail

template <class T>
Reduce<T> Runtime::reduce(Op op) {
  const char* const names[] = {"sum", "min", "max"};
  return Reduce<T>(kernel("reduce", {{"T", detail::TypeName<T>::value}, {"op", names[static_cast<int>(op)]}}));
}

}  // namespace attune
