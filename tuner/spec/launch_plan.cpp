#include "tuner/spec/launch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/kernel_name.hpp"
#include "tuner/spec/macros.hpp"
#include "tuner/spec/scalar_bits.hpp"
#include "tuner/spec/spec_limits.hpp"
#include "tuner/spec/stated_work.hpp"

namespace attune::spec {
namespace {

constexpr std::int64_t kMaximumRepeats = 65536;                 ///< unrolled launches; more is a mistake in the count
constexpr std::size_t kMaximumUnrolled = std::size_t{1} << 20;  ///< launches and their arguments of one plan
constexpr std::int64_t kMaximumBytes = std::int64_t{1} << 48;
// Above 8 a device may refuse the launch, which is recorded like any other failure then.
constexpr std::uint64_t kMostClusterBlocks = 16;

std::optional<Value> axis_value(const KernelTemplate& kernel, const Problem& problem, std::string_view name) {
  const ProblemAxis* axis = kernel.axis(name);
  if (axis == nullptr) return std::nullopt;
  if (axis->kind != AxisKind::Size) {
    if (const auto found = problem.choices.find(axis->name); found != problem.choices.end()) return found->second;
    if (!axis->default_value.empty()) return axis->default_value;
  } else if (const auto found = problem.sizes.find(axis->name); found != problem.sizes.end()) {
    return found->second;
  }
  throw UsageError(fmt::format("the problem {} gives no '{}' for template '{}'", to_text(problem), name, kernel.name));
}

std::optional<Value> axis_or_alias(const KernelTemplate& kernel, const Problem& problem, std::string_view name) {
  if (std::optional<Value> value = axis_value(kernel, problem, name)) return value;
  for (const KernelTemplate::TypeAlias& alias : kernel.types) {
    if (alias.name == name) return resolve_type(kernel, alias.name, problem);
  }
  return std::nullopt;
}

/// The variables of a configured problem. Copies share the lets, each evaluated at most once.
struct ConfiguredScope {
  const KernelTemplate& kernel;
  const Problem& problem;
  const Configuration& configuration;
  const DeviceInfo& device;
  std::shared_ptr<std::vector<std::optional<Value>>> lets;

  std::optional<Value> operator()(std::string_view name) const {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      if (kernel.parameters[i].name == name) return value_of(kernel, configuration, i);
    }
    for (std::size_t i = 0; i < kernel.lets.size(); ++i) {
      if (kernel.lets[i].first != name) continue;
      std::optional<Value>& value = (*lets)[i];
      if (!value) value = kernel.lets[i].second.evaluate(*this);  // a let only reaches earlier ones: this ends
      return value;
    }
    return problem_scope(kernel, problem, device)(name);
  }
};

/// Turns the steps of a template into those of one problem and configuration.
class Resolver {
 public:
  Resolver(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration, const DeviceInfo& device,
           const char* what = "")
      : kernel_(kernel), problem_(problem), device_(device), scope_(make_scope(kernel, problem, configuration, device)), what_(what) {}

  /// Throws: LimitError where the device cannot make one of the launches.
  LaunchPlan run(const std::vector<StepSpec>& steps) {
    auto plan = run_if_launchable(steps);
    if (!plan) throw LimitError(*exceeded_);
    return *std::move(plan);
  }

  /// Nothing where the device cannot make one of the launches.
  std::optional<LaunchPlan> run_if_launchable(const std::vector<StepSpec>& steps) {
    for (const BufferSpec& buffer : kernel_.buffers) plan_.buffers.push_back(resolve_buffer(buffer));
    for (const ScalarSpec& scalar : kernel_.scalars) plan_.scalars.push_back(resolve_scalar(kernel_, problem_, scalar));
    for (const StepSpec& step : steps) {
      if (const MemsetSpec* memset = std::get_if<MemsetSpec>(&step)) {
        if (!memset->condition || memset->condition->truth(scope_))
          plan_.steps.emplace_back(ResolvedMemset{buffer_index(memset->buffer), memset->byte});
      } else if (!resolve_repeats(std::get<LaunchSpec>(step))) {
        return std::nullopt;
      }
    }
    const StatedWork work = stated_work(kernel_, scope_);
    plan_.work_bytes = work.bytes;
    plan_.work_operations = work.operations;
    return std::move(plan_);
  }

