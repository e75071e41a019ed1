#include "tuner/spec/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tuner/spec/device_info.hpp"
#include "tuner/spec/expression_arithmetic.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::spec {
namespace {

[[noreturn]] void unknown_variable(const Site& site) {
  const std::string& name = site.program.variables[site.instruction.operand];
  std::vector<std::string> near = {"True", "False"};
  if (name.starts_with("device.")) {
    near.clear();
    for (const std::string& attribute : DeviceInfo::attribute_names()) near.push_back("device." + attribute);
  }
  site.error(fmt::format("unknown variable '{}'{}", name, suggestion(name, near)));
}

/// One step that pops two and pushes one, or works on the top alone; `top` is the topmost value.
Slot* combine(Opcode opcode, Slot* top, const Site& site) {
  switch (opcode) {
    case Opcode::Equal:
    case Opcode::NotEqual:
    case Opcode::Less:
    case Opcode::LessEqual:
    case Opcode::Greater:
    case Opcode::GreaterEqual:
      top[-1] = Slot::of(compare(opcode, top[-1], top[0], site));
      return top - 1;
    case Opcode::Add:
    case Opcode::Subtract:
    case Opcode::Multiply:
    case Opcode::Divide:
    case Opcode::FloorDivide:
    case Opcode::Modulo:
    case Opcode::Power:
    case Opcode::Minimum:
    case Opcode::Maximum:
    case Opcode::CeilDivide:
      top[-1] = arithmetic(opcode, top[-1], top[0], site);
      return top - 1;
    case Opcode::Clamp:
      top[-2] = clamp(top[-2], top[-1], top[0], site);
      return top - 2;
    case Opcode::Not:
      *top = Slot::of(!top->truth());
      return top;
    case Opcode::ListEnd:
      *top = Slot::of(false);
      return top;
    default:
      *top = unary(opcode, *top, site);
      return top;
  }
}

/// Runs the program; `load(i)` finds the value of variable i, null when it has none. The result's text, if any, lives
/// as long as what `load` returned and the program.
template <class Load>
Slot run(const Expression::Program& program, Load&& load) {
  Slot stack[kStackDepth + 1];  // the lowest stays unused, so that an empty stack has a topmost slot too
  Slot* top = stack;
  const Instruction* const code = program.code.data();
  const std::size_t end = program.code.size();
  for (std::size_t at = 0; at < end;) {
    const Instruction& instruction = code[at++];
    switch (instruction.opcode) {
      case Opcode::Constant:
        *++top = Slot::of(program.constants[instruction.operand]);
        break;
      case Opcode::Variable: {
        const Value* const value = load(instruction.operand);
        if (value == nullptr) unknown_variable({program, instruction});
        *++top = Slot::of(*value);
        break;
      }
      case Opcode::AndJump:
      case Opcode::OrJump:
        if (top->truth() == (instruction.opcode == Opcode::OrJump)) {
          at = instruction.operand;
        } else {
          --top;
        }
        break;
      case Opcode::ChainStep: {
        const bool holds = compare(instruction.comparison, top[-1], top[0], {program, instruction});
        top[-1] = holds ? top[0] : Slot::of(false);
        --top;
        if (!holds) at = instruction.operand;
        break;
      }
      case Opcode::ListItem: {
        --top;
        if (!compare(Opcode::Equal, top[0], top[1], {program, instruction})) break;
        *top = Slot::of(true);
        at = instruction.operand;
        break;
      }
      default:
        top = combine(instruction.opcode, top, {program, instruction});
        break;
    }
  }
  return *top;
}

/// Loads through a Scope, each variable once and only when it is needed: a `let` that fails is no matter to a branch
/// that is not taken.
class ScopeLoader {
 public:
  ScopeLoader(const Expression::Program& program, const Scope& scope)
      : program_(program), scope_(scope), values_(program.variables.size()) {}
  const Value* operator()(std::uint32_t index) {
    std::optional<Value>& value = values_[index];
    if (!value) value = scope_(program_.variables[index]);
    return value ? &*value : nullptr;
  }

