#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/spec/expression.hpp"

namespace attune::spec {

enum class NameKind : unsigned {
  TypeAxis = 1,
  ChoiceAxis = 2,
  Size = 4,
  TypeAlias = 8,
  SourceParameter = 16,
  LaunchParameter = 32,
  Let = 64,
  LaterLet = 128,
  Buffer = 256,
  Scalar = 512,
  Index = 1024,
  CodeAxis = 2048,
  Measured = 4096,  ///< what was measured of a call: metrics name it
  Metric = 8192,
};

/// What a kind of expression may refer to. `kinds` is a set of NameKind bits.
struct Visibility {
  const char* what;  ///< "a constraint"
  unsigned kinds;
  const char* allowed;    ///< "types, choices, sizes, parameters and device.*"
  bool of_device = true;  ///< whether device.* is
};

/// Every name of a template and what it is. One name means one thing.
class NameTable {
 public:
  /// Throws: SpecError when the name is no C identifier, too long, one too many, taken, or a word of expressions although it can stand in
  /// them.
  void add(const std::string& name, NameKind kind, const SourcePosition& position);
  /// A let becomes visible once its own expression has been read.
  void define_let(std::string_view name);
  /// Requires: nothing was added since.
  void remove_last(std::string_view name);
  /// Throws: SpecError at the variable when the expression refers to something unknown or not visible.
  void check(const Expression& expression, const Visibility& visibility) const;
  /// Nothing when there is no such name.
  [[nodiscard]] const NameKind* find(std::string_view name) const;
  /// Where the name was given. Requires: it was added.
  [[nodiscard]] SourcePosition position(std::string_view name) const;
  /// Names of the kinds in the set, in the order in which they were added.
  [[nodiscard]] std::vector<std::string> names(unsigned kinds) const;

 private:
  struct Entry {
    std::string name;
    NameKind kind;
    SourcePosition position;
  };
  [[nodiscard]] const Entry* entry(std::string_view name) const;

  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< into entries_
};

[[nodiscard]] const char* describe(NameKind kind);
/// Throws: SpecError unless `name` is a C identifier.
void check_identifier(const std::string& name, std::string_view what, const SourcePosition& position);

}  // namespace attune::spec
