#include "tuner/spec/macros.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tuner/base/characters.hpp"

namespace attune::spec {
namespace {

std::string upper(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += base::is_letter_or_digit(c) ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
  }
  return result;
}

const KernelTemplate::TypeAlias* find_alias(const KernelTemplate& kernel, const std::string& name) {
  const auto found =
      std::find_if(kernel.types.begin(), kernel.types.end(), [&](const KernelTemplate::TypeAlias& alias) { return alias.name == name; });
  return found == kernel.types.end() ? nullptr : &*found;
}

/// What the alias makes of one value of the axis it follows.
std::string aliased(const KernelTemplate::TypeAlias& alias, const std::string& value) {
  const auto found = alias.map.find(value);
  const std::string& target = found == alias.map.end() ? alias.otherwise : found->second;
  return target == alias.by ? value : target;
}

}  // namespace

std::string macro_name(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : std::string(prefix) + upper(name);
}

std::string flag_name(std::string_view prefix, std::string_view name, std::string_view value) {
  return macro_name(prefix, name) + "_" + upper(value);
}

std::string type_alias_name(std::string_view prefix, std::string_view name) {
  std::string result(prefix);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return result + std::string(name);
}

std::vector<std::string> possible_types(const KernelTemplate& kernel, const std::string& reference) {
  if (const ProblemAxis* axis = kernel.axis(reference)) return axis->values;
  const KernelTemplate::TypeAlias* alias = find_alias(kernel, reference);
  if (alias == nullptr) return {reference};
  std::vector<std::string> types;
  for (const std::string& value : possible_types(kernel, alias->by)) {
    const std::string type = aliased(*alias, value);
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return types;
}

std::string resolve_type(const KernelTemplate& kernel, const std::string& reference, const Problem& problem) {
  if (const KernelTemplate::TypeAlias* alias = find_alias(kernel, reference)) {
    return aliased(*alias, resolve_type(kernel, alias->by, problem));
  }
  const ProblemAxis* const axis = kernel.axis(reference);
  if (axis == nullptr) return reference;
  const auto chosen = problem.choices.find(reference);
  if (chosen == problem.choices.end()) {
    if (!axis->default_value.empty()) return axis->default_value;
    throw UsageError(fmt::format("the problem gives no value for '{}' of template '{}'", reference, kernel.name));
  }
  return chosen->second;
}

}  // namespace attune::spec
