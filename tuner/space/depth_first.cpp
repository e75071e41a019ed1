#include "tuner/space/depth_first.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>

#include "attune/error.hpp"
#include "tuner/base/text.hpp"

namespace attune::space {
namespace {

enum class Verdict : std::uint8_t {
  Unknown,  ///< not evaluated for these values yet
  Holds,
  Fails,
  Undecided,  ///< evaluating it failed; matters only if every other condition holds
};

/// Remembered verdicts of one condition fit a core's second-level cache; larger ones are evaluated each time.
constexpr std::size_t kMaxRemembered = std::size_t{1} << 18;
/// All conditions together: a template may have thousands.
constexpr std::size_t kMaxRememberedInAll = std::size_t{1} << 26;

/// Values tried between two looks at the watch.
constexpr std::uint64_t kWatchEvery = 1024;

/// A condition on at least one parameter, prepared for repeated evaluation.
struct Condition {
  spec::Expression expression;
  std::vector<std::size_t> depths;         ///< parameters it depends on, ascending; the last one is where it is checked
  std::vector<std::size_t> strides;        ///< of `remembered`, for each of `depths`
  std::vector<Verdict> remembered;         ///< by value indices; empty: too many combinations
  std::size_t offset = 0;                  ///< into `remembered`, from the parameters above the last
  bool through_scope = false;              ///< names a derived variable
  std::vector<const spec::Value*> values;  ///< as expression.variables()
  std::vector<std::pair<std::size_t, std::size_t>> parameter_slots;  ///< (index into values, depth)
  std::uint64_t removed = 0;
  std::vector<Condition> premise;  ///< of a condition that is not remembered: one that is, and where it holds so does this; or none
};

class DepthFirst {
 public:
  explicit DepthFirst(const SearchInput& input);
  [[nodiscard]] Enumeration run();

 private:
  void prepare(const spec::Expression& expression);
  [[nodiscard]] std::optional<Condition> described(const spec::Expression& expression);
  void collect_depths(const std::string& variable, const spec::Expression& expression, std::set<std::size_t>& depths,
                      std::set<std::string>& seen) const;
  void bind_variables(Condition& condition);
  void plan_memory(Condition& condition, const std::vector<spec::Parameter>& parameters);
  void look_at_watch() const;
  [[noreturn]] void throw_unknown(const std::string& variable, const spec::Expression& expression) const;

  void go_on(std::size_t depth) { depth == path_.index.size() ? emit() : descend(depth); }
  void descend(std::size_t depth);
  [[nodiscard]] bool admits(std::size_t depth, std::size_t value_index);
  [[nodiscard]] bool truth(Condition& condition);
  [[nodiscard]] Verdict decide(Condition& condition);
  [[nodiscard]] bool holds_by(Condition& premise);
  void emit();
  [[nodiscard]] std::string last_to_remove() const;

