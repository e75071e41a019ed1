#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "spec_support.hpp"
#include "tuner/spec/element.hpp"
#include "tuner/spec/scalar_bits.hpp"
#include "tuner/spec/value.hpp"

namespace test_value {

using namespace attune;
using namespace attune::spec;

TEST_CASE("a value's text is what keys and macros use") {
  CHECK(to_text(Value(true)) == "true");
  CHECK(to_text(Value(false)) == "false");
  CHECK(to_text(Value(std::int64_t{-256})) == "-256");
  CHECK(to_text(Value(0.5)) == "0.5");
  CHECK(to_text(Value(2.0)) == "2.0");  // stays a float when it is read back
  CHECK(to_text(Value(std::string("two_pass"))) == "two_pass");
}

TEST_CASE("equality is Python's: kinds of numbers mix, strings equal only strings") {
  CHECK(equal(Value(true), Value(std::int64_t{1})));
  CHECK(equal(Value(std::int64_t{1}), Value(1.0)));
  CHECK_FALSE(equal(Value(std::string("1")), Value(std::int64_t{1})));
  CHECK(equal(Value(std::string("a")), Value(std::string("a"))));
  // 2^53 + 1 is no double: comparing as doubles would call them equal.
  CHECK_FALSE(equal(Value(std::int64_t{9007199254740993}), Value(9007199254740992.0)));
}

TEST_CASE("values survive JSON, and what is no value is refused") {
  for (const Value& value : {Value(true), Value(std::int64_t{7}), Value(0.25), Value(std::string("x"))}) {
    CHECK(value_from_json(to_json(value)) == value);
  }
  CHECK(value_from_json(nlohmann::json(7U)) == Value(std::int64_t{7}));
  CHECK_THROWS_AS((void)value_from_json(nlohmann::json()), Error);
  CHECK_THROWS_AS((void)value_from_json(nlohmann::json::array()), Error);
  CHECK_THROWS_AS((void)value_from_json(nlohmann::json(18446744073709551615ULL)), Error);
}

TEST_CASE("element types know their names and sizes") {
  for (const std::string& type : element_type_names()) CHECK(name(element_type(type)) == type);
  CHECK(element_type_names().size() == 14);
  CHECK(std::string(cuda_name(ElementType::I8)) == "signed char");
  CHECK(std::string(cuda_name(ElementType::BF16)) == "__nv_bfloat16");
  CHECK(size_bytes(ElementType::F16) == 2);
  CHECK(size_bytes(ElementType::U64) == 8);
  CHECK_FALSE(find_element_type("float"));
  CHECK(attune::spec::test::contains(attune::spec::test::error_of([] { (void)element_type("float"); }), "known: i8, u8"));
}

TEST_CASE("types are found by the words of CUDA, of numpy and of others") {
  CHECK(find_cuda_type("unsigned") == ElementType::U32);
  CHECK(find_cuda_type("unsigned long long") == ElementType::U64);
  CHECK_FALSE(find_cuda_type("float32").has_value());
  CHECK(find_type_called("float32") == ElementType::F32);
  CHECK(find_type_called("i8") == ElementType::I8);  // attune's own name, not numpy's of eight bytes
  CHECK_FALSE(find_type_called("floats").has_value());
  CHECK_FALSE(find_type_called("").has_value());
  for (const std::string& word : words_for_types()) CHECK(find_type_called(word).has_value());
  CHECK(find_numpy_type("i8") == ElementType::I64);
  CHECK(find_numpy_type("b1") == ElementType::U8);
  CHECK(find_numpy_type("f2") == ElementType::F16);
  CHECK_FALSE(find_numpy_type("f16").has_value());
  CHECK_FALSE(find_numpy_type("").has_value());
}

TEST_CASE("integers of one size are the same bits, floating numbers only of one type") {
  CHECK(same_bits(ElementType::I32, ElementType::U32));
  CHECK_FALSE(same_bits(ElementType::I32, ElementType::I64));
  CHECK_FALSE(same_bits(ElementType::F16, ElementType::BF16));
  CHECK_FALSE(same_bits(ElementType::F32, ElementType::I32));
  CHECK(same_bits(ElementType::F32, ElementType::F32));
}

TEST_CASE("a whole number is exact, and a fraction or a text is none") {
  CHECK(whole_number(std::int64_t{9007199254740993}) == 9007199254740993);
  CHECK(whole_number(4.0) == 4);
  CHECK(whole_number(true) == 1);
  CHECK_FALSE(whole_number(2.5).has_value());
  CHECK_FALSE(whole_number(std::nan("")).has_value());
  CHECK_FALSE(whole_number(1e19).has_value());
  CHECK_FALSE(whole_number(std::string("4")).has_value());
}

TEST_CASE("scalars become the bits of their element type") {
  CHECK(scalar_bits(std::int64_t{-1}, ElementType::I8) == 0xFFU);
  CHECK(scalar_bits(std::int64_t{-1}, ElementType::I64) == 0xFFFFFFFFFFFFFFFFU);
  CHECK(scalar_bits(true, ElementType::U32) == 1U);
  CHECK(scalar_bits(4.0, ElementType::U16) == 4U);
  CHECK(scalar_bits(2.5, ElementType::F32) == 0x40200000U);
  CHECK(scalar_bits(std::int64_t{3}, ElementType::F64) == 0x4008000000000000U);
}

TEST_CASE("a scalar that its type cannot hold is nothing") {
  CHECK_FALSE(scalar_bits(std::int64_t{128}, ElementType::I8));
  CHECK(scalar_bits(std::int64_t{-128}, ElementType::I8) == 0x80U);
  CHECK_FALSE(scalar_bits(std::int64_t{-129}, ElementType::I8));
  CHECK_FALSE(scalar_bits(std::int64_t{-1}, ElementType::U64));
  CHECK_FALSE(scalar_bits(std::int64_t{1} << 32, ElementType::U32));
  CHECK_FALSE(scalar_bits(2.5, ElementType::I32));
  CHECK_FALSE(scalar_bits(1e300, ElementType::I64));
  CHECK_FALSE(scalar_bits(1e39, ElementType::F32));
  CHECK_FALSE(scalar_bits(70000.0, ElementType::F16));
  CHECK_FALSE(scalar_bits(std::string("2"), ElementType::I32));
}

TEST_CASE("halves round to nearest even, subnormals and the carry into the exponent included") {
  CHECK(scalar_bits(1.0, ElementType::F16) == 0x3C00U);
  CHECK(scalar_bits(-2.0, ElementType::F16) == 0xC000U);
  CHECK(scalar_bits(0.0, ElementType::F16) == 0x0000U);
  CHECK(scalar_bits(65504.0, ElementType::F16) == 0x7BFFU);
  CHECK(scalar_bits(5.9604644775390625e-08, ElementType::F16) == 0x0001U);  // 2^-24
  CHECK(scalar_bits(6.103515625e-05, ElementType::F16) == 0x0400U);         // 2^-14, the smallest normal
  CHECK(scalar_bits(1.0 + 1.0 / 2048, ElementType::F16) == 0x3C00U);        // halfway, down to even
  CHECK(scalar_bits(1.0 + 3.0 / 2048, ElementType::F16) == 0x3C02U);        // halfway, up to even
  CHECK(scalar_bits(2047.75 / 1024, ElementType::F16) == 0x4000U);          // carries into the exponent: 2
}

TEST_CASE("bfloat16 rounds once, not through float") {
  CHECK(scalar_bits(1.0, ElementType::BF16) == 0x3F80U);
  CHECK(scalar_bits(-1.5, ElementType::BF16) == 0xBFC0U);
  CHECK(scalar_bits(1.0 + 1.0 / 256, ElementType::BF16) == 0x3F80U);  // halfway, down to even
  // Just above halfway, by less than a float can hold: rounding to float first would fall back to halfway, then to
  // even.
  CHECK(scalar_bits(1.0 + 1.0 / 256 + 0x1p-40, ElementType::BF16) == 0x3F81U);
  CHECK(scalar_bits(1.0 + 3.0 / 256 - 0x1p-40, ElementType::BF16) == 0x3F81U);
}

TEST_CASE("every number of a small floating type has its own bits, and what lies between two goes to the nearer, or to the even one") {
  for (const ElementType type : {ElementType::F8E4M3, ElementType::F8E5M2, ElementType::F16, ElementType::BF16}) {
    CAPTURE(name(type));
    const std::uint64_t largest = highest_finite_bits(type);
    for (std::uint64_t bits = 0; bits < largest; ++bits) {
      const double here = to_double(type, bits), next = to_double(type, bits + 1), middle = (here + next) / 2;
      REQUIRE(scalar_bits(here, type) == bits);
      REQUIRE(scalar_bits(middle, type) == (bits % 2 == 0 ? bits : bits + 1));
      REQUIRE(scalar_bits(std::nextafter(middle, 0), type) == bits);
      REQUIRE(scalar_bits(-std::nextafter(middle, HUGE_VAL), type) == ((bits + 1) | (std::uint64_t{1} << (8 * size_bytes(type) - 1))));
    }
    CHECK(scalar_bits(to_double(type, largest), type) == largest);
  }
  CHECK_FALSE(scalar_bits(449.0, ElementType::F8E4M3));
  CHECK_FALSE(scalar_bits(57345.0, ElementType::F8E5M2));
}

}  // namespace test_value