 private:
  /// Always false, which is what every step returns where the device cannot make a launch: nothing behind it is read.
  bool refuse(const Expression& expression, const std::string& message) {
    const SourcePosition& at = expression.position();
    exceeded_.emplace(at.file, at.line, at.column, fmt::format("{}{} (\"{}\")", what_, message, expression.text()));
    return false;
  }

  [[nodiscard]] int buffer_index(const std::string& name) const {
    const auto found = std::find_if(kernel_.buffers.begin(), kernel_.buffers.end(), [&](const BufferSpec& b) { return b.name == name; });
    return found == kernel_.buffers.end() ? -1 : static_cast<int>(found - kernel_.buffers.begin());
  }

  [[nodiscard]] int scalar_index(const std::string& name) const {
    const auto found = std::find_if(kernel_.scalars.begin(), kernel_.scalars.end(), [&](const ScalarSpec& s) { return s.name == name; });
    return found == kernel_.scalars.end() ? -1 : static_cast<int>(found - kernel_.scalars.begin());
  }

  [[nodiscard]] ResolvedBuffer resolve_buffer(const BufferSpec& spec) const {
    ResolvedBuffer buffer{spec.name,
                          element_type(resolve_type(kernel_, spec.type, problem_)),
                          spec.count.integer(scope_),
                          0,
                          spec.fill,
                          spec.input,
                          spec.output,
                          spec.workspace,
                          spec.init,
                          spec.memory,
                          spec.align_bytes,
                          spec.untimed};
    const std::int64_t element_bytes = std::int64_t{spec.lanes} * size_bytes(buffer.type);
    if (buffer.count < 0)
      fail(spec.count.position(), fmt::format("the count of the buffer '{}' is {} (\"{}\")", spec.name, buffer.count, spec.count.text()));
    if (buffer.count > kMaximumBytes / element_bytes)
      fail(spec.count.position(),
           fmt::format("the buffer '{}' of {} elements passes 2^48 bytes (\"{}\")", spec.name, buffer.count, spec.count.text()));
    buffer.bytes = buffer.count * element_bytes;
    buffer.count *= spec.lanes;
    return buffer;
  }

  bool resolve_repeats(const LaunchSpec& spec) {
    if (!spec.repeat) return resolve_launch(spec, scope_);
    const std::int64_t count = spec.repeat->count.integer(scope_);
    if (count < 0 || count > kMaximumRepeats)
      fail(spec.repeat->count.position(),
           fmt::format("the repeat count is {}; it must be 0 to {} (\"{}\")", count, kMaximumRepeats, spec.repeat->count.text()));
    for (std::int64_t index = 0; index < count; ++index) {
      const auto repeated = [&, index](std::string_view name) {
        return name == spec.repeat->index ? std::optional<Value>(index) : scope_(name);
      };
      if (!resolve_launch(spec, repeated)) return false;
    }
    return true;
  }

  bool resolve_launch(const LaunchSpec& spec, const Scope& scope) {
    unrolled_ += 1 + spec.arguments.size();
    if (unrolled_ > kMaximumUnrolled) {
      const SourcePosition& at = spec.grid.front().position();
      fail(at, fmt::format("the launches and their arguments, each as often as it is repeated, are more than {}; repeat fewer",
                           kMaximumUnrolled));
    }
    if (spec.condition && !spec.condition->truth(scope)) return true;
    ResolvedLaunch launch;
    launch.kernel = kernel_name(kernel_, spec, problem_, scope);
    unrolled_ += launch.kernel.size() / kMostNameBytes;
    if (!dimensions(spec.grid, scope, "grid", {2147483647, 65535, 65535}, launch.grid)) return false;
    if (!dimensions(spec.block, scope, "block", {1024, 1024, 64}, launch.block)) return false;
    const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads > static_cast<std::uint64_t>(device_.max_threads_per_block))
      return refuse(spec.block.front(),
                    fmt::format("the block of {} threads exceeds the device's limit of {}", threads, device_.max_threads_per_block));
    if (!resolve_cluster(spec, scope, launch)) return false;
    if (spec.shared_bytes && !resolve_shared(*spec.shared_bytes, scope, launch)) return false;
    launch.cooperative = spec.cooperative;
    if (spec.cooperative && !device_.cooperative_launch)
      return refuse(spec.grid.front(), fmt::format("the cooperative launch of '{}' exceeds the device's abilities", spec.kernel));
    launch.dependent = spec.dependent && spec.dependent->truth(scope);
    if (launch.dependent && plan_.steps.empty())
      return refuse(*spec.dependent,
                    fmt::format("the dependent launch of '{}' is the first step here: it would overlap the caller's work; let the "
                                "condition not hold where no step is before it",
                                spec.kernel));
    if (launch.dependent && device_.compute_capability < 90)
      return refuse(*spec.dependent, fmt::format("the dependent launch of '{}' exceeds the device's abilities", spec.kernel));
    for (const ArgumentSpec& argument : spec.arguments) launch.arguments.push_back(resolve_argument(argument, spec, scope));
    plan_.steps.emplace_back(std::move(launch));
    return true;
  }