  const SearchInput& input_;
  std::unordered_map<std::string, std::size_t> depth_of_;
  std::vector<const spec::Expression*> constant_conditions_;
  std::unordered_map<std::string, spec::Value> constants_;  ///< node-based: pointers into it stay valid
  std::vector<Condition> conditions_;
  std::vector<std::vector<std::size_t>> conditions_at_;  ///< by depth, in declaration order
  std::vector<std::size_t> undecided_;                   ///< conditions on the path that could not be evaluated
  spec::Configuration path_;
  std::size_t remembered_ = 0;  ///< verdicts that all conditions remember
  std::uint64_t most_ = 0;      ///< configurations
  std::uint64_t tried_ = 0;
  Enumeration result_;
};

DepthFirst::DepthFirst(const SearchInput& input) : input_(input) {
  const auto& parameters = input.parameters;
  for (std::size_t depth = 0; depth < parameters.size(); ++depth) {
    if (parameters[depth].values.size() > std::numeric_limits<std::uint16_t>::max() + std::size_t{1}) {
      throw UsageError(
          fmt::format("failed building the search space: parameter '{}' has {} values, more than 65536; "
                      "declare fewer",
                      parameters[depth].name, parameters[depth].values.size()));
    }
    depth_of_.emplace(parameters[depth].name, depth);
  }
  conditions_at_.resize(parameters.size());
  path_.index.assign(parameters.size(), 0);
  most_ = std::min(kMaxConfigurations, kMaxPackedIndices / std::max<std::uint64_t>(1, parameters.size()));
  for (const auto& constraint : input.constraints) prepare(constraint.expression);
}

void DepthFirst::prepare(const spec::Expression& expression) {
  auto condition = described(expression);
  if (!condition) {
    constant_conditions_.push_back(&expression);
    return;
  }
  if (const auto first = condition->remembered.empty() ? expression.first_alternative() : std::nullopt) {
    auto premise = described(*first);
    if (premise && !premise->remembered.empty()) condition->premise.push_back(std::move(*premise));
  }
  conditions_at_[condition->depths.back()].push_back(conditions_.size());
  conditions_.push_back(std::move(*condition));
}

/// Nothing of one that depends on no parameter.
std::optional<Condition> DepthFirst::described(const spec::Expression& expression) {
  Condition condition;
  condition.expression = expression;
  std::set<std::size_t> depths;
  for (const auto& variable : expression.variables()) {
    std::set<std::string> seen;
    collect_depths(variable, expression, depths, seen);
    condition.through_scope = condition.through_scope || input_.derived.contains(variable);
  }
  if (depths.empty()) return std::nullopt;
  condition.depths.assign(depths.begin(), depths.end());
  if (!condition.through_scope) bind_variables(condition);
  plan_memory(condition, input_.parameters);
  return condition;
}

void DepthFirst::collect_depths(const std::string& variable, const spec::Expression& expression, std::set<std::size_t>& depths,
                                std::set<std::string>& seen) const {
  if (!seen.insert(variable).second) return;
  if (const auto parameter = depth_of_.find(variable); parameter != depth_of_.end()) {
    depths.insert(parameter->second);
  } else if (const auto derived = input_.derived.find(variable); derived != input_.derived.end()) {
    for (const auto& used : derived->second) collect_depths(used, expression, depths, seen);
  } else if (!input_.constants(variable)) {
    throw_unknown(variable, expression);
  }
}

void DepthFirst::bind_variables(Condition& condition) {
  for (const auto& variable : condition.expression.variables()) {
    const std::size_t slot = condition.values.size();
    if (const auto parameter = depth_of_.find(variable); parameter != depth_of_.end()) {
      condition.parameter_slots.emplace_back(slot, parameter->second);
      condition.values.push_back(nullptr);
    } else {
      auto known = constants_.find(variable);
      if (known == constants_.end()) known = constants_.emplace(variable, input_.constants(variable).value()).first;
      condition.values.push_back(&known->second);
    }
  }
}

void DepthFirst::plan_memory(Condition& condition, const std::vector<spec::Parameter>& parameters) {
  std::size_t combinations = 1;
  condition.strides.resize(condition.depths.size());
  for (std::size_t i = condition.depths.size(); i-- > 0;) {
    condition.strides[i] = combinations;
    combinations *= std::max<std::size_t>(1, parameters[condition.depths[i]].values.size());
    if (combinations > kMaxRemembered) return;
  }
  if (remembered_ + combinations > kMaxRememberedInAll) return;
  remembered_ += combinations;
  condition.remembered.assign(combinations, Verdict::Unknown);
}

void DepthFirst::throw_unknown(const std::string& variable, const spec::Expression& expression) const {
  std::vector<std::string> names;
  for (const auto& parameter : input_.parameters) names.push_back(parameter.name);
  for (const auto& derived : input_.derived) names.push_back(derived.first);
  const std::string near = base::closest(variable, names);
  const auto& position = expression.position();
  throw SpecError(position.file, position.line, position.column,
                  fmt::format("failed checking condition \"{}\": unknown variable '{}'{}", expression.text(), variable,
                              near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

Enumeration DepthFirst::run() {
  for (const auto& parameter : input_.parameters) {
    if (!parameter.values.empty()) continue;
    result_.emptied_by = fmt::format("parameter '{}' has no values", parameter.name);
    return std::move(result_);
  }
  for (const auto* expression : constant_conditions_) {
    if (expression->truth(input_.constants)) continue;
    result_.emptied_by = expression->text();
    return std::move(result_);
  }
  go_on(0);
  if (result_.count == 0) result_.emptied_by = last_to_remove();
  result_.packed.shrink_to_fit();
  return std::move(result_);
}

void DepthFirst::descend(std::size_t depth) {
  for (const std::size_t i : conditions_at_[depth]) {
    Condition& condition = conditions_[i];
    condition.offset = 0;
    for (std::size_t k = 0; k + 1 < condition.depths.size(); ++k) {
      condition.offset += condition.strides[k] * path_.index[condition.depths[k]];
    }
  }
  const std::size_t undecided_above = undecided_.size();
  const std::size_t value_count = input_.parameters[depth].values.size();
  for (std::size_t value_index = 0; value_index < value_count; ++value_index) {
    path_.index[depth] = static_cast<std::uint16_t>(value_index);
    if (++tried_ % kWatchEvery == 0) look_at_watch();
    if (admits(depth, value_index)) go_on(depth + 1);
    undecided_.resize(undecided_above);
  }
}

void DepthFirst::look_at_watch() const {
  if (!input_.watch) return;
  BuildProgress progress{0, result_.count};
  double width = 1;  // of what one value of the parameter stands for
  for (std::size_t depth = 0; depth < path_.index.size(); ++depth) {
    width /= static_cast<double>(input_.parameters[depth].values.size());
    progress.share += width * path_.index[depth];
  }
  if (!input_.watch(progress)) throw BuildStopped();
}

bool DepthFirst::admits(std::size_t depth, std::size_t value_index) {
  for (const std::size_t i : conditions_at_[depth]) {
    Condition& condition = conditions_[i];
    Verdict verdict = Verdict::Unknown;
    if (condition.remembered.empty()) {
      verdict = decide(condition);
    } else {
      // The last parameter is the fastest of `remembered`: its stride is 1.
      Verdict& remembered = condition.remembered[condition.offset + value_index];
      if (remembered == Verdict::Unknown) remembered = decide(condition);
      verdict = remembered;
    }
    if (verdict == Verdict::Fails) {
      ++condition.removed;
      return false;
    }
    if (verdict == Verdict::Undecided) undecided_.push_back(i);
  }
  return true;
}

bool DepthFirst::truth(Condition& condition) {
  // A derived variable is evaluated where the expression reaches it, not before: the scope form keeps `or` and `and`
  // lazy.
  if (condition.through_scope) return condition.expression.truth(input_.scope_of(path_));
  for (const auto& [slot, depth] : condition.parameter_slots) {
    condition.values[slot] = &input_.parameters[depth].values[path_.index[depth]];
  }
  return condition.expression.truth(std::span<const spec::Value* const>(condition.values));
}

bool DepthFirst::holds_by(Condition& premise) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < premise.depths.size(); ++k) at += premise.strides[k] * path_.index[premise.depths[k]];
  Verdict& remembered = premise.remembered[at];
  if (remembered == Verdict::Unknown) remembered = decide(premise);
  return remembered == Verdict::Holds;
}

Verdict DepthFirst::decide(Condition& condition) {
  if (!condition.premise.empty() && holds_by(condition.premise.front())) return Verdict::Holds;
  try {
    return truth(condition) ? Verdict::Holds : Verdict::Fails;
  } catch (const SpecError&) {
    return Verdict::Undecided;  // evaluated again, and thrown, by emit() if no other condition removes the path
  }
}

void DepthFirst::emit() {
  for (const std::size_t i : undecided_) static_cast<void>(truth(conditions_[i]));
  if (result_.count == most_) {
    throw UsageError(
        fmt::format("failed building the search space: more than {} configurations satisfy the conditions; "
                    "declare fewer values or add conditions",
                    most_));
  }
  result_.packed.insert(result_.packed.end(), path_.index.begin(), path_.index.end());
  ++result_.count;
}

std::string DepthFirst::last_to_remove() const {
  const auto later = [](const Condition& a, const Condition& b) {
    if (a.removed == 0 || b.removed == 0) return a.removed < b.removed;
    if (a.depths.back() != b.depths.back()) return a.depths.back() < b.depths.back();
    return a.removed < b.removed;
  };
  return std::max_element(conditions_.begin(), conditions_.end(), later)->expression.text();
}

}  // namespace

Enumeration search_depth_first(const SearchInput& input) { return DepthFirst(input).run(); }

}  // namespace attune::space
