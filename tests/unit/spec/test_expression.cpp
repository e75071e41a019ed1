#include <doctest/doctest.h>

#include <limits>

#include "spec_support.hpp"
#include "tuner/spec/expression.hpp"

namespace test_expression {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

std::int64_t integer(const std::string& text, std::map<std::string, Value> values = {}) {
  const Value value = evaluate(text, std::move(values));
  REQUIRE_MESSAGE(std::holds_alternative<std::int64_t>(value), text);
  return std::get<std::int64_t>(value);
}

double real(const std::string& text) {
  const Value value = evaluate(text);
  REQUIRE_MESSAGE(std::holds_alternative<double>(value), text);
  return std::get<double>(value);
}

bool boolean(const std::string& text, std::map<std::string, Value> values = {}) {
  const Value value = evaluate(text, std::move(values));
  REQUIRE_MESSAGE(std::holds_alternative<bool>(value), text);
  return std::get<bool>(value);
}

std::string failure(const std::string& text, std::map<std::string, Value> values = {}) {
  return error_of([&] { (void)evaluate(text, values); });
}

}  // namespace

TEST_CASE("operators bind as in Python") {
  CHECK(integer("1 + 2 * 3") == 7);
  CHECK(integer("(1 + 2) * 3") == 9);
  CHECK(integer("10 - 3 - 2") == 5);
  CHECK(integer("2 ** 3 ** 2") == 512);
  CHECK(integer("-2 ** 2") == -4);
  CHECK(real("2 ** -1") == 0.5);
  CHECK(integer("7 // 2 * 2") == 6);
  CHECK(integer("- - + 5") == 5);
  CHECK(boolean("not 1 == 2"));
  CHECK(boolean("not not True"));
  CHECK(boolean("True or False and False"));
  CHECK(boolean("1 + 1 == 2 and 3 > 2"));
  CHECK(integer("0x10 + 1_000") == 1016);
}

TEST_CASE("comparisons chain, and the middle is compared with both sides") {
  CHECK(boolean("1 < 2 < 3"));
  CHECK_FALSE(boolean("1 < 3 < 2"));
  CHECK_FALSE(boolean("3 < 1 < 2"));
  CHECK(boolean("1 < 2 == 2 <= 2 != 3 > 1 >= 1"));
  CHECK_FALSE(boolean("0 == 0 == 1"));  // (0 == 0) == 1 would hold
  CHECK(boolean("1 <= x < 5 in [4, 5]", {{"x", std::int64_t{3}}}));
}

TEST_CASE("a chain stops at the comparison that fails") {
  CHECK_FALSE(boolean("2 < 1 < 1 // 0"));
  CHECK_FALSE(boolean("2 < 1 < missing in [1]"));
}

TEST_CASE("and and or stop at the operand that decides and return it") {
  CHECK(integer("0 or 7") == 7);
  CHECK(integer("5 or 1 // 0") == 5);
  CHECK(integer("0 and 1 // 0") == 0);
  CHECK(integer("3 and 4") == 4);
  CHECK(std::get<std::string>(evaluate("'' or 'x'")) == "x");
  CHECK(boolean("x == 0 or unknown > 1", {{"x", std::int64_t{0}}}));
}

TEST_CASE("division floors towards minus infinity and / gives a float") {
  CHECK(integer("-7 // 2") == -4);
  CHECK(integer("7 // -2") == -4);
  CHECK(integer("-7 // -2") == 3);
  CHECK(integer("-7 % 3") == 2);
  CHECK(integer("7 % -3") == -2);
  CHECK(integer("-6 % 3") == 0);
  CHECK(real("6 / 4") == 1.5);
  CHECK(real("6 / 3") == 2.0);
  CHECK(real("7.5 // 2") == 3.0);
  CHECK(real("-7.5 // 2") == -4.0);
  CHECK(real("-7.5 % 2") == 0.5);
  CHECK(integer("low % -1", {{"low", std::numeric_limits<std::int64_t>::min()}}) == 0);
}

TEST_CASE("booleans count as 0 and 1") {
  CHECK(integer("True + True") == 2);
  CHECK(integer("(n > 3) * 10", {{"n", std::int64_t{4}}}) == 10);
  CHECK(integer("-True") == -1);
  CHECK(boolean("True == 1.0"));
}

TEST_CASE("integers and floats compare exactly") {
  CHECK_FALSE(boolean("9007199254740993 == 9007199254740992.0"));
  CHECK(boolean("9007199254740993 > 9007199254740992.0"));
}

