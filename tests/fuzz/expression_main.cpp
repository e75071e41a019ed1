// Expressions and Python's value lists, as template.json, ladder.json, --where and T1 files hold them.
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>

#include "tests/fuzz/fuzz_driver.hpp"
#include "tuner/spec/expression.hpp"

namespace {

using attune::spec::Expression;
using attune::spec::Value;

std::optional<Value> value_of(std::string_view name) {
  static const std::map<std::string, Value, std::less<>> kValues = {{"n", std::int64_t{1} << 40},
                                                                    {"block_size", std::int64_t{256}},
                                                                    {"T", std::string("f32")},
                                                                    {"x", 0.5},
                                                                    {"b", true},
                                                                    {"zero", std::int64_t{0}},
                                                                    {"least", INT64_MIN},
                                                                    {"device.sm_count", std::int64_t{132}}};
  const auto found = kValues.find(name);
  return found == kValues.end() ? std::nullopt : std::optional<Value>(found->second);
}

void read_input(const std::string& input) {
  // Both readers see every input; what one refuses is the other's language.
  try {
    for (const Value& value : attune::spec::parse_value_list(input, {"list", 1, 1})) static_cast<void>(attune::spec::to_text(value));
  } catch (const attune::Error&) {
  }
  const Expression expression = Expression::parse(input);
  for (std::size_t i = 0; i < expression.variables().size(); ++i) static_cast<void>(expression.variable_position(i));
  const std::string first = attune::spec::to_text(expression.evaluate(value_of));
  if (first != attune::spec::to_text(Expression::parse(expression.text()).evaluate(value_of)))
    throw std::logic_error("the same text has two values");
  static_cast<void>(expression.truth(value_of));
  static_cast<void>(expression.integer(value_of));
}

/// Words that mutations put into inputs.
constexpr const char* kDictionary[] = {"(",
                                       ")",
                                       "[",
                                       "]",
                                       "not ",
                                       "-",
                                       "+",
                                       "*",
                                       "/",
                                       "//",
                                       "**",
                                       "%",
                                       " and ",
                                       " or ",
                                       " in ",
                                       " not in ",
                                       " if ",
                                       " for i in ",
                                       "<",
                                       "<=",
                                       "==",
                                       "!=",
                                       ",",
                                       "'",
                                       "\"",
                                       "\\",
                                       "min(",
                                       "max(",
                                       "abs(",
                                       "ceil_div(",
                                       "clamp(",
                                       "sizeof(",
                                       "round(",
                                       "log2(",
                                       "int(",
                                       "list(",
                                       "tuple(",
                                       "range(",
                                       "range(1000000000)",
                                       "n",
                                       "T",
                                       "least",
                                       "zero",
                                       "device.sm_count",
                                       "device.",
                                       ".",
                                       "_",
                                       "0x",
                                       "e",
                                       "1e308",
                                       "True",
                                       "None",
                                       "lambda",
                                       "\n",
                                       "a+",
                                       "n<",
                                       "(n)",
                                       "[1]+",
                                       "1**",
                                       "a.b."};

}  // namespace

int main(int argc, char** argv) {
  return attune::test::fuzz_main(
      argc, argv, "expression",
      {"block_size * sizeof(T) <= 1024", "clamp(ceil_div(n, block_size * 4), 1, device.sm_count * 2)",
       "not (b and x >= 0.5) or n % block_size == 0", "T in ['f32', \"f64\"] and block_size not in (32, 64)", "1 < 2 <= n // 3 != -7 ** 2",
       "min(max(n, 3), round(2.5), floor(x), ceil(x)) + log2(n) - int('7') * abs(least)", "n // zero", "0x7fff_ffff + 1e308 * 1e-308",
       "list(range(1, 12)) + [2*i for i in range(4) if i % 2]", "(1, 2, 'a', True, 0.5)", "[16, 32]", "range(0, 9223372036854775807, 1)"},
      {std::begin(kDictionary), std::end(kDictionary)}, read_input);
}
