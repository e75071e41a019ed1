#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tuner/space/build_watch.hpp"
#include "tuner/spec/expression.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::space {

/// What the depth-first search works on. Holds references: the caller keeps them alive.
struct SearchInput {
  const std::vector<spec::Parameter>& parameters;
  const std::vector<spec::Constraint>& constraints;
  /// Gives every variable that does not depend on a parameter.
  spec::Scope constants;
  /// Derived variables (`let`) and the variables that each one's expression names.
  std::map<std::string, std::vector<std::string>, std::less<>> derived;
  /// Gives every variable, derived ones as well, of a configuration. Needed where `derived` has entries.
  std::function<spec::Scope(const spec::Configuration&)> scope_of;
  BuildWatch watch;
};

/// The valid configurations, in declaration order with the last parameter fastest.
struct Enumeration {
  std::vector<std::uint16_t> packed;  ///< value indices, one row a configuration
  std::uint64_t count = 0;
  std::string emptied_by;  ///< the condition (or parameter) that left none; empty when count > 0
};

/// More than this many valid configurations are refused: no tuning run can use them, and their rows fill the memory.
inline constexpr std::uint64_t kMaxConfigurations = std::uint64_t{1} << 26;
/// The same of their value indices together: spaces of more than eight parameters may have fewer configurations.
inline constexpr std::uint64_t kMaxPackedIndices = std::uint64_t{1} << 29;

/// Binds one parameter after another and checks each condition as soon as the last of its parameters is bound, so that
/// a failing condition cuts the whole subtree. Conditions of few parameters are evaluated once for each combination of
/// their values and remembered.
/// A condition that cannot be evaluated (a division by zero) is an error only for a configuration that every other
/// condition admits: whether a guard stands before or after it in the file, or at a deeper parameter, makes no
/// difference. Throws: SpecError at the condition's place (unknown variable, evaluation); UsageError over
/// kMaxConfigurations or kMaxPackedIndices, or for a parameter of more than 65536 values; BuildStopped when the watch asks for it.
[[nodiscard]] Enumeration search_depth_first(const SearchInput& input);

}  // namespace attune::space