TEST_CASE("functions give what their names say") {
  CHECK(integer("min(3, 1, 2)") == 1);
  CHECK(integer("max(3, 1, 2)") == 3);
  CHECK(std::get<std::string>(evaluate("max('a', 'b')")) == "b");
  CHECK(integer("abs(-5)") == 5);
  CHECK(real("abs(-5.5)") == 5.5);
  CHECK(integer("ceil_div(7, 2)") == 4);
  CHECK(integer("ceil_div(8, 2)") == 4);
  CHECK(integer("ceil_div(-7, 2)") == -3);
  CHECK(integer("ceil_div(0, 4)") == 0);
  CHECK(integer("clamp(5, 1, 3)") == 3);
  CHECK(integer("clamp(0, 1, 3)") == 1);
  CHECK(integer("clamp(2, 1, 3)") == 2);
  CHECK(integer("round(2.5)") == 2);
  CHECK(integer("round(3.5)") == 4);
  CHECK(integer("floor(-1.5)") == -2);
  CHECK(integer("ceil(-1.5)") == -1);
  CHECK(integer("int(-1.9)") == -1);
  CHECK(integer("int(True)") == 1);
  CHECK(real("log2(1024)") == 10.0);
  CHECK(real("-(1.5)") == -1.5);
}

TEST_CASE("sizeof takes a type by its own name or by the axis that holds it") {
  CHECK(integer("sizeof(T)", {{"T", std::string("bf16")}}) == 2);
  CHECK(integer("sizeof(f64)") == 8);
  CHECK(integer("sizeof('i32')") == 4);
  CHECK(contains(failure("sizeof(T)", {{"T", std::string("half")}}), "needs an element type, not 'half'"));
}

TEST_CASE("in and not in look for equal items of a list") {
  CHECK(boolean("2 in [1, 2, 3]"));
  CHECK(boolean("'b' in ('a', 'b',)"));
  CHECK_FALSE(boolean("4 in [1, 2, 3]"));
  CHECK(boolean("4 not in [1, 2, 3]"));
  CHECK_FALSE(boolean("1 in []"));
  CHECK(boolean("x in [y, y + 1]", {{"x", std::int64_t{3}}, {"y", std::int64_t{2}}}));
  CHECK(boolean("not 1 in [2] and 1 in [1]"));
}

TEST_CASE("strings stand in either quotes and may hold escaped ones") {
  CHECK(std::get<std::string>(evaluate(R"('it\'s')")) == "it's");
  CHECK(std::get<std::string>(evaluate(R"("back\\slash")")) == "back\\slash");
  CHECK(boolean("'a' < 'b'"));
  CHECK_FALSE(boolean("'1' == 1"));
  CHECK(boolean("'1' != 1"));
}

TEST_CASE("overflow of 64-bit integers is an error in every operator") {
  const std::map<std::string, Value> edge = {{"high", std::numeric_limits<std::int64_t>::max()},
                                             {"low", std::numeric_limits<std::int64_t>::min()}};
  for (const char* text : {"high + 1", "low - 1", "high * 2", "2 ** 63", "10 ** 40", "-low", "abs(low)", "low // -1", "int(1e19)"}) {
    CAPTURE(text);
    CHECK(contains(failure(text, edge), "exceeds 64-bit integers"));
  }
  CHECK(integer("2 ** 62") == std::int64_t{1} << 62);
  CHECK(integer("(-1) ** 1000000001") == -1);
  CHECK(contains(failure("9223372036854775808"), "out of range"));
}

TEST_CASE("division by zero and other impossible operations say so") {
  CHECK(contains(failure("1 // 0"), "'//' divides by zero"));
  CHECK(contains(failure("1 / 0"), "'/' divides by zero"));
  CHECK(contains(failure("1 % 0"), "'%' divides by zero"));
  CHECK(contains(failure("1.0 / 0"), "'/' divides by zero"));
  CHECK(contains(failure("0 ** -1"), "divides by zero"));
  CHECK(contains(failure("0.0 ** -1"), "divides by zero"));
  CHECK(contains(failure("(-2.0) ** 0.5"), "no finite number"));
  CHECK(contains(failure("ceil_div(1, 0)"), "'ceil_div' divides by zero"));
  CHECK(contains(failure("ceil_div(1.5, 1)"), "ceil_div needs integers"));
  CHECK(contains(failure("log2(0)"), "positive"));
  CHECK(contains(failure("clamp(1, 3, 2)"), "lower bound 3 exceeds its upper bound 2"));
  CHECK(contains(failure("1 + 'a'"), "'+' needs numbers, not the string 'a'"));
  CHECK(contains(failure("-'a'"), "'-' needs numbers"));
  CHECK(contains(failure("1 < 'a'"), "cannot be ordered"));
}

