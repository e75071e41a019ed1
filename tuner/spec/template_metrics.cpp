#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tuner/spec/failure.hpp"
#include "tuner/spec/metrics.hpp"
#include "tuner/spec/template_parser.hpp"

namespace attune::spec {
namespace {

/// Whether the expression names something that was measured, of the power alone or of anything; by itself or through earlier metrics.
bool names_measured(const KernelTemplate& kernel, const Expression& expression, bool of_power) {
  const auto& variables = expression.variables();
  return std::any_of(variables.begin(), variables.end(), [&](const std::string& variable) {
    if (variable == kTimeName) return !of_power;
    if (variable == kPowerName || variable == kEnergyName) return true;
    const auto found =
        std::find_if(kernel.metrics.begin(), kernel.metrics.end(), [&](const MetricSpec& metric) { return metric.name == variable; });
    return found != kernel.metrics.end() && (of_power ? found->of_power : found->of_measured);
  });
}

/// Adds the variables of an expression, and those of the lets and metrics among them.
void add_names(const KernelTemplate& kernel, const Expression& expression, std::set<std::string>& names) {
  for (const std::string& variable : expression.variables()) {
    if (!names.insert(variable).second) continue;
    for (const auto& [let, value] : kernel.lets)
      if (let == variable) add_names(kernel, value, names);
    for (const MetricSpec& metric : kernel.metrics)
      if (metric.name == variable) add_names(kernel, metric.value, names);
  }
}

}  // namespace

/// The names of what is measured are taken only where a template has metrics or an objective: others may call anything so.
void TemplateParser::read_metrics(const ObjectReader& top) {
  const JsonNode* const metrics = top.find("metrics");
  const JsonNode* const objective = top.find("objective");
  if (metrics == nullptr && objective == nullptr) return;
  for (const char* const name : {kTimeName, kPowerName, kEnergyName})
    names_.add(name, NameKind::Measured, (metrics != nullptr ? metrics : objective)->position);
  if (metrics != nullptr) {
    for (const JsonNode::Member& member : metrics->object("\"metrics\"")) {
      MetricSpec metric;
      metric.name = member.key;
      metric.value = read_expression(member.value, fmt::format("the metric '{}'", member.key), visibility::kMetric);
      metric.of_measured = names_measured(kernel_, metric.value, false);
      metric.of_power = names_measured(kernel_, metric.value, true);
      names_.add(member.key, NameKind::Metric, member.position);
      kernel_.metrics.push_back(std::move(metric));
    }
    if (kernel_.metrics.empty()) fail(metrics->position, "\"metrics\" is empty; name one, or remove it");
  }
  if (objective != nullptr) read_objective(*objective);
}

void TemplateParser::read_objective(const JsonNode& node) {
  const ObjectReader reader(node, "\"objective\"", {"minimise", "maximise"});
  const JsonNode* const least = reader.find("minimise");
  const JsonNode* const most = reader.find("maximise");
  if ((least == nullptr) == (most == nullptr))
    fail(node.position, R"("objective" is either {"minimise": ...} or {"maximise": ...}, of a metric or another expression)");
  ObjectiveSpec objective;
  objective.maximise = most != nullptr;
  objective.value = read_expression(most != nullptr ? *most : *least, "the objective", visibility::kMetric);
  objective.of_power = names_measured(kernel_, objective.value, true);
  if (!names_measured(kernel_, objective.value, false))
    fail(objective.value.position(), fmt::format("the objective \"{}\" names nothing that is measured; use {}, {}, {} or a metric of these",
                                                 objective.value.text(), kTimeName, kPowerName, kEnergyName));
  std::set<std::string> names;
  add_names(kernel_, objective.value, names);
  for (std::size_t i = 0; i < kernel_.parameters.size(); ++i)
    if (names.contains(kernel_.parameters[i].name)) objective.parameters.push_back(i);
  kernel_.objective = std::move(objective);
}

}  // namespace attune::spec