  /// Those that are not stated stay as they are.
  bool dimensions(const std::vector<Expression>& expressions, const Scope& scope, const char* what,
                  const std::array<std::int64_t, 3>& limits, std::array<std::uint32_t, 3>& result) {
    static constexpr std::array<char, 3> kNames = {'x', 'y', 'z'};
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      const std::int64_t value = expressions[i].integer(scope);
      if (value < 1)
        return refuse(expressions[i], fmt::format("{}.{} is {}; the device's limits are 1 to {}", what, kNames[i], value, limits[i]));
      if (value > limits[i])
        return refuse(expressions[i], fmt::format("{}.{} of {} exceeds the device's limit of {}", what, kNames[i], value, limits[i]));
      result[i] = static_cast<std::uint32_t>(value);
    }
    return true;
  }

  bool resolve_cluster(const LaunchSpec& spec, const Scope& scope, ResolvedLaunch& launch) {
    if (spec.cluster.empty() || (spec.cluster_condition && !spec.cluster_condition->truth(scope))) return true;
    const Expression& first = spec.cluster.front();
    if (device_.compute_capability < 90)
      return refuse(first, fmt::format("a cluster exceeds the abilities of {}: clusters begin with sm_90", device_.architecture));
    launch.cluster = {1, 1, 1};
    if (!dimensions(spec.cluster, scope, "cluster", {16, 16, 16}, launch.cluster)) return false;
    const std::uint64_t blocks = std::uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2];
    if (blocks > kMostClusterBlocks)
      return refuse(first, fmt::format("a cluster of {} blocks exceeds the limit of {} of every device", blocks, kMostClusterBlocks));
    for (std::size_t i = 0; i < 3; ++i) {
      if (launch.grid[i] % launch.cluster[i] != 0)
        return refuse(first,
                      fmt::format("the grid of {} blocks is no multiple of the cluster's {}; the device's limits ask for whole clusters",
                                  launch.grid[i], launch.cluster[i]));
    }
    return true;
  }

  bool resolve_shared(const Expression& expression, const Scope& scope, ResolvedLaunch& launch) {
    const std::int64_t bytes = expression.integer(scope);
    if (bytes < 0 || bytes > device_.shared_optin_bytes)
      return refuse(expression,
                    fmt::format("{} bytes of shared memory exceed the device's limit of {}", bytes, device_.shared_optin_bytes));
    launch.shared_bytes = static_cast<std::uint32_t>(bytes);
    return true;
  }

  /// Types and choices pass as their numbers; only the kernels of references take them.
  [[nodiscard]] Value numbered(const std::string& name, const Value& value) const {
    const auto* const word = std::get_if<std::string>(&value);
    if (word == nullptr) return value;
    const ProblemAxis* axis = kernel_.axis(name);
    if (axis == nullptr || axis->kind != AxisKind::Choice) return static_cast<std::int64_t>(element_type(*word));
    return static_cast<std::int64_t>(std::find(axis->values.begin(), axis->values.end(), *word) - axis->values.begin());
  }

  [[nodiscard]] ResolvedArgument resolve_argument(const ArgumentSpec& spec, const LaunchSpec& launch, const Scope& scope) const {
    if (const int buffer = buffer_index(spec.name); buffer >= 0) return {ResolvedArgument::Kind::Buffer, buffer, 0, 8};
    if (const int scalar = scalar_index(spec.name); scalar >= 0) {
      return {ResolvedArgument::Kind::Scalar, scalar, 0, size_bytes(plan_.scalars[static_cast<std::size_t>(scalar)].type)};
    }
    const ElementType type = spec.type.value_or(ElementType::I64);
    const Value value = numbered(spec.name, scope(spec.name).value());  // the parser has checked the name
    const std::optional<std::uint64_t> bits = scalar_bits(value, type);
    if (!bits) {
      fail(spec.position,
           fmt::format("the argument '{}' of kernel '{}' is {}, which is no {}; {}", spec.name, launch.kernel, to_text(value), name(type),
                       spec.type ? "widen its type" : fmt::format(R"(give a type, e.g. {{"{}": "f32"}})", spec.name)));
    }
    return {ResolvedArgument::Kind::Bits, 0, *bits, size_bytes(type)};
  }

  const KernelTemplate& kernel_;
  const Problem& problem_;
  const DeviceInfo& device_;
  Scope scope_;
  const char* what_;  ///< in front of what a LimitError says
  LaunchPlan plan_;
  std::size_t unrolled_ = 0;
  std::optional<LimitError> exceeded_;
};

}  // namespace