TEST_CASE("a syntax error names file, line, the offending column and the expression") {
  const SourcePosition at{"t.json", 7, 20};
  const auto syntax = [&](const std::string& text) { return error_of([&] { (void)Expression::parse(text, at); }); };
  CHECK(syntax("1 + * 2") == "t.json:7:24: failed parsing the expression \"1 + * 2\": a value expected, found '*'");
  CHECK(contains(syntax("1 +"), "t.json:7:23: "));
  CHECK(contains(syntax("(1"), "')' expected, but the expression ends here"));
  CHECK(contains(syntax("a b"), "t.json:7:22: "));
  CHECK(contains(syntax(""), "t.json:7:20: the expression is empty"));
  CHECK(contains(syntax("a && b"), "use 'and'"));
  CHECK(contains(syntax("a || b"), "use 'or'"));
  CHECK(contains(syntax("!a"), "use 'not'"));
  CHECK(contains(syntax("a = b"), "use '==' to compare"));
  CHECK(contains(syntax("a ? b"), "unexpected character '?'"));
  CHECK(contains(syntax("'abc"), "no closing '"));
  CHECK(contains(syntax(R"('a\n')"), "backslash"));
  CHECK(contains(syntax("1abc"), "'1abc' is not a number"));
  CHECK(contains(syntax("minn(1, 2)"), "unknown function 'minn'; did you mean 'min'?"));
  CHECK(contains(syntax("abs(1, 2)"), "abs takes 1 argument, not 2"));
  CHECK(contains(syntax("min(1)"), "min takes at least 2 arguments, not 1"));
  CHECK(contains(syntax("min"), "needs arguments"));
  CHECK(contains(syntax("x in 5"), "a list such as [1, 2] after 'in'"));
  CHECK(contains(syntax("x in [1] == True"), "no comparison may follow a list"));
  CHECK(contains(syntax("[1] == x"), "a list may only stand on the right of 'in'"));
  CHECK(contains(syntax("a if b else c"), "found 'if'"));
  CHECK(contains(syntax("None == 1"), "'None' is not part of the expression language"));
  CHECK(contains(syntax("and 1"), "a value expected, found 'and'"));
  CHECK(contains(syntax("1e999"), "out of range"));
}

TEST_CASE("columns count characters, not bytes") {
  const std::string message = error_of([] { (void)Expression::parse("'\xC3\xA4' + *", {"f", 1, 1}); });
  CHECK(contains(message, "f:1:7: "));
}

TEST_CASE("an evaluation error points at the operator or the variable") {
  const Expression division = Expression::parse("1 + a // b", {"t.json", 3, 10});
  const std::string message = error_of([&] { (void)division.evaluate(scope_of({{"a", std::int64_t{1}}, {"b", std::int64_t{0}}})); });
  CHECK(message == "t.json:3:16: failed evaluating the expression \"1 + a // b\": '//' divides by zero");
  CHECK(contains(error_of([&] { (void)division.evaluate(scope_of({})); }), "t.json:3:14: "));
}

TEST_CASE("an unknown variable is named, with a suggestion where one is near") {
  CHECK(contains(failure("nothing + 1"), "unknown variable 'nothing'"));
  CHECK(contains(failure("device.sm_cuont"), "did you mean 'device.sm_count'?"));
  CHECK(contains(failure("true"), "did you mean 'True'?"));
}

TEST_CASE("hostile nesting is an error, not a crash") {
  CHECK(contains(error_of([] { (void)Expression::parse(std::string(16000, '(') + "1"); }), "nested too deeply"));
  std::string powers = "1";
  for (int i = 0; i < 1000; ++i) powers += "**1";
  CHECK(contains(error_of([&] { (void)Expression::parse(powers); }), "nested too deeply"));
  CHECK(boolean("not " + std::string("not ") + "1 == 1"));
  std::string nots;
  for (int i = 0; i < 4000; ++i) nots += "not ";
  CHECK(boolean(nots + "True"));
  CHECK(integer(std::string(16000, '-') + "1") == 1);
  std::string deep;
  for (int i = 0; i < 30; ++i) deep += "clamp(0, 0, 1 + ";
  CHECK(contains(error_of([&] { (void)Expression::parse(deep + "1" + std::string(30, ')')); }), "nested too deeply"));
}

