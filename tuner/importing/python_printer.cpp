#include "tuner/importing/python_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "tuner/spec/expression_lexer.hpp"
#include "tuner/spec/failure.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::importing {
namespace {

using Kind = PythonNode::Kind;

Binding tighter(Binding binding) { return static_cast<Binding>(static_cast<int>(binding) + 1); }

/// Whether the value is True or False, whatever the names stand for.
bool is_truth_value(const PythonNode& node) {
  const auto all = [&] { return std::all_of(node.parts.begin(), node.parts.end(), is_truth_value); };
  switch (node.kind) {
    case Kind::Compare:
    case Kind::Not:
      return true;
    case Kind::And:
    case Kind::Or:
      return all();
    case Kind::Literal:
      return node.text == "True" || node.text == "False";
    case Kind::Binary:
      return (node.text == "&" || node.text == "|" || node.text == "^") && all();
    case Kind::Call:
      return node.text == "bool" || node.text == "all" || node.text == "any";
    default:
      return false;
  }
}

std::optional<std::int64_t> whole_number(const std::string& expression) {
  const auto parsed = spec::Expression::parse(expression);
  if (!parsed.variables().empty()) return std::nullopt;
  const spec::Value value = parsed.evaluate([](std::string_view) { return std::optional<spec::Value>(); });
  const auto* const whole = std::get_if<std::int64_t>(&value);
  return whole == nullptr ? std::nullopt : std::optional(*whole);
}

/// 2^k of the mask 2^k - 1; none where it is no such mask.
std::optional<std::int64_t> modulus_of_mask(const std::string& mask) {
  const auto value = whole_number(mask);
  if (!value || *value < 1 || *value >= (std::int64_t{1} << 62) || !std::has_single_bit(static_cast<std::uint64_t>(*value) + 1))
    return std::nullopt;
  return *value + 1;
}

/// May come to an error where Python would not compute it at all.
bool may_fail(const PythonNode& node) {
  const bool here = node.kind == Kind::Binary && (node.text == "/" || node.text == "//" || node.text == "%" || node.text == "**");
  return here || std::any_of(node.parts.begin(), node.parts.end(), may_fail);
}

}  // namespace

std::string held(const Piece& piece, Binding least) { return piece.binding < least ? fmt::format("({})", piece.text) : piece.text; }

void PythonPrinter::error(const PythonNode& node, const std::string& message) const {
  spec::fail_parsing(text_, position_, node.offset, message);
}

const spec::Parameter* PythonPrinter::parameter(std::string_view name) const {
  const auto found =
      std::find_if(names_.parameters.begin(), names_.parameters.end(), [&](const spec::Parameter& known) { return known.name == name; });
  return found == names_.parameters.end() ? nullptr : &*found;
}

/// Some parts are written twice, which must not double again and again.
Piece PythonPrinter::print(const PythonNode& node, Asked asked) {
  Piece piece = printed(node, asked);
  if (piece.text.size() > spec::kMostExpressionBytes) error(node, "this becomes too long in attune's language; write it more simply");
  return piece;
}

Piece PythonPrinter::printed(const PythonNode& node, Asked asked) {
  switch (node.kind) {
    case Kind::Literal:
      return {node.text, Binding::Atom};
    case Kind::Name:
      return name(node);
    case Kind::Call:
      return call(node);
    case Kind::Subscript:
      return subscript(node);
    case Kind::List:
      error(node, "a list may only stand on the right of 'in', or in min, max, sum, all and any");
    case Kind::Unary:
      return unary(node);
    case Kind::Binary:
      return binary(node);
    case Kind::Compare:
      return compare(node);
    case Kind::And:
      return joined(node, "and", Binding::And, asked);
    case Kind::Or:
      return joined(node, "or", Binding::Or, asked);
    case Kind::Not:
      return {fmt::format("not {}", held(print(node.parts[0], Asked::Truth), Binding::Not)), Binding::Not};
    case Kind::Conditional:
      return conditional(node, asked);
  }
  error(node, "this is nothing that can be imported");
}

Piece PythonPrinter::name(const PythonNode& node) {
  if (node.text == "ProblemSize") {
    if (names_.problem_sizes.size() == 1) return problem_size(node, 0);
    error(node, "ProblemSize has several dimensions; say which: ProblemSize[0]");
  }
  return known_name(node, node.text);
}

Piece PythonPrinter::known_name(const PythonNode& node, const std::string& name) {
  if (const spec::Parameter* const known = parameter(name)) {
    if (use_ != Use::DataSize) return {name, Binding::Atom};
    if (known->values.size() == 1) return of_values(node, "max", *known);
    error(node,
          fmt::format("the data would depend on the parameter '{0}', and they are the same for every configuration; write the largest "
                      "size, e.g. max({0})",
                      name));
  }
  if (std::find(names_.others.begin(), names_.others.end(), name) != names_.others.end()) return {name, Binding::Atom};
  std::vector<std::string> known = names_.others;
  for (const auto& one : names_.parameters) known.push_back(one.name);
  error(node, fmt::format("there is no parameter '{}'{}", name, spec::hint(name, known)));
}

Piece PythonPrinter::problem_size(const PythonNode& node, std::size_t dimension) {
  if (dimension >= names_.problem_sizes.size()) {
    error(node, names_.problem_sizes.empty()
                    ? "the file has no \"ProblemSize\"; give it, or write the number"
                    : fmt::format("\"ProblemSize\" has {} dimensions, counted from 0", names_.problem_sizes.size()));
  }
  return changed({names_.problem_sizes[dimension], Binding::Atom});
}