Scope problem_scope(const KernelTemplate& kernel, const Problem& problem, const DeviceInfo& device) {
  return [&kernel, &problem, &device](std::string_view name) -> std::optional<Value> {
    if (name.starts_with("device.")) return device.attribute(name.substr(7));
    return axis_or_alias(kernel, problem, name);
  };
}

ResolvedScalar resolve_scalar(const KernelTemplate& kernel, const Problem& problem, const ScalarSpec& scalar) {
  const ElementType type = element_type(resolve_type(kernel, scalar.type, problem));
  const Value value = scalar.value.evaluate([&](std::string_view name) { return axis_or_alias(kernel, problem, name); });
  const std::optional<std::uint64_t> bits = scalar_bits(value, type);
  if (!bits) {
    fail(scalar.value.position(), fmt::format("the value of the scalar '{}' is {} for {}, which is no {} (\"{}\")", scalar.name,
                                              to_text(value), to_text(problem), name(type), scalar.value.text()));
  }
  return {scalar.name, type, *bits};
}

Scope make_scope(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
  return ConfiguredScope{kernel, problem, configuration, device, std::make_shared<std::vector<std::optional<Value>>>(kernel.lets.size())};
}

bool satisfies(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
  const Scope scope = make_scope(kernel, problem, configuration, device);
  return std::all_of(kernel.constraints.begin(), kernel.constraints.end(),
                     [&](const Constraint& constraint) { return constraint.expression.truth(scope); });
}

std::vector<const ResolvedLaunch*> launches_of(const LaunchPlan& plan) {
  std::vector<const ResolvedLaunch*> launches;
  for (const auto& step : plan.steps)
    if (const auto* const launch = std::get_if<ResolvedLaunch>(&step)) launches.push_back(launch);
  return launches;
}

namespace {

/// The launches leave alone what only other steps have.
void drop_scratch_of_others(LaunchPlan& plan) {
  for (ResolvedBuffer& buffer : plan.buffers)
    if (buffer.untimed && buffer.workspace) buffer.count = buffer.bytes = 0;
}

}  // namespace

LaunchPlan resolve(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
  LaunchPlan plan = Resolver(kernel, problem, configuration, device).run(kernel.steps);
  drop_scratch_of_others(plan);
  return plan;
}

std::optional<LaunchPlan> resolve_if_launchable(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                                const DeviceInfo& device) {
  auto plan = Resolver(kernel, problem, configuration, device).run_if_launchable(kernel.steps);
  if (plan) drop_scratch_of_others(*plan);
  return plan;
}

LaunchPlan resolve_steps(const KernelTemplate& kernel, const std::vector<StepSpec>& steps, const Problem& problem,
                         const Configuration& configuration, const DeviceInfo& device, const char* what) {
  return Resolver(kernel, problem, configuration, device, what).run(steps);
}

LaunchPlan resolve_reference(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                             const DeviceInfo& device) {
  if (kernel.reference.steps.empty()) {
    throw UsageError(fmt::format("template '{}' has no reference kernel", kernel.name));
  }
  return resolve_steps(kernel, kernel.reference.steps, problem, configuration, device);
}

}  // namespace attune::spec
