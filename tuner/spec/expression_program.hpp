#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/spec/expression.hpp"

namespace attune::spec {

/// Instructions of the stack machine. The names say what replaces the topmost values.
enum class Opcode : std::uint8_t {
  Constant,
  Variable,
  Negate,
  Plus,
  Not,
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Modulo,
  Power,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Minimum,
  Maximum,
  CeilDivide,
  Clamp,
  Absolute,
  SizeOf,
  Round,
  Floor,
  Ceil,
  Log2,
  ToInteger,
  AndJump,    ///< falsy: keep the value and jump; truthy: drop it
  OrJump,     ///< truthy: keep the value and jump; falsy: drop it
  ChainStep,  ///< a, b: `comparison` holds: leave b; else leave False and jump
  ListItem,   ///< x, item: equal: leave True and jump; else leave x
  ListEnd,    ///< x: leave False
};

struct Instruction {
  Opcode opcode = Opcode::Constant;
  Opcode comparison = Opcode::Equal;  ///< of ChainStep
  std::uint32_t operand = 0;          ///< index of a constant or variable, or the jump's target
  std::uint32_t offset = 0;           ///< of the token in the text, for errors
};

/// The deepest stack that any program may need; the parser refuses what needs more.
inline constexpr std::size_t kStackDepth = 64;

struct Expression::Program {
  std::string text;
  SourcePosition position;
  std::vector<std::string> variables;
  std::vector<std::uint32_t> variable_offsets;  ///< of the first use
  std::vector<Value> constants;
  std::vector<Instruction> code;
};

}  // namespace attune::spec
