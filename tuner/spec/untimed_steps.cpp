#include "tuner/spec/untimed_steps.hpp"

#include <algorithm>
#include <set>

namespace attune::spec {
namespace {

/// What configurations differ in: parameters, and lets that follow from them.
class Differing {
 public:
  explicit Differing(const KernelTemplate& kernel) : kernel_(kernel) {
    for (const Parameter& parameter : kernel.parameters) names_.insert(parameter.name);
    for (const auto& [let, expression] : kernel.lets)
      if (is_in(expression)) names_.insert(let);  // a let uses earlier ones
  }

  [[nodiscard]] bool is_in(const Expression& expression) const {
    const auto& used = expression.variables();
    return std::any_of(used.begin(), used.end(), [&](const std::string& name) { return names_.contains(name); });
  }
  [[nodiscard]] bool is_in(const StepSpec& step) const {
    if (const auto* const memset = std::get_if<MemsetSpec>(&step)) return is_in(memset->condition) || is_scratch(memset->buffer);
    const auto& launch = std::get<LaunchSpec>(step);
    const auto in_template = [&](const TemplateArgument& argument) {
      const auto* const expression = std::get_if<Expression>(&argument);
      return expression != nullptr && is_in(*expression);
    };
    const auto is_argument = [&](const ArgumentSpec& argument) { return names_.contains(argument.name) || is_scratch(argument.name); };
    return is_in(launch.grid) || is_in(launch.block) || is_in(launch.cluster) || is_in(launch.condition) ||
           is_in(launch.cluster_condition) || is_in(launch.shared_bytes) || (launch.repeat && is_in(launch.repeat->count)) ||
           std::any_of(launch.template_arguments.begin(), launch.template_arguments.end(), in_template) ||
           std::any_of(launch.arguments.begin(), launch.arguments.end(), is_argument);
  }

 private:
  [[nodiscard]] bool is_in(const std::optional<Expression>& expression) const { return expression && is_in(*expression); }
  [[nodiscard]] bool is_in(const std::vector<Expression>& expressions) const {
    return std::any_of(expressions.begin(), expressions.end(), [&](const Expression& expression) { return is_in(expression); });
  }
  /// Whether it is a workspace of another size elsewhere.
  [[nodiscard]] bool is_scratch(const std::string& name) const {
    return std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(),
                       [&](const BufferSpec& buffer) { return buffer.name == name && buffer.workspace && is_in(buffer.count); });
  }

  const KernelTemplate& kernel_;
  std::set<std::string> names_;
};

}  // namespace

bool names_buffer(const std::vector<StepSpec>& steps, const std::string& buffer) {
  return std::any_of(steps.begin(), steps.end(), [&](const StepSpec& step) {
    if (const auto* const memset = std::get_if<MemsetSpec>(&step)) return memset->buffer == buffer;
    const auto& arguments = std::get<LaunchSpec>(step).arguments;
    return std::any_of(arguments.begin(), arguments.end(), [&](const ArgumentSpec& argument) { return argument.name == buffer; });
  });
}

bool depends_on_parameters(const KernelTemplate& kernel, const std::vector<StepSpec>& steps) {
  const Differing differing(kernel);
  return std::any_of(steps.begin(), steps.end(), [&](const StepSpec& step) { return differing.is_in(step); });
}

bool depends_on_parameters(const KernelTemplate& kernel, const Expression& expression) { return Differing(kernel).is_in(expression); }

bool check_names_scratch_of_launches(const KernelTemplate& kernel) {
  return std::any_of(kernel.buffers.begin(), kernel.buffers.end(), [&](const BufferSpec& buffer) {
    return buffer.workspace && !buffer.untimed && names_buffer(kernel.check, buffer.name);
  });
}

LaunchPlan resolve_setup(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                         const DeviceInfo& device) {
  LaunchPlan plan = resolve_steps(kernel, kernel.setup, problem, configuration, device, "setup: ");
  for (ResolvedBuffer& buffer : plan.buffers) buffer.workspace = buffer.workspace && names_buffer(kernel.setup, buffer.name);
  return plan;
}

LaunchPlan resolve_check(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                         const DeviceInfo& device) {
  LaunchPlan plan = resolve_steps(kernel, kernel.check, problem, configuration, device, "check: ");
  for (ResolvedBuffer& buffer : plan.buffers)
    buffer.workspace = buffer.workspace && buffer.untimed && names_buffer(kernel.check, buffer.name);
  return plan;
}

std::vector<UntimedPlan> resolve_own_untimed(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                             const DeviceInfo& device) {
  std::vector<UntimedPlan> plans;
  if (has_own_setup(kernel)) plans.push_back({"setup", &kernel.setup, resolve_setup(kernel, problem, configuration, device)});
  if (!kernel.check.empty()) plans.push_back({"check", &kernel.check, resolve_check(kernel, problem, configuration, device)});
  return plans;
}

}  // namespace attune::spec
