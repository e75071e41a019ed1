#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/spec/device_info.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// A launch that the device cannot make: an empty, negative or too large grid or block, too much shared memory, a
/// cluster where there are none. Of a configuration it is data (Outcome::ExceedsLimits), not a fault of the template.
class LimitError : public SpecError {
 public:
  using SpecError::SpecError;
};

/// Variables that are the same for every configuration: axes, type aliases and device.*. Keeps references to its
/// arguments. The constants of a search space.
[[nodiscard]] Scope problem_scope(const KernelTemplate& kernel, const Problem& problem, const DeviceInfo& device);

/// Variables of a configured problem: those of problem_scope, parameters and lets. Keeps references to its arguments.
/// A `let` is evaluated on first use; a failing one throws SpecError at its place in template.json.
[[nodiscard]] Scope make_scope(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                               const DeviceInfo& device);

/// Whether the configuration satisfies every constraint for this problem on this device.
[[nodiscard]] bool satisfies(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                             const DeviceInfo& device);

/// The first row of the template's table "defaults" whose condition holds and whose configuration satisfies every constraint; null: none
/// does. Throws: SpecError at the place of a condition that cannot be evaluated.
[[nodiscard]] const DefaultRow* default_row(const KernelTemplate& kernel, const Problem& problem, const DeviceInfo& device);

/// What is used for this problem on this device where nothing was tuned: the parameters' own defaults, with what default_row says. Throws:
/// as it does.
[[nodiscard]] Configuration default_configuration(const KernelTemplate& kernel, const Problem& problem, const DeviceInfo& device);

struct ResolvedBuffer {
  std::string name;
  ElementType type = ElementType::F32;
  std::int64_t count = 0;  ///< elements
  std::int64_t bytes = 0;
  Fill fill = Fill::Uniform;
  bool input = false;
  bool output = false;
  bool workspace = false;
  WorkspaceInit init = WorkspaceInit::None;
  Memory memory = Memory::Global;
  int align_bytes = 0;
  bool untimed = false;  ///< of setup and check alone (BufferSpec); scratch is empty then in a plan of launches
  /// Range: from, and below; Offsets: how many elements are divided; Constant: the number. Whole numbers are exact. Only data_buffers of
  /// verify says them (resolve_fill of buffer_fill.hpp); elsewhere, and of an empty buffer, there are none.
  std::vector<Value> fill_bounds = {};
};

struct ResolvedArgument {
  enum class Kind { Buffer, Scalar, Bits } kind = Kind::Bits;
  int index = 0;           ///< into buffers or scalars
  std::uint64_t bits = 0;  ///< of Bits: little-endian, `size_bytes` of it
  int size_bytes = 8;
};

struct ResolvedLaunch {
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{0, 0, 0};  ///< all zero: no cluster
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  bool dependent = false;  ///< programmatic dependent launch
  std::vector<ResolvedArgument> arguments;
};

struct ResolvedMemset {
  int buffer = 0;
  int byte = 0;
};

using ResolvedStep = std::variant<ResolvedMemset, ResolvedLaunch>;

struct ResolvedScalar {
  std::string name;
  ElementType type = ElementType::F32;
  std::uint64_t bits = 0;
};

/// A scalar with the value that tuning passes, of this problem. Throws: SpecError at the value's place in template.json (its
/// type cannot hold it, or it cannot be computed); UsageError when the problem lacks an axis.
[[nodiscard]] ResolvedScalar resolve_scalar(const KernelTemplate& kernel, const Problem& problem, const ScalarSpec& scalar);

/// Everything that is needed to run one configured problem, except the compiled code and the addresses.
struct LaunchPlan {
  std::vector<ResolvedBuffer> buffers;  ///< in template order
  std::vector<ResolvedScalar> scalars;
  std::vector<ResolvedStep> steps;  ///< conditions evaluated, repeats unrolled
  std::int64_t work_bytes = 0;
  std::int64_t work_operations = 0;
};

/// In order; valid as long as the plan.
[[nodiscard]] std::vector<const ResolvedLaunch*> launches_of(const LaunchPlan& plan);

/// Evaluates geometry, counts and arguments. Throws: LimitError when the device cannot launch it, SpecError for what is
/// wrong on every device (an argument out of its type's range, a negative count), both at the expression's place in
/// template.json; UsageError when the problem lacks an axis.
[[nodiscard]] LaunchPlan resolve(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                 const DeviceInfo& device);
/// The same; nothing in place of a LimitError, for callers that ask whether there is a launch.
[[nodiscard]] std::optional<LaunchPlan> resolve_if_launchable(const KernelTemplate& kernel, const Problem& problem,
                                                              const Configuration& configuration, const DeviceInfo& device);
/// The steps of the reference's own kernel, over the same buffers.
[[nodiscard]] LaunchPlan resolve_reference(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                           const DeviceInfo& device);

/// Other steps than the template's own, over its buffers. `what`: in front of what a LimitError says, "setup: ".
[[nodiscard]] LaunchPlan resolve_steps(const KernelTemplate& kernel, const std::vector<StepSpec>& steps, const Problem& problem,
                                       const Configuration& configuration, const DeviceInfo& device, const char* what = "");

/// The template's options for NVRTC, those whose condition holds, with values for names. Boolean values are `true` and `false`.
/// Throws: SpecError at an option that no template may give (compiler_options.hpp).
[[nodiscard]] std::vector<std::string> compiler_options(const KernelTemplate& kernel, const Problem& problem,
                                                        const Configuration& configuration, const DeviceInfo& device);

/// The program that NVRTC compiles: the headers that the types need and that the chosen files begin with
/// (`#include <...>` lines), closed by `#pragma nv_hdrstop`, so that they are precompiled; nothing of that without such
/// headers. Then one `#define`/`using` prelude from problem types, choices and Source-bound parameters, then the chosen
/// files, each behind `#line 1 "<file>"`, and instantiations of the kernel templates that are launched. Equal texts and options mean equal
/// cubins. Sizes never enter. `ATTUNE_P`, `ATTUNE_P_<VALUE>` (string values, 1 or 0 for every declared value), `using attune_T` with
/// `ATTUNE_T` as its second spelling, and `ATTUNE_T_<TYPE>` (1 or 0); see docs/template-format.md. Throws: SpecError when no source's
/// condition holds.
[[nodiscard]] std::string make_source(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                      const DeviceInfo& device);

}  // namespace attune::spec