 private:
  const Expression::Program& program_;
  const Scope& scope_;
  std::vector<std::optional<Value>> values_;
};

auto span_loader(std::span<const Value* const> values) {
  return [values](std::uint32_t index) { return index < values.size() ? values[index] : nullptr; };
}

}  // namespace

const Expression::Program& Expression::program() const {
  if (!program_) throw Error("failed using an expression: it was never parsed (a defect of the caller)");
  return *program_;
}

Expression Expression::constant(const Value& value, const SourcePosition& position) {
  auto program = std::make_shared<Program>();
  const std::string text = to_text(value);
  program->text = std::holds_alternative<std::string>(value) ? "'" + text + "'" : text;
  program->position = position;
  program->constants.push_back(value);
  program->code.push_back({Opcode::Constant, Opcode::Equal, 0, 0});
  return Expression(program);
}

Value Expression::evaluate(const Scope& scope) const {
  ScopeLoader loader(program(), scope);
  return run(program(), loader).value();
}

Value Expression::evaluate(std::span<const Value* const> values) const { return run(program(), span_loader(values)).value(); }

bool Expression::truth(std::span<const Value* const> values) const { return run(program(), span_loader(values)).truth(); }

bool Expression::truth(const Scope& scope) const {
  ScopeLoader loader(program(), scope);
  return run(program(), loader).truth();
}

std::int64_t Expression::integer(const Scope& scope) const {
  const Value value = evaluate(scope);
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const bool* boolean = std::get_if<bool>(&value)) return *boolean ? 1 : 0;
  const double* real = std::get_if<double>(&value);
  if (real != nullptr && std::trunc(*real) == *real && std::fabs(*real) < 9223372036854775808.0) {
    return static_cast<std::int64_t>(*real);
  }
  fail(position(), fmt::format("failed evaluating the expression \"{}\": an integer is needed, not {}{}", text(), to_text(value),
                               real != nullptr ? "; '//' divides to an integer" : ""));
}

std::optional<Expression> Expression::first_alternative() const {
  const auto& code = program().code;
  const auto decides = std::find_if(code.begin(), code.end(), [&](const Instruction& instruction) {
    return instruction.opcode == Opcode::OrJump && instruction.operand == code.size();
  });
  if (decides == code.end()) return std::nullopt;
  auto part = std::make_shared<Program>(program());
  part->code.assign(code.begin(), decides);
  part->variables.clear();
  part->variable_offsets.clear();
  const auto end = static_cast<std::uint32_t>(part->code.size());
  for (Instruction& instruction : part->code) {
    switch (instruction.opcode) {
      case Opcode::AndJump:  // of an `and` around it: false here, whatever the other alternatives are
      case Opcode::OrJump:
      case Opcode::ChainStep:
      case Opcode::ListItem:
        instruction.operand = std::min(instruction.operand, end);
        break;
      case Opcode::Variable: {
        const std::string& name = program().variables[instruction.operand];
        const auto known = std::find(part->variables.begin(), part->variables.end(), name);
        const auto index = static_cast<std::uint32_t>(known - part->variables.begin());
        if (known == part->variables.end()) {
          part->variables.push_back(name);
          part->variable_offsets.push_back(program().variable_offsets[instruction.operand]);
        }
        instruction.operand = index;
        break;
      }
      default:
        break;
    }
  }
  return Expression(std::move(part));
}

const std::vector<std::string>& Expression::variables() const { return program().variables; }
const std::string& Expression::text() const { return program().text; }
const SourcePosition& Expression::position() const { return program().position; }

SourcePosition Expression::variable_position(std::size_t index) const {
  return advance(position(), text(), program().variable_offsets.at(index));
}

}  // namespace attune::spec