TEST_CASE("variables are listed once, in order of first use, with their places") {
  const Expression expression = Expression::parse("b + a * b + device.sm_count", {"f", 2, 5});
  CHECK(expression.variables() == std::vector<std::string>{"b", "a", "device.sm_count"});
  CHECK(expression.variable_position(1).column == 9);
  CHECK(expression.text() == "b + a * b + device.sm_count");
  CHECK(expression.position().line == 2);
}

TEST_CASE("the fast form agrees with the scope form") {
  const Expression expression = Expression::parse("a * 2 < b and s == 'x'");
  const Value a = std::int64_t{3};
  const Value b = std::int64_t{7};
  const Value x = std::string("x");
  const Value* const values[] = {&a, &b, &x};
  CHECK(expression.truth(values));
  CHECK(expression.truth(scope_of({{"a", a}, {"b", b}, {"s", x}})));
  CHECK(expression.evaluate(values) == Value(true));
  const Value* const incomplete[] = {&a, nullptr};
  CHECK(contains(error_of([&] { (void)expression.truth(incomplete); }), "unknown variable 'b'"));
}

TEST_CASE("integer() takes whole floats and booleans and refuses the rest") {
  const Scope none = scope_of({});
  CHECK(Expression::parse("6 / 3").integer(none) == 2);
  CHECK(Expression::parse("1 == 1").integer(none) == 1);
  CHECK(contains(error_of([&] { (void)Expression::parse("7 / 2").integer(none); }), "an integer is needed, not 3.5; '//' divides"));
  CHECK(contains(error_of([&] { (void)Expression::parse("'x'").integer(none); }), "an integer is needed, not x"));
  CHECK_THROWS_AS((void)Expression::parse("1e300").integer(none), SpecError);
}

TEST_CASE("a constant needs no text, and an empty expression is a defect that is told") {
  const Scope none = scope_of({});
  CHECK(Expression::constant(std::int64_t{5}).integer(none) == 5);
  CHECK(Expression::constant(std::string("a")).text() == "'a'");
  CHECK(Expression::constant(std::string("a")).truth(none));
  CHECK_FALSE(Expression::constant(0.0).truth(none));
  CHECK(contains(error_of([] { (void)Expression().variables(); }), "never parsed"));
}

TEST_CASE("the first alternative of a condition implies it, and is told from its own variables") {
  struct Case {
    std::string text;
    std::vector<std::string> variables;  ///< of the first alternative
  };
  const std::vector<Case> cases = {{"a == 1 or b == 1", {"a"}},
                                   {"b < 2 or a == 1 or c == 1", {"b"}},
                                   {"a == 1 and b == 1 or c == 1", {"a", "b"}},
                                   {"(a == 1 or b == 1) or c == 1", {"a", "b"}},
                                   {"(c == 1 or b == 1) and a == 1 or b == 2", {"c", "b", "a"}},
                                   {"a == 1 and (b == 1 or c == 1)", {"a", "b"}},
                                   {"0 < c < 2 or a == 1", {"c"}},
                                   {"b in (1, a) or c == 1", {"b", "a"}},
                                   {"not (a == 1 or b == 1) or c == 1", {"a", "b"}}};
  for (const auto& [text, variables] : cases) {
    CAPTURE(text);
    const auto whole = Expression::parse(text);
    const auto first = whole.first_alternative();
    REQUIRE(first.has_value());
    CHECK(first->variables() == variables);
    int implied = 0;
    for (std::int64_t values = 0; values < 27; ++values) {
      const Scope scope = [&](std::string_view name) {
        return std::optional<Value>(name == "a" ? values % 3 : name == "b" ? values / 3 % 3 : values / 9);
      };
      if (!first->truth(scope)) continue;
      ++implied;
      CHECK(whole.truth(scope));
    }
    CHECK(implied > 0);
  }
  for (const auto* text :
       {"a == 1", "a == 1 and b == 1", "not (a == 1 or b == 1)", "(a == 1 or b == 1) and c == 1", "int(a == 1 or b == 1) == 1"}) {
    CAPTURE(text);
    CHECK_FALSE(Expression::parse(text).first_alternative().has_value());
  }
}

}  // namespace test_expression
