#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tuner/spec/element.hpp"

namespace test_element {

using namespace attune::spec;

TEST_CASE("limits of integer types are those of their width and sign") {
  CHECK(extend(ElementType::I8, highest_bits(ElementType::I8)) == 127);
  CHECK(static_cast<std::int64_t>(extend(ElementType::I8, lowest_bits(ElementType::I8))) == -128);
  CHECK(extend(ElementType::U16, highest_bits(ElementType::U16)) == 65535);
  CHECK(lowest_bits(ElementType::U32) == 0);
  CHECK(static_cast<std::int64_t>(lowest_bits(ElementType::I64)) == std::numeric_limits<std::int64_t>::min());
  CHECK(highest_bits(ElementType::U64) == std::numeric_limits<std::uint64_t>::max());
  CHECK(highest_finite_bits(ElementType::I32) == 0x7fffffff);
  CHECK(lowest_finite_bits(ElementType::I32) == 0x80000000);
}

TEST_CASE("limits of floating types are infinities, finite ones the largest magnitudes") {
  for (const auto type : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64}) {
    CHECK(to_double(type, highest_bits(type)) == std::numeric_limits<double>::infinity());
    CHECK(to_double(type, lowest_bits(type)) == -std::numeric_limits<double>::infinity());
    CHECK(to_double(type, lowest_finite_bits(type)) == -to_double(type, highest_finite_bits(type)));
  }
  CHECK(to_double(ElementType::F16, highest_finite_bits(ElementType::F16)) == 65504);
  CHECK(to_double(ElementType::F32, highest_finite_bits(ElementType::F32)) == static_cast<double>(std::numeric_limits<float>::max()));
  CHECK(to_double(ElementType::F64, highest_finite_bits(ElementType::F64)) == std::numeric_limits<double>::max());
}

TEST_CASE("a floating type has every whole number up to two to the bits of its mantissa and one, an integer type up to its highest") {
  CHECK(highest_exact_whole(ElementType::F8E5M2) == 8);
  CHECK(highest_exact_whole(ElementType::F8E4M3) == 16);
  CHECK(highest_exact_whole(ElementType::BF16) == 256);
  CHECK(highest_exact_whole(ElementType::F16) == 2048);
  CHECK(highest_exact_whole(ElementType::F64) == std::int64_t{1} << 53);
  CHECK(highest_exact_whole(ElementType::I8) == 127);
  CHECK(highest_exact_whole(ElementType::U32) == 0xffffffff);
  CHECK(highest_exact_whole(ElementType::U64) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("sixteen-bit floats decode as IEEE says") {
  CHECK(to_double(ElementType::F16, 0x3c00) == 1.0);
  CHECK(to_double(ElementType::F16, 0xc100) == -2.5);
  CHECK(to_double(ElementType::F16, 0x0001) == std::ldexp(1.0, -24));
  CHECK(std::isnan(to_double(ElementType::F16, 0x7e00)));
  CHECK(to_double(ElementType::BF16, 0x3f80) == 1.0);
  CHECK(to_double(ElementType::BF16, 0xc020) == -2.5);
  CHECK(to_double(ElementType::BF16, 0x0001) == std::ldexp(1.0, -133));
}

TEST_CASE("eight-bit floats decode as the OCP format says") {
  CHECK(to_double(ElementType::F8E4M3, 0x38) == 1.0);
  CHECK(to_double(ElementType::F8E4M3, 0xc2) == -2.5);
  CHECK(to_double(ElementType::F8E4M3, 0x01) == std::ldexp(1.0, -9));
  CHECK(to_double(ElementType::F8E4M3, 0x08) == std::ldexp(1.0, -6));
  CHECK(to_double(ElementType::F8E4M3, 0x7e) == 448);
  CHECK(std::isnan(to_double(ElementType::F8E4M3, 0x7f)));
  CHECK(std::isnan(to_double(ElementType::F8E4M3, 0xff)));
  CHECK(to_double(ElementType::F8E5M2, 0x3c) == 1.0);
  CHECK(to_double(ElementType::F8E5M2, 0xc1) == -2.5);
  CHECK(to_double(ElementType::F8E5M2, 0x01) == std::ldexp(1.0, -16));
  CHECK(to_double(ElementType::F8E5M2, 0x7c) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(to_double(ElementType::F8E5M2, 0x7d)));
}

TEST_CASE("where a type has no infinities, its limits are its largest numbers") {
  for (const auto bits : {highest_bits(ElementType::F8E4M3), highest_finite_bits(ElementType::F8E4M3)})
    CHECK(to_double(ElementType::F8E4M3, bits) == 448);
  for (const auto bits : {lowest_bits(ElementType::F8E4M3), lowest_finite_bits(ElementType::F8E4M3)})
    CHECK(to_double(ElementType::F8E4M3, bits) == -448);
  CHECK(to_double(ElementType::F8E5M2, highest_finite_bits(ElementType::F8E5M2)) == 57344);
  CHECK(to_double(ElementType::F8E5M2, lowest_bits(ElementType::F8E5M2)) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("unit roundoffs are half a unit in the last place of 1") {
  CHECK(unit_roundoff(ElementType::F32) == static_cast<double>(std::numeric_limits<float>::epsilon()) / 2);
  CHECK(unit_roundoff(ElementType::F64) == std::numeric_limits<double>::epsilon() / 2);
  CHECK(unit_roundoff(ElementType::F16) == std::ldexp(1.0, -11));
  CHECK(unit_roundoff(ElementType::BF16) == std::ldexp(1.0, -8));
  CHECK(unit_roundoff(ElementType::F8E4M3) == 0.0625);
  CHECK(unit_roundoff(ElementType::F8E5M2) == 0.125);
}

TEST_CASE("elements print exactly") {
  CHECK(element_text(ElementType::I8, 0xff) == "-1");
  CHECK(element_text(ElementType::U8, 0xff) == "255");
  CHECK(element_text(ElementType::U64, ~std::uint64_t{0}) == "18446744073709551615");
  CHECK(element_text(ElementType::F32, 0x3f000000) == "0.5");
  CHECK(to_double(ElementType::I16, 0xfffe) == -2);
  CHECK(to_double(ElementType::U16, 0xfffe) == 65534);
}

}  // namespace test_element
