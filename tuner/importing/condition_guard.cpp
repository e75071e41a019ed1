#include "tuner/importing/condition_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

constexpr std::size_t kMostCombinations = std::size_t{1} << 18;
constexpr std::size_t kFewestCombinations = std::size_t{1} << 12;  // of a condition, when others have used up what a file may cost

/// The values of an expression's variables, one combination after the other.
class Combinations {
 public:
  Combinations(const spec::Expression& expression, const KnownNames& names,
               const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
    for (const std::string& variable : expression.variables()) {
      const auto known =
          std::find_if(names.parameters.begin(), names.parameters.end(), [&](const auto& one) { return one.name == variable; });
      const auto size = std::find_if(sizes.begin(), sizes.end(), [&](const auto& one) { return one.first == variable; });
      names_.push_back(variable);
      if (known != names.parameters.end())
        values_.push_back(known->values);
      else if (size != sizes.end())
        values_.push_back({size->second});
      else
        values_.emplace_back();  // depends on parameters itself
    }
    at_.assign(values_.size(), 0);
  }

  /// Whether all values of all variables are known.
  [[nodiscard]] bool are_told() const {
    return std::none_of(values_.begin(), values_.end(), [](const auto& values) { return values.empty(); });
  }
  [[nodiscard]] std::size_t count() const {
    std::size_t product = 1;
    for (const auto& values : values_)
      product = values.size() > kMostCombinations / product ? kMostCombinations + 1 : product * values.size();
    return product;
  }
  /// Leaves at most so many: of the longest list every second value, and those of 0.
  void thin_to(std::size_t most) {
    while (count() > most) {
      auto& longest = *std::max_element(values_.begin(), values_.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
      std::vector<spec::Value> kept;
      for (std::size_t i = 0; i < longest.size(); ++i)
        if (i % 2 == 0 || spec::to_text(longest[i]) == "0") kept.push_back(longest[i]);
      if (kept.size() == longest.size()) return;
      longest = std::move(kept);
    }
  }
  [[nodiscard]] spec::Scope scope() const {
    return [this](std::string_view name) -> std::optional<spec::Value> {
      const auto found = std::find(names_.begin(), names_.end(), name);
      if (found == names_.end()) return std::nullopt;
      const auto i = static_cast<std::size_t>(found - names_.begin());
      return values_[i][at_[i]];
    };
  }
  void next() {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      if (++at_[i] < values_[i].size()) return;
      at_[i] = 0;
    }
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < names_.size(); ++i)
      all += fmt::format("{}{} = {}", all.empty() ? "" : ", ", names_[i], spec::to_text(values_[i][at_[i]]));
    return all;
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<spec::Value>> values_;
  std::vector<std::size_t> at_;
};

/// Nothing where it cannot be computed.
std::optional<bool> truth_of(const spec::Expression& expression, const spec::Scope& scope) {
  try {
    return expression.truth(scope);
  } catch (const SpecError&) {
    return std::nullopt;
  }
}

std::string with_guard(const Translation& condition) {
  std::string text;
  for (const std::string& divisor : condition.divisors) {
    const bool is_name = divisor.find_first_of(" (") == std::string::npos;
    text += is_name ? fmt::format("{} == 0 or ", divisor) : fmt::format("({}) == 0 or ", divisor);
  }
  return fmt::format("{}({})", text, condition.text);
}

}  // namespace

std::string ConditionGuard::guarded(const Translation& condition, const KnownNames& names,
                                    const std::vector<std::pair<std::string, std::int64_t>>& sizes, const spec::SourcePosition& position) {
  if (condition.divisors.empty()) return condition.text;
  const auto plain = spec::Expression::parse(condition.text, position);
  Combinations combinations(plain, names, sizes);
  if (!combinations.are_told()) return condition.text;
  combinations.thin_to(std::clamp(left_, kFewestCombinations, kMostCombinations));
  const std::size_t count = combinations.count();
  left_ -= std::min(left_, count);
  const std::string with = with_guard(condition);
  const auto guard = spec::Expression::parse(with, position);
  bool fails = false, agrees = true;
  std::string where;
  for (std::size_t i = 0; i < count; ++i, combinations.next()) {
    const spec::Scope scope = combinations.scope();
    const auto wanted = truth_of(plain, scope);
    if (!wanted && !fails) where = combinations.text();
    fails = fails || !wanted;
    agrees = agrees && truth_of(guard, scope) == wanted.value_or(true);
  }
  if (!fails) return condition.text;
  if (agrees) return with;
  spec::fail(position, fmt::format("the condition \"{}\" cannot be computed for {}; say what holds there, e.g. \"b == 0 or a % b == 0\"",
                                   condition.text, where));
}

}  // namespace attune::importing
