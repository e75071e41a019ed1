#pragma once
#include <cstdint>
#include <string>

#include "tuner/spec/expression_program.hpp"

namespace attune::spec {

/// A value on the stack: trivially copyable, so that evaluating allocates nothing. Texts belong to the program or to
/// the caller's values.
struct Slot {
  enum class Kind : std::uint8_t { Bool, Integer, Real, Text };
  Kind kind;
  union {
    std::int64_t integer;  ///< also of Bool: 0 or 1
    double real;
    const std::string* text;
  };

  [[nodiscard]] bool is_integral() const { return kind == Kind::Bool || kind == Kind::Integer; }
  [[nodiscard]] static Slot of(bool value) { return make(Kind::Bool, value ? 1 : 0); }
  [[nodiscard]] static Slot of(std::int64_t value) { return make(Kind::Integer, value); }
  [[nodiscard]] static Slot of(double value) {
    Slot slot;
    slot.kind = Kind::Real;
    slot.real = value;
    return slot;
  }
  [[nodiscard]] static Slot of(const Value& value);
  [[nodiscard]] Value value() const;
  [[nodiscard]] bool truth() const;

 private:
  [[nodiscard]] static Slot make(Kind kind, std::int64_t integer) {
    Slot slot;
    slot.kind = kind;
    slot.integer = integer;
    return slot;
  }
};

/// Where an operation stands, for its errors.
struct Site {
  const Expression::Program& program;
  const Instruction& instruction;
  [[noreturn]] void error(const std::string& message) const;
};

/// Python's arithmetic on two numbers. Throws: SpecError (a string, overflow, division by zero).
[[nodiscard]] Slot arithmetic(Opcode opcode, const Slot& a, const Slot& b, const Site& site);
/// Python's comparison; `==` and `!=` of a string and a number hold no error. Throws: SpecError for `<` of such a pair.
[[nodiscard]] bool compare(Opcode opcode, const Slot& a, const Slot& b, const Site& site);
/// Functions and signs of one value.
[[nodiscard]] Slot unary(Opcode opcode, const Slot& a, const Site& site);
[[nodiscard]] Slot clamp(const Slot& value, const Slot& low, const Slot& high, const Site& site);

}  // namespace attune::spec
