#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tuner/spec/untimed_steps.hpp"
#include "tuner/verify/call.hpp"

namespace attune::verify {

/// The steps of setup or of check, bound to code, with scratch of their own. Nobody times them.
class UntimedCall {
 public:
  /// `plan`: of spec::resolve_setup or spec::resolve_check. Throws: as Call.
  UntimedCall(spec::LaunchPlan plan, const gpu::Module& module);

  [[nodiscard]] std::size_t scratch_bytes() const noexcept { return layout_.bytes(); }
  /// Requires: `scratch_bytes` are there, before the first call and for as long as there are any.
  void set_scratch(CUdeviceptr start) noexcept { scratch_ = start; }
  /// Puts them onto the stream, its scratch between guards. `addresses`: of the template's buffers, but for scratch that nobody else has.
  void enqueue(Addresses addresses, Support& support) const;
  /// Begins checks that the last call wrote nothing around its scratch.
  void check_guards(Support& support) const;

 private:
  spec::LaunchPlan plan_;
  Call call_;
  BufferLayout layout_;
  CUdeviceptr scratch_ = 0;
};

/// What a configuration runs beside its launches, by its own code.
struct Untimed {
  std::optional<UntimedCall> setup;  ///< nothing where all configurations share it, or there is none
  std::optional<UntimedCall> check;

  /// Throws: SpecError (LimitError among them), CudaError, Error (arguments).
  Untimed(const spec::KernelTemplate& kernel, const spec::Problem& problem, const spec::Configuration& configuration,
          const gpu::Module& module, const spec::DeviceInfo& device);

  [[nodiscard]] std::size_t scratch_bytes() const;
  void set_scratch(CUdeviceptr start);
  [[nodiscard]] const UntimedCall* own_setup() const { return setup ? &*setup : nullptr; }
};

/// The prepared buffers of a problem, and what they must still hold after a call.
class PreparedBuffers {
 public:
  /// `setup_cubin`: of the setup that all configurations share; empty where there is none.
  /// Throws: CudaError, Error (the template has such a setup, and its code is not there).
  PreparedBuffers(const spec::KernelTemplate& kernel, const std::string& setup_cubin, Support& support);

  /// The setup that all configurations share, for a problem; nothing where there is none. Throws: as Untimed.
  [[nodiscard]] std::optional<UntimedCall> shared_setup(const spec::Problem& problem) const;
  /// Device memory of the copies of a case.
  [[nodiscard]] std::size_t copy_bytes(const std::vector<spec::ResolvedBuffer>& buffers) const;
  void allocate_copies(std::size_t bytes) { copies_ = gpu::Buffer(bytes); }

  /// Poisons them and has setup write them. `buffers`: of the case; `addresses`: of its data.
  void write(const std::vector<spec::ResolvedBuffer>& buffers, const Addresses& addresses, const UntimedCall& setup);
  /// Remembers what they hold, in place of what was remembered before.
  void keep(const std::vector<spec::ResolvedBuffer>& buffers, const Addresses& addresses);
  /// Begins checks that they still hold what was kept.
  void check(const std::vector<spec::ResolvedBuffer>& buffers, const Addresses& addresses);

 private:
  template <class Use>
  void for_each(const std::vector<spec::ResolvedBuffer>& buffers, Use use) const;

  const spec::KernelTemplate* kernel_;
  Support* support_;
  std::optional<gpu::Module> module_;
  gpu::Buffer copies_;
};

}  // namespace attune::verify
