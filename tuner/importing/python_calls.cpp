// Of PythonPrinter: functions, comparisons and lists.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tuner/importing/python_printer.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::importing {
namespace {

using Kind = PythonNode::Kind;

/// Functions that mean the same in both languages, and how many arguments they take.
struct SameFunction {
  std::string_view name;
  std::size_t arguments;
};
constexpr std::array<SameFunction, 8> kSame{
    {{"abs", 1}, {"int", 1}, {"round", 1}, {"floor", 1}, {"ceil", 1}, {"log2", 1}, {"ceil_div", 2}, {"clamp", 3}}};

constexpr std::int64_t kMostListed = 256;

/// "math.ceil", "np.ceil" and "ceil" are one function.
std::string without_module(const std::string& name) {
  for (const std::string_view module : {"math.", "np.", "numpy."}) {
    if (name.starts_with(module)) return name.substr(module.size());
  }
  return name;
}

std::optional<std::int64_t> constant_of(const std::string& expression) {
  const auto parsed = spec::Expression::parse(expression);
  if (!parsed.variables().empty()) return std::nullopt;
  return parsed.integer([](std::string_view) { return std::optional<spec::Value>(); });
}

bool is_number(const spec::Value& value) { return !std::holds_alternative<std::string>(value); }

double as_double(const spec::Value& value) {
  if (const auto* const boolean = std::get_if<bool>(&value)) return *boolean ? 1 : 0;
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

}  // namespace

Piece PythonPrinter::call(const PythonNode& node) {
  const std::string function = without_module(node.text);
  if (function != node.text) rewritten_ = true;
  const auto needs = [&](std::size_t count) {
    if (node.parts.size() != count) error(node, fmt::format("{} takes {} argument{} here", node.text, count, count == 1 ? "" : "s"));
  };
  if (function == "min" || function == "max") return extreme(node, function);
  if (function == "len" && use_ == Use::DataSize && node.parts.size() == 1 && parameter(node.parts[0].text) != nullptr)
    return changed({std::to_string(parameter(node.parts[0].text)->values.size()), Binding::Atom});
  if (function == "sum") return folded(node, "+", Binding::Sum);
  if (function == "prod") return folded(node, "*", Binding::Product);
  if (function == "all") return folded(node, "and", Binding::And);
  if (function == "any") return folded(node, "or", Binding::Or);
  if (function == "pow" || function == "sqrt") {
    needs(function == "pow" ? 2 : 1);
    const std::string exponent = function == "pow" ? held(print(node.parts[1], Asked::Value), Binding::Sign) : "0.5";
    return changed({fmt::format("{} ** {}", held(print(node.parts[0], Asked::Value), Binding::Atom), exponent), Binding::Power});
  }
  if (function == "float" || function == "bool") {
    needs(1);
    if (function == "float")
      return changed({fmt::format("{} * 1.0", held(print(node.parts[0], Asked::Value), Binding::Product)), Binding::Product});
    return changed({fmt::format("not not {}", held(print(node.parts[0], Asked::Truth), Binding::Not)), Binding::Not});
  }
  std::vector<std::string> known = {"min", "max", "sum", "prod", "all", "any", "pow", "sqrt", "float", "bool"};
  for (const auto& [name, count] : kSame) {
    known.emplace_back(name);
    if (name != function) continue;
    needs(count);
    std::string arguments;
    for (const PythonNode& part : node.parts) arguments += (arguments.empty() ? "" : ", ") + print(part, Asked::Value).text;
    return {fmt::format("{}({})", function, arguments), Binding::Atom};
  }
  error(node, fmt::format("unknown function '{}'{}", node.text, spec::hint(function, known)));
}

/// sum([a, b]) as a + b.
Piece PythonPrinter::folded(const PythonNode& node, std::string_view symbol, Binding own) {
  if (node.parts.size() != 1 || node.parts[0].kind != Kind::List || node.parts[0].parts.empty())
    error(node, fmt::format("{} takes a list here, e.g. {}([a, b])", node.text, node.text));
  const bool truth = own == Binding::And || own == Binding::Or;
  std::string text;
  for (const PythonNode& part : node.parts[0].parts) {
    if (!text.empty()) text += fmt::format(" {} ", symbol);
    text += held(print(part, truth ? Asked::Truth : Asked::Value), static_cast<Binding>(static_cast<int>(own) + 1));
  }
  return changed({truth ? fmt::format("not not ({})", text) : text, truth ? Binding::Not : own});
}

/// min and max of several values, of a list, or of a parameter's values.
Piece PythonPrinter::extreme(const PythonNode& node, const std::string& function) {
  const bool single = node.parts.size() == 1;
  if (single && node.parts[0].kind == Kind::Name && use_ == Use::DataSize) {
    if (const auto* const known = parameter(node.parts[0].text)) return of_values(node, function, *known);
  }
  const bool of_list = single && node.parts[0].kind == Kind::List;
  const std::vector<PythonNode>& values = of_list ? node.parts[0].parts : node.parts;
  if (values.empty() || (single && !of_list))
    error(node, fmt::format("{} takes several values or a list, e.g. {}(a, b)", node.text, node.text));
  if (of_list) rewritten_ = true;
  if (values.size() == 1) return print(values[0], Asked::Value);
  std::string arguments;
  for (const PythonNode& value : values) arguments += (arguments.empty() ? "" : ", ") + print(value, Asked::Value).text;
  return {fmt::format("{}({})", function, arguments), Binding::Atom};
}

Piece PythonPrinter::of_values(const PythonNode& node, const std::string& function, const spec::Parameter& known) {
  if (!std::all_of(known.values.begin(), known.values.end(), is_number))
    error(node, fmt::format("the values of '{}' are no numbers, and the size of data is one", known.name));
  const auto less = [](const spec::Value& a, const spec::Value& b) { return as_double(a) < as_double(b); };
  const auto [least, most] = std::minmax_element(known.values.begin(), known.values.end(), less);
  const std::string text = spec::to_text(function == "min" ? *least : *most);
  return changed({text, text.starts_with('-') ? Binding::Sign : Binding::Atom});
}

std::string PythonPrinter::list(const PythonNode& node) {
  std::string text;
  for (const PythonNode& part : node.parts) text += (text.empty() ? "" : ", ") + print(part, Asked::Value).text;
  if (text_.substr(node.offset).starts_with('{')) rewritten_ = true;
  return fmt::format("[{}]", text);
}

/// x in range(first, stop, step).
Piece PythonPrinter::member_of_range(const PythonNode& left, const PythonNode& range, bool negated) {
  if (range.parts.empty() || range.parts.size() > 3) error(range, "range takes 1 to 3 arguments");
  rewritten_ = true;
  std::vector<std::string> bounds;
  for (const PythonNode& part : range.parts) bounds.push_back(held(print(part, Asked::Value), Binding::Sum));
  if (bounds.size() == 1) bounds.insert(bounds.begin(), "0");
  const Piece value = print(left, Asked::Value);
  std::vector<std::int64_t> numbers;
  for (const std::string& bound : bounds) {
    if (const auto number = constant_of(bound)) numbers.push_back(*number);
  }
  if (numbers.size() == bounds.size()) {
    const std::int64_t step = numbers.size() == 3 ? numbers[2] : 1;
    if (step == 0) error(range, "the step of a range must not be 0");
    std::string items;
    std::int64_t count = 0;
    for (std::int64_t at = numbers[0]; count <= kMostListed && (step > 0 ? at < numbers[1] : at > numbers[1]); at += step, ++count)
      items += fmt::format("{}{}", items.empty() ? "" : ", ", at);
    if (count <= kMostListed)
      return {fmt::format("{} {} [{}]", held(value, Binding::Sum), negated ? "not in" : "in", items), Binding::Compare};
  }
  if (bounds.size() == 3)
    error(range, fmt::format("a range with a step must be of numbers, of at most {} of them; write comparisons and '%'", kMostListed));
  const std::string inside =
      fmt::format("({} <= {} < {} and {} % 1 == 0)", bounds[0], held(value, Binding::Sum), bounds[1], held(value, Binding::Product));
  return negated ? Piece{"not " + inside, Binding::Not} : Piece{inside, Binding::Atom};
}

Piece PythonPrinter::compared(const PythonNode& left, const std::string& symbol, const PythonNode& right) {
  const bool membership = symbol == "in" || symbol == "not in";
  const PythonNode& inner =
      membership && right.kind == Kind::Call && right.text == "list" && right.parts.size() == 1 ? right.parts[0] : right;
  if (&inner != &right) rewritten_ = true;
  if (membership && inner.kind == Kind::Call && inner.text == "range") return member_of_range(left, inner, symbol == "not in");
  if (membership && inner.kind != Kind::List) error(inner, fmt::format("a list such as [1, 2] expected after '{}'", symbol));
  const std::string value = held(print(left, Asked::Value), Binding::Sum);
  const std::string other = membership ? list(inner) : held(print(inner, Asked::Value), Binding::Sum);
  return {fmt::format("{} {} {}", value, symbol, other), Binding::Compare};
}

/// A chain stays one where attune has it: without lists.
Piece PythonPrinter::compare(const PythonNode& node) {
  if (node.operators.size() == 1) return compared(node.parts[0], node.operators[0], node.parts[1]);
  std::string text;
  const bool lists =
      std::any_of(node.parts.begin() + 1, node.parts.end(), [](const PythonNode& part) { return part.kind == Kind::List; }) ||
      std::any_of(node.operators.begin(), node.operators.end(), [](const std::string& one) { return one.ends_with("in"); });
  if (!lists) {
    text = held(print(node.parts[0], Asked::Value), Binding::Sum);
    for (std::size_t i = 0; i < node.operators.size(); ++i)
      text += fmt::format(" {} {}", node.operators[i], held(print(node.parts[i + 1], Asked::Value), Binding::Sum));
    return {text, Binding::Compare};
  }
  for (std::size_t i = 0; i < node.operators.size(); ++i) {
    if (i > 0) text += " and ";
    text += held(compared(node.parts[i], node.operators[i], node.parts[i + 1]), Binding::Not);
  }
  return changed({text, Binding::And});
}

}  // namespace attune::importing
