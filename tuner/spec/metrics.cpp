#include "tuner/spec/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "tuner/spec/failure.hpp"

namespace attune::spec {
namespace {

constexpr double kMicrojoulesPerMillijoule = 1000;

/// The scope of a let with what was measured, and the metrics, each evaluated once.
class MetricScope {
 public:
  MetricScope(const KernelTemplate& kernel, const Scope& scope, const Measured& measured)
      : kernel_(kernel), scope_(scope), measured_(measured) {
    for (const MetricSpec& metric : kernel.metrics) {
      if (metric.of_power && measured.power_w <= 0) continue;
      try {
        values_.emplace(metric.name, metric.value.evaluate(as_scope()));
      } catch (const SpecError&) {  // it divides by zero there, say: others have their value, and so has the time
      }
    }
  }

  [[nodiscard]] const std::map<std::string, Value, std::less<>>& values() const noexcept { return values_; }
  [[nodiscard]] Scope as_scope() const {
    return [this](std::string_view name) { return find(name); };
  }

 private:
  [[nodiscard]] std::optional<Value> find(std::string_view name) const {
    if (name == kTimeName) return measured_.time_us;
    if (name == kPowerName) return measured_.power_w;
    if (name == kEnergyName) return measured_.power_w * measured_.time_us / kMicrojoulesPerMillijoule;
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    for (const MetricSpec& metric : kernel_.metrics)
      if (metric.name == name) return metric.value.evaluate(as_scope());  // throws again why it has no value
    return scope_(name);
  }

  const KernelTemplate& kernel_;
  const Scope& scope_;
  const Measured& measured_;
  std::map<std::string, Value, std::less<>> values_;
};

/// Nothing where the value is text, or no finite number.
std::optional<double> finite_number(const Value& value) {
  std::optional<double> number;
  if (const auto* const real = std::get_if<double>(&value)) number = *real;
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*whole);
  if (const auto* const truth = std::get_if<bool>(&value)) number = *truth ? 1 : 0;
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

bool uses_power(const KernelTemplate& kernel) {
  return objective_uses_power(kernel) ||
         std::any_of(kernel.metrics.begin(), kernel.metrics.end(), [](const MetricSpec& metric) { return metric.of_power; });
}

std::map<std::string, double> metrics_of(const KernelTemplate& kernel, const Scope& scope, const Measured& measured) {
  const MetricScope metrics(kernel, scope, measured);
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : metrics.values())
    if (const auto number = finite_number(value)) numbers.emplace(name, *number);
  return numbers;
}

std::string objective_text(const KernelTemplate& kernel, const Configuration& configuration) {
  if (!kernel.objective) return "";
  std::string text;
  for (const std::size_t i : kernel.objective->parameters)
    text += fmt::format("{}={};", kernel.parameters[i].name, to_text(value_of(kernel, configuration, i)));
  return text;
}

double cost_of(const KernelTemplate& kernel, const Scope& scope, const Measured& measured) {
  if (!kernel.objective) return measured.time_us;
  const Expression& objective = kernel.objective->value;
  const auto refuse = [&](const std::string& why) {
    fail(objective.position(), fmt::format("the objective \"{}\" {}", objective.text(), why));
  };
  if (measured.power_w <= 0 && kernel.objective->of_power) refuse("needs the device's power, which was not measured");
  const MetricScope metrics(kernel, scope, measured);
  const Value value = objective.evaluate(metrics.as_scope());
  const double number = finite_number(value).value_or(0);
  if (number <= 0) refuse(fmt::format("is {}, and must be a number above 0", to_text(value)));
  const double cost = kernel.objective->maximise ? 1 / number : number;
  if (!std::isfinite(cost) || cost <= 0) refuse(fmt::format("is {}, which is out of range", to_text(value)));
  return cost;
}

}  // namespace attune::spec