Piece PythonPrinter::subscript(const PythonNode& node) {
  const PythonNode &base = node.parts[0], &index = node.parts[1];
  if (base.kind == Kind::Name && index.kind == Kind::Literal) {
    if (base.text == "ProblemSize" || base.text == "problem_size") {
      const auto dimension = whole_number(index.text);
      if (!dimension || *dimension < 0) error(index, "a dimension of ProblemSize is a number from 0 on");
      return problem_size(node, static_cast<std::size_t>(*dimension));
    }
    const bool text = index.text.starts_with('\'') || index.text.starts_with('"');
    if (text && parameter(base.text) == nullptr) return changed(known_name(index, index.text.substr(1, index.text.size() - 2)));
  }
  error(node, "only ProblemSize[0] and p[\"parameter\"] may be written with brackets");
}

Piece PythonPrinter::joined(const PythonNode& node, std::string_view word, Binding own, Asked asked) {
  std::string text;
  for (const PythonNode& part : node.parts) {
    if (!text.empty()) text += fmt::format(" {} ", word);
    text += held(print(part, asked), tighter(own));
  }
  return {text, own};
}

Piece PythonPrinter::unary(const PythonNode& node) {
  const Piece operand = print(node.parts[0], Asked::Value);
  if (node.text == "~") return changed({fmt::format("-{} - 1", held(operand, Binding::Sign)), Binding::Sum});
  return {node.text + held(operand, Binding::Sign), Binding::Sign};
}

Piece PythonPrinter::binary_piece(const Piece& left, std::string_view symbol, const Piece& right, Binding own) const {
  return {fmt::format("{} {} {}", held(left, own), symbol, held(right, tighter(own))), own};
}

Piece PythonPrinter::binary(const PythonNode& node) {
  const std::string& symbol = node.text;
  if (symbol == "&" || symbol == "|" || symbol == "^") return bitwise(node);
  const Piece left = print(node.parts[0], Asked::Value), right = print(node.parts[1], Asked::Value);
  if (symbol == "**") return {fmt::format("{} ** {}", held(left, Binding::Atom), held(right, Binding::Sign)), Binding::Power};
  if (symbol == "<<" || symbol == ">>") {
    const Piece power{fmt::format("2 ** {}", held(right, Binding::Sign)), Binding::Power};
    return changed(binary_piece(left, symbol == "<<" ? "*" : "//", power, Binding::Product));
  }
  if (symbol == "+" || symbol == "-") return binary_piece(left, symbol, right, Binding::Sum);
  if (symbol == "/") divides_ = true;
  const auto number = node.parts[1].kind == Kind::Literal ? whole_number(right.text) : std::nullopt;
  if (symbol != "*" && (!number || *number == 0)) divisors_.push_back(right.text);
  return binary_piece(left, symbol, right, Binding::Product);
}

Piece PythonPrinter::bitwise(const PythonNode& node) {
  const PythonNode &left = node.parts[0], &right = node.parts[1];
  if (is_truth_value(left) && is_truth_value(right)) {
    const Piece a = print(left, Asked::Truth), b = print(right, Asked::Truth);
    if (node.text == "^") return changed({fmt::format("{} != {}", held(a, Binding::Sum), held(b, Binding::Sum)), Binding::Compare});
    const Binding own = node.text == "&" ? Binding::And : Binding::Or;
    return changed({fmt::format("{} {} {}", held(a, tighter(own)), node.text == "&" ? "and" : "or", held(b, tighter(own))), own});
  }
  if (node.text == "&") {
    for (const bool mask_is_right : {true, false}) {
      const PythonNode& mask = mask_is_right ? right : left;
      if (mask.kind != Kind::Literal || mask.text.starts_with('\'') || mask.text.starts_with('"')) continue;
      if (const auto modulus = modulus_of_mask(mask.text))
        return changed(binary_piece(print(mask_is_right ? left : right, Asked::Value), "%", {std::to_string(*modulus), Binding::Atom},
                                    Binding::Product));
    }
  }
  error(node,
        fmt::format("'{}' of the bits of numbers has no counterpart; name the values instead, e.g. x in [1, 2, 4, 8], or write 'and' and "
                    "'or' between conditions",
                    node.text));
}

Piece PythonPrinter::conditional(const PythonNode& node, Asked asked) {
  const std::string condition = held(print(node.parts[1], Asked::Truth), Binding::Not);
  if (asked == Asked::Truth) {
    const Piece yes = print(node.parts[0], Asked::Truth), no = print(node.parts[2], Asked::Truth);
    return changed(
        {fmt::format("{0} and {1} or not {0} and {2}", condition, held(yes, Binding::Not), held(no, Binding::Not)), Binding::Or});
  }
  if (may_fail(node.parts[0]) || may_fail(node.parts[2])) {
    error(node, "'if' and 'else' around a division have no counterpart; write a condition with 'and' and 'or'");
  }
  const Piece yes = print(node.parts[0], Asked::Value), no = print(node.parts[2], Asked::Value);
  return changed(
      {fmt::format("(not not {0}) * {1} + (not {0}) * {2}", condition, held(yes, Binding::Sign), held(no, Binding::Sign)), Binding::Sum});
}

}  // namespace attune::importing
