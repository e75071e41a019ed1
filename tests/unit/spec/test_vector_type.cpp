#include <doctest/doctest.h>

#include "spec_support.hpp"
#include "tuner/spec/vector_type.hpp"

namespace test_vector_type {

using namespace attune::spec;
using namespace attune::spec::test;

TEST_CASE("a vector type is an element type, an x and how many") {
  const auto found = find_vector_type("f8e4m3x16");
  REQUIRE(found.has_value());
  CHECK(found->element == ElementType::F8E4M3);
  CHECK(found->lanes == 16);
  for (const char* const none : {"f32", "f32x", "f32x5", "x4", "f33x4", "f32x04", "f32x4x4", ""}) {
    CAPTURE(none);
    CHECK_FALSE(find_vector_type(none).has_value());
  }
  CHECK(vector_type_names().size() == element_type_names().size() * kVectorLanes.size());
  for (const std::string& name : vector_type_names()) CHECK(find_vector_type(name).has_value());
}

TEST_CASE("vectors begin at multiples of their size up to 16 bytes, three where one element does") {
  CHECK(align_bytes({ElementType::F16, 2}) == 4);
  CHECK(align_bytes({ElementType::F32, 4}) == 16);
  CHECK(align_bytes({ElementType::F64, 4}) == 16);
  CHECK(align_bytes({ElementType::F32, 3}) == 0);
}

TEST_CASE("nothing that expressions see is called as a vector type, at whatever place") {
  const std::string told = "the name 'f32x4' is that of a vector type; choose another";
  CHECK(sample_error(R"("unroll": {)", R"("f32x4": {)") == "t.json:14:5: " + told);
  CHECK(sample_error(R"("n": {"size")", R"("f32x4": {"size")") == "t.json:8:5: " + told);
  CHECK(sample_error(R"("T": {"type")", R"("f32x4": {"type")") == "t.json:6:5: " + told);
  CHECK(sample_error(R"("A": {"by")", R"("f32x4": {"by")") == "t.json:10:13: " + told);
  CHECK(sample_error(R"("tile": "block)", R"("f32x4": "block)") == "t.json:18:11: " + told);
  // Arguments are nothing that expressions see.
  CHECK(sample_error(R"("buffers": {)", R"("buffers": {"f32x4": {"type": "f32x4", "count": 1},)").empty());
}

}  // namespace test_vector_type
