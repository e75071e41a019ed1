#include "tuner/spec/name_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/base/characters.hpp"
#include "tuner/spec/device_info.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/spec_limits.hpp"
#include "tuner/spec/vector_type.hpp"

namespace attune::spec {

const char* describe(NameKind kind) {
  switch (kind) {
    case NameKind::TypeAxis:
      return "type of the problem";
    case NameKind::ChoiceAxis:
      return "choice of the problem";
    case NameKind::CodeAxis:
      return "code of the problem";
    case NameKind::Size:
      return "size of the problem";
    case NameKind::TypeAlias:
      return "type alias";
    case NameKind::SourceParameter:
      return "parameter";
    case NameKind::LaunchParameter:
      return "launch-bound parameter";
    case NameKind::Let:
      return "let";
    case NameKind::LaterLet:
      return "let defined here or later";
    case NameKind::Buffer:
      return "buffer";
    case NameKind::Scalar:
      return "scalar";
    case NameKind::Index:
      return "loop index";
    case NameKind::Measured:
      return "measured quantity";
    case NameKind::Metric:
      return "metric";
  }
  throw Error("failed describing a name: unknown kind");
}

void check_identifier(const std::string& name, std::string_view what, const SourcePosition& position) {
  if (name.size() > kMostNameBytes) {
    fail(position, fmt::format("{} '{}...' is longer than {} characters", what, name.substr(0, 32), kMostNameBytes));
  }
  if (!base::is_name(name)) {
    fail(position, fmt::format("{} '{}' is no C identifier; use letters, digits and '_', not starting with a digit", what, name));
  }
}

void NameTable::add(const std::string& name, NameKind kind, const SourcePosition& position) {
  check_identifier(name, "the name", position);
  // Buffers and scalars are arguments only, so that a buffer may be called "in".
  const bool in_expressions = kind != NameKind::Buffer && kind != NameKind::Scalar;
  static const std::vector<std::string> reserved = reserved_words();
  if (in_expressions && find_vector_type(name)) fail(position, fmt::format("the name '{}' is that of a vector type; choose another", name));
  if (in_expressions && std::find(reserved.begin(), reserved.end(), name) != reserved.end()) {
    fail(position, fmt::format("the name '{}' means something in expressions already; choose another", name));
  }
  if (const Entry* const taken = entry(name)) {
    fail(position,
         fmt::format("the name '{}' is taken by the {} at line {}; rename one of them", name, describe(taken->kind), taken->position.line));
  }
  if (entries_.size() == kMostNames) fail(position, fmt::format("the template has more than {} names", kMostNames));
  places_.emplace(name, entries_.size());
  entries_.push_back({name, kind, position});
}

void NameTable::define_let(std::string_view name) {
  const auto found = places_.find(name);
  if (found != places_.end()) entries_[found->second].kind = NameKind::Let;
}

void NameTable::remove_last(std::string_view name) {
  if (entries_.empty() || entries_.back().name != name) throw Error("failed removing a name: it is not the last (a defect of the caller)");
  places_.erase(places_.find(name));
  entries_.pop_back();
}

const NameTable::Entry* NameTable::entry(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second];
}

const NameKind* NameTable::find(std::string_view name) const {
  const Entry* const found = entry(name);
  return found == nullptr ? nullptr : &found->kind;
}

SourcePosition NameTable::position(std::string_view name) const { return entry(name)->position; }

std::vector<std::string> NameTable::names(unsigned kinds) const {
  std::vector<std::string> names;
  for (const Entry& candidate : entries_) {
    if ((static_cast<unsigned>(candidate.kind) & kinds) != 0) names.push_back(candidate.name);
  }
  return names;
}

void NameTable::check(const Expression& expression, const Visibility& visibility) const {
  for (std::size_t i = 0; i < expression.variables().size(); ++i) {
    const std::string& variable = expression.variables()[i];
    const auto error = [&](const std::string& message, const std::string& remedy) {
      fail(expression.variable_position(i), fmt::format("{} in the expression \"{}\"{}", message, expression.text(), remedy));
    };
    std::vector<std::string> known;
    for (const std::string& attribute : DeviceInfo::attribute_names()) known.push_back("device." + attribute);
    if (std::find(known.begin(), known.end(), variable) != known.end()) {
      if (visibility.of_device) continue;
      error(fmt::format("'{}' belongs to the device, which {} cannot use,", variable, visibility.what),
            fmt::format("; it may use {}", visibility.allowed));
    }
    if (!variable.starts_with("device.")) {
      if (const NameKind* kind = find(variable)) {
        if ((static_cast<unsigned>(*kind) & visibility.kinds) != 0) continue;
        error(fmt::format("'{}' is a {}, which {} cannot use,", variable, describe(*kind), visibility.what),
              fmt::format("; it may use {}", visibility.allowed));
      }
      known = names(visibility.kinds);
    }
    error(fmt::format("unknown variable '{}'", variable), hint(variable, known));
  }
}

}  // namespace attune::spec
