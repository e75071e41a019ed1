#include "tuner/importing/python_translation.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "attune/error.hpp"

namespace test_python_translation {

using namespace attune;
using namespace attune::importing;

namespace {

using spec::Value;

KnownNames names() {
  KnownNames known;
  for (const char* const name : {"a", "b", "c"}) known.parameters.push_back({name, {std::int64_t{2}, std::int64_t{8}, std::int64_t{5}}});
  known.parameters.push_back({"w", {std::int64_t{3}}});
  known.problem_sizes = {"problem_size_x", "problem_size_y"};
  known.others = known.problem_sizes;
  return known;
}

std::string condition(const std::string& text) { return translate_python(text, {"t1.json", 3, 10}, names(), Use::Condition).text; }
std::string number(const std::string& text) { return translate_python(text, {"t1.json", 3, 10}, names(), Use::Number).text; }
std::string data_size(const std::string& text) { return translate_python(text, {"t1.json", 3, 10}, names(), Use::DataSize).text; }

Value value_of(const std::string& text, std::int64_t a, std::int64_t b, std::int64_t c) {
  return spec::Expression::parse(text).evaluate([&](std::string_view name) -> std::optional<Value> {
    if (name == "a") return Value(a);
    if (name == "b") return Value(b);
    return name == "c" ? std::optional<Value>(c) : std::nullopt;
  });
}

bool is_true(const Value& value) {
  const auto* const truth = std::get_if<bool>(&value);
  return truth != nullptr ? *truth : std::get<std::int64_t>(value) != 0;
}

/// The condition compared with C++ for every a, b and c of a small cube; -7 % 3 is 2 in Python, so that C++'s % is asked for numbers from 0
/// on.
template <class Same>
void same_truth(const std::string& text, Same&& same) {
  const std::string translated = condition(text);
  CAPTURE(translated);
  for (std::int64_t a = 0; a < 9; ++a)
    for (std::int64_t b = 0; b < 9; ++b)
      for (std::int64_t c = 0; c < 3; ++c) CHECK(is_true(value_of(translated, a, b, c)) == same(a, b, c));
}

std::string error(const std::string& text, Use use = Use::Condition) {
  try {
    static_cast<void>(translate_python(text, {"t1.json", 3, 10}, names(), use));
  } catch (const SpecError& failure) {
    return failure.what();
  }
  return {};
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what means the same in both languages stays as it was written") {
  for (const std::string text :
       {"a * b <= 1024", "(a % b) == 0", "32 <= a*b < 200", "not a or b in [1, 2] and c", "max(a, b) - min(a, b, c) >= abs(-2)",
        "a ** 2 // 3 != int(b / 2)", "a not in (1, 2)", "a == 'x' or True", "ceil(a / b) == 1"}) {
    CHECK(condition(text) == text);
  }
  CHECK(condition("  a <\n b ") == "a <  b");
}

TEST_CASE("Python that attune lacks is written in other words with the same truth") {
  same_truth("a if b > 2 else c", [](auto a, auto b, auto c) { return (b > 2 ? a : c) != 0; });
  same_truth("(a == 1) & (b > 2) | (c == 0)", [](auto a, auto b, auto c) { return (a == 1 && b > 2) || c == 0; });
  same_truth("(a == 1) ^ (b == 1)", [](auto a, auto b, auto) { return (a == 1) != (b == 1); });
  same_truth("a & 3 == 3", [](auto a, auto, auto) { return (a & 3) == 3; });
  same_truth("(a & 3) == c", [](auto a, auto, auto c) { return (a & 3) == c; });
  same_truth("a << c > b >> 1", [](auto a, auto b, auto c) { return (a << c) > (b >> 1); });
  same_truth("a in range(2, 8, 3)", [](auto a, auto, auto) { return a == 2 || a == 5; });
  same_truth("a not in range(b)", [](auto a, auto b, auto) { return !(a < b); });
  same_truth("a not in range(4)", [](auto a, auto, auto) { return a >= 4; });
  same_truth("1 < a in [2, 3, 5]", [](auto a, auto, auto) { return a == 2 || a == 3 || a == 5; });
  same_truth("a in {1, 2}", [](auto a, auto, auto) { return a == 1 || a == 2; });
  same_truth("all([a > 1, b > 1]) or any([c == 1])", [](auto a, auto b, auto c) { return (a > 1 && b > 1) || c == 1; });
  same_truth("sum([a, b, c]) * 2 > math.prod((a, b))", [](auto a, auto b, auto c) { return (a + b + c) * 2 > a * b; });
  same_truth("max([a, b]) == pow(c, 2)", [](auto a, auto b, auto c) { return std::max(a, b) == c * c; });
  same_truth("(a + 1 if b > 2 else c) * 2 == b", [](auto a, auto b, auto c) { return (b > 2 ? a + 1 : c) * 2 == b; });
  same_truth("~a + 5 > b", [](auto a, auto b, auto) { return -a - 1 + 5 > b; });
  same_truth("lambda p: p[\"a\"] * p['b'] > 6", [](auto a, auto b, auto) { return a * b > 6; });
  same_truth("bool(a) == (b > 0)", [](auto a, auto b, auto) { return (a != 0) == (b > 0); });
  same_truth("0b101 == a or 0o7 == b", [](auto a, auto b, auto) { return a == 5 || b == 7; });
  same_truth("not (a if c else b) == 2", [](auto a, auto b, auto c) { return !((c != 0 ? a : b) == 2); });
}

TEST_CASE("ProblemSize is the problem's sizes, and in sizes of data a parameter is the list of its values") {
  CHECK(number("ProblemSize[1] // a") == "problem_size_y // a");
  CHECK(data_size("ProblemSize[0]*ProblemSize[1]") == "problem_size_x * problem_size_y");
  CHECK(data_size("(ProblemSize[0]+max(w)-1) * min(a) + len(b)") == "(problem_size_x + 3 - 1) * 2 + 3");
  CHECK(data_size("w * max(a)") == "3 * 8");
  CHECK(says(error("a * 4", Use::DataSize),
             "t1.json:3:10: failed parsing the expression \"a * 4\": the data would depend on the parameter 'a'"));
  CHECK(says(error("ProblemSize[2]", Use::Number), "\"ProblemSize\" has 2 dimensions, counted from 0"));
  CHECK(says(error("ProblemSize * 2", Use::Number), "say which: ProblemSize[0]"));
}

TEST_CASE("what has no counterpart is refused at its place, with a remedy") {
  CHECK(says(error("a <= "), "t1.json:3:15: failed parsing the expression \"a <= \": a value expected, but the expression ends here"));
  CHECK(says(error("a && b"), "t1.json:3:12: failed parsing the expression \"a && b\": '&&' is no operator of Python; use 'and'"));
  CHECK(says(error("!a"), "t1.json:3:10: failed parsing the expression \"!a\": '!' is no operator of Python; use 'not'"));
  CHECK(says(error("a = 1"), "t1.json:3:12: failed parsing the expression \"a = 1\": '=' is no operator here; use '==' to compare"));
  CHECK(says(error("a is b"), "'is' compares objects of Python; use '=='"));
  CHECK(says(error("a & (a - 1) == 0"), "t1.json:3:12: "));
  CHECK(says(error("a & (a - 1)"), "name the values instead"));
  CHECK(says(error("blok * a > 1"), "t1.json:3:10: failed parsing the expression \"blok * a > 1\": there is no parameter 'blok'"));
  CHECK(says(error("sqr(a) > 1"), "unknown function 'sqr'; did you mean 'sqrt'?"));
  CHECK(says(error("min(a) > 1"), "min takes several values or a list"));
  CHECK(says(error("a in b"), "a list such as [1, 2] expected after 'in'"));
  CHECK(says(error("[a, b] == 1"), "a list may only stand on the right of 'in'"));
  CHECK(says(error("a in [i for i in range(3)]"), "lists made by 'for' stand in \"Values\" alone"));
  CHECK(says(error("(a // b if b else 0) > 1"), "'if' and 'else' around a division have no counterpart"));
  CHECK(says(error("a in range(1, b, 2)"), "a range with a step must be of numbers"));
  CHECK(says(error("a[0] > 1"), "only ProblemSize[0] and p[\"parameter\"] may be written with brackets"));
  CHECK(says(error("a > 1)"), "an operator or the end expected, found ')'"));
  CHECK(says(error("a == 'x"), "the string has no closing '"));
  CHECK(says(error("a $ b"), "unexpected character '$'"));
  CHECK(says(error(""), "the expression is empty"));
  CHECK(says(error(std::string(200, '(') + "a"), "nested too deeply"));
  CHECK(says(error(std::string(20000, '1')), "at most 16384 are read"));
  std::string sum = "a", nested = "a";
  for (int i = 0; i < 1000; ++i) sum += " + a";
  for (int i = 0; i < 20; ++i) nested = "(a if " + nested + " else b)";
  CHECK(says(error(sum), "nested too deeply; write it with fewer operators"));
  CHECK(says(error(nested), "this becomes too long in attune's language"));
}

}  // namespace test_python_translation
