#include "tuner/spec/reference_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/spec/element.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/macros.hpp"

namespace attune::spec {
namespace {

constexpr std::size_t kTimedDataSet = 1;  // "random"
constexpr std::int64_t kMostGroups = 64;  // each needs a window of its own

/// A scalar as expressions know numbers. Integers beyond 2^63 are rounded.
Value number_of(const ResolvedScalar& scalar) {
  const double number = to_double(scalar.type, scalar.bits);
  if (is_floating(scalar.type) || number >= 0x1p63) return number;
  return static_cast<std::int64_t>(extend(scalar.type, scalar.bits));
}

/// Sets an axis of the form to a value of whatever kind.
void set(Problem& problem, const ProblemAxis& axis, const Value& value) {
  if (axis.kind != AxisKind::Size)
    problem.choices[axis.name] = to_text(value);
  else if (const auto* number = std::get_if<std::int64_t>(&value))
    problem.sizes[axis.name] = *number;
  else
    problem.sizes[axis.name] = std::holds_alternative<bool>(value) && std::get<bool>(value) ? 1 : 0;
}

std::string enumerators(const std::string& axis, const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", flag_name("ATTUNE_", axis, words[i]), i);
  return fmt::format("enum {{ {} }};\n", text);
}

std::string type_numbers() { return enumerators("type", element_type_names()); }

}  // namespace

std::string support_prelude() {
  return type_numbers() + fmt::format("enum {{ ATTUNE_TYPES = {} }};\n", element_type_names().size()) +
         enumerators("values", data_values_names());
}

std::string reference_prelude(const ReferenceDefinition& definition) {
  std::string text = type_numbers();
  for (std::size_t i = 0; i < definition.form.problem.size(); ++i) {
    const ProblemAxis& axis = definition.form.problem[i];
    const bool own = i < definition.own_axes && definition.compiled_once && axis.kind == AxisKind::Choice;
    if (own || axis.name == "data") text += enumerators(axis.name, axis.values);
  }
  return text;
}

template <class Use>
auto ReferenceProblem::in_scope(std::size_t data_set, int group, Use use) const {
  const Problem problem = with(data_set, group);
  const Configuration none;
  return use(make_scope(form_, problem, none, *device_));
}

ReferenceProblem::ReferenceProblem(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration,
                                   const std::vector<ResolvedBuffer>& buffers, const DeviceInfo& device)
    : definition_(kernel.reference.definition), device_(&device), form_(definition_->form) {
  form_.files.clear();
  take_axes(kernel, problem, configuration);
  take_scalars(kernel, problem);
  take_buffers(kernel, buffers);
  check(kernel, problem, buffers);
}

void ReferenceProblem::take_axes(const KernelTemplate& kernel, const Problem& problem, const Configuration& configuration) {
  const Scope scope = make_scope(kernel, problem, configuration, *device_);
  for (std::size_t i = 0; i < definition_->own_axes; ++i) {
    const ProblemAxis& axis = form_.problem[i];
    const auto& parameters = kernel.reference.parameters;
    const bool there = kernel.axis(axis.name) != nullptr || std::find(parameters.begin(), parameters.end(), axis.name) != parameters.end();
    if (there)
      set(problem_, axis, scope(axis.name).value());
    else if (axis.kind != AxisKind::Size)
      problem_.choices[axis.name] = axis.default_value;
  }
}

void ReferenceProblem::take_scalars(const KernelTemplate& kernel, const Problem& problem) {
  std::vector<std::pair<std::string, Expression>> lets;
  for (const ReferenceScalar& scalar : definition_->scalars) {
    const auto found =
        std::find_if(kernel.scalars.begin(), kernel.scalars.end(), [&](const ScalarSpec& spec) { return spec.name == scalar.name; });
    Value value = std::int64_t{0};
    ElementType type = ElementType::I64;
    if (found != kernel.scalars.end()) {
      const ResolvedScalar resolved = resolve_scalar(kernel, problem, *found);
      value = number_of(resolved);
      type = resolved.type;
    }
    lets.emplace_back(scalar.name, Expression::constant(value));
    lets.emplace_back(scalar.name + "_type", Expression::constant(std::string(name(type))));
  }
  form_.lets.insert(form_.lets.begin(), lets.begin(), lets.end());
}

void ReferenceProblem::take_buffers(const KernelTemplate& kernel, const std::vector<ResolvedBuffer>& buffers) {
  const ReferenceSpec& reference = kernel.reference;
  template_buffers_.assign(form_.buffers.size(), -1);
  const auto take = [&](const std::vector<RoleSpec>& roles, const std::vector<int>& places) {
    for (std::size_t i = 0; i < roles.size(); ++i) {
      const bool there = places[i] >= 0;
      const auto* const buffer = there ? &buffers[static_cast<std::size_t>(places[i])] : nullptr;
      problem_.choices[roles[i].name + "_type"] = there ? name(buffer->type) : name(ElementType::U8);
      problem_.sizes[roles[i].name + "_count"] = there ? buffer->count : 0;
      template_buffers_[form_buffer(roles[i].name)] = places[i];
    }
  };
  take(definition_->inputs, reference.inputs);
  take(definition_->outputs, reference.outputs);
}

std::size_t ReferenceProblem::form_buffer(const std::string& name) const {
  const auto found = std::find_if(form_.buffers.begin(), form_.buffers.end(), [&](const BufferSpec& spec) { return spec.name == name; });
  return static_cast<std::size_t>(found - form_.buffers.begin());
}

void ReferenceProblem::check(const KernelTemplate& kernel, const Problem& problem, const std::vector<ResolvedBuffer>& buffers) const {
  const auto refuse = [&](const std::string& needs, const char* else_ = "") {
    std::string of = to_text(problem);
    for (const auto& name : kernel.reference.parameters) {
      const bool size = problem_.sizes.contains(name);
      of += fmt::format(" with {} = {}", name, size ? std::to_string(problem_.sizes.at(name)) : problem_.choices.at(name));
    }
    throw ReferenceRefusal(
        kernel.spec_path, 0, 0,
        fmt::format("failed preparing the reference of {}: the reference '{}' needs {}; {}exclude {} by a constraint", of,
                    definition_->name, needs, else_, kernel.reference.parameters.empty() ? "the problem" : "what lacks it"));
  };
  in_scope(0, 0, [&](const Scope& scope) {
    for (const ReferenceDefinition::Refusal& refusal : definition_->refuses)
      if (refusal.condition.truth(scope)) refuse(refusal.needs);
    const auto check_buffers = [&](const std::vector<RoleSpec>& roles, const std::vector<int>& places) {
      for (std::size_t i = 0; i < roles.size(); ++i) {
        if (places[i] < 0) continue;
        const auto& buffer = buffers[static_cast<std::size_t>(places[i])];
        if (!roles[i].type.empty()) {  // an alias of the reference may mean another type than the template's of that name
          const std::string type = resolve_type(form_, roles[i].type, problem_);
          if (type != name(buffer.type)) refuse(fmt::format("\"{}\" of type {}, not {}", buffer.name, type, name(buffer.type)));
        }
        if (!roles[i].count || (roles[i].condition && !roles[i].condition->truth(scope))) continue;
        const std::int64_t count = roles[i].count->integer(scope);
        if (count == buffer.count) continue;
        const SourcePosition& at = roles[i].count->position();
        refuse(fmt::format("{} elements of \"{}\", not {} (\"{}\" at {}:{}:{})", count, buffer.name, buffer.count, roles[i].count->text(),
                           at.file, at.line, at.column),
               "correct the buffer's count, or ");
      }
    };
    check_buffers(definition_->inputs, kernel.reference.inputs);
    check_buffers(definition_->outputs, kernel.reference.outputs);
  });
}

Problem ReferenceProblem::with(std::size_t data_set, int group) const {
  Problem problem = problem_;
  problem.choices["data"] = definition_->data_sets[data_set].name;
  problem.sizes["group"] = group;
  return problem;
}

bool ReferenceProblem::has(std::size_t data_set) const {
  const DataSetSpec& set = definition_->data_sets[data_set];
  const auto& condition = set.condition;
  if (!set.alters.empty() && (template_buffer(definition_->altered) < 0 || !has(definition_->data_set(set.alters)))) return false;
  return !condition || in_scope(data_set, 0, [&](const Scope& scope) { return condition->truth(scope); });
}

int ReferenceProblem::groups() const {
  if (!definition_->groups) return 1;
  const std::int64_t groups = integer(*definition_->groups);
  if (groups < 1 || groups > kMostGroups) {
    Problem own;  // what attune adds, e.g. the elements of each buffer, is nothing that the user gave
    for (std::size_t i = 0; i < definition_->own_axes; ++i) {
      const std::string& axis = form_.problem[i].name;
      if (const auto size = problem_.sizes.find(axis); size != problem_.sizes.end()) own.sizes.insert(*size);
      if (const auto choice = problem_.choices.find(axis); choice != problem_.choices.end()) own.choices.insert(*choice);
    }
    fail(definition_->groups->position(), fmt::format("\"groups\" is {} for {}; it must be 1 to {} (\"{}\")", groups, to_text(own),
                                                      kMostGroups, definition_->groups->text()));
  }
  return static_cast<int>(groups);
}

std::int64_t ReferenceProblem::integer(const Expression& expression, std::size_t data_set) const {
  return in_scope(data_set, 0, [&](const Scope& scope) { return expression.integer(scope); });
}

double ReferenceProblem::number(const Expression& expression, std::size_t data_set) const {
  const Value value = in_scope(data_set, 0, [&](const Scope& scope) { return expression.evaluate(scope); });
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  fail(expression.position(), fmt::format("\"{}\" is {}, which is no number", expression.text(), to_text(value)));
}

LaunchPlan ReferenceProblem::expectation(std::size_t data_set) const {
  return resolve_steps(form_, form_.steps, with(data_set, 0), {}, *device_);
}

std::optional<LaunchPlan> ReferenceProblem::arguments(const ReferenceKernel& kernel, std::size_t data_set, int group) const {
  LaunchPlan plan = resolve_steps(form_, {kernel.launch}, with(data_set, group), {}, *device_);
  if (plan.steps.empty()) return std::nullopt;
  return plan;
}

std::int64_t ReferenceProblem::planted_row(std::size_t data_set) const {
  const PlantSpec& plant = *definition_->plant;
  const std::int64_t count = problem_.sizes.at(plant.into + "_count");
  if (!plant.row || count == 0) return count;
  const std::int64_t row = integer(*plant.row, data_set);
  if (row < 1 || count % row != 0) {
    fail(plant.row->position(),
         fmt::format("the row is {} of {} elements, which is no factor of their number (\"{}\")", row, count, plant.row->text()));
  }
  return row;
}

void ReferenceProblem::for_each_plan(const std::function<void(const LaunchPlan&)>& use) const {
  const auto add = [&](const ReferenceKernel& kernel, std::size_t data_set, int group) {
    if (const auto plan = arguments(kernel, data_set, group)) use(*plan);
  };
  for (std::size_t data_set = 0; data_set < definition_->data_sets.size(); ++data_set) {
    const DataSetSpec& set = definition_->data_sets[data_set];
    if (!has(data_set)) continue;
    use(expectation(data_set));
    const int filled = data_set == kTimedDataSet ? groups() : 1;
    for (const RoleSpec& input : definition_->inputs) {
      if (template_buffer(input.name) < 0) continue;
      for (int group = 0; input.fill && group < filled; ++group) add(*input.fill, data_set, group);
      for (const Expression& guard : input.guards) static_cast<void>(number(guard));
    }
    for (const RoleSpec& output : definition_->outputs) {
      if (template_buffer(output.name) < 0) continue;
      for (const auto& part : output.shape) static_cast<void>(integer(part.second, data_set));
    }
    if (!set.alters.empty()) add(*definition_->alter, data_set, 0);
    const auto& plant = definition_->plant;
    if (!plant || !plant->data_sets.contains(set.name) || template_buffer(plant->into) < 0) continue;
    add(plant->kernel, data_set, 0);
    static_cast<void>(planted_row(data_set));
  }
}

std::string ReferenceProblem::text() const {
  std::string text = to_text(problem_);
  for (std::size_t i = 0; i < 2 * definition_->scalars.size(); ++i) text += " " + form_.lets[i].first + "=" + form_.lets[i].second.text();
  return text;
}

std::string ReferenceProblem::source() const {
  KernelTemplate plain = definition_->form;
  plain.problem.resize(definition_->compiled_once ? 0 : definition_->own_axes);
  if (definition_->compiled_once) plain.types.clear();
  return reference_prelude(*definition_) + make_source(plain, problem_, {}, *device_);
}

}  // namespace attune::spec
