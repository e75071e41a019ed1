#include "tuner/importing/element_layout.hpp"

#include <doctest/doctest.h>

#include "attune/error.hpp"

namespace test_element_layout {

using namespace attune;
using namespace attune::importing;
using spec::ElementType;

namespace {

ElementLayout layout(const std::string& name, std::optional<std::int64_t> bytes = std::nullopt) {
  return element_layout(name, bytes, {"t1.json", 4, 7});
}

std::string error(const std::string& name) {
  try {
    static_cast<void>(layout(name));
  } catch (const SpecError& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

TEST_CASE("types of T1, of CUDA and of numpy are attune's element types") {
  CHECK(layout("float").type == ElementType::F32);
  CHECK(layout("double").type == ElementType::F64);
  CHECK(layout("half").type == ElementType::F16);
  CHECK(layout("int32").type == ElementType::I32);
  CHECK(layout("uint").type == ElementType::U32);
  CHECK(layout("unsigned long long").type == ElementType::U64);
  CHECK(layout("float64").type == ElementType::F64);
  CHECK(layout("uint8").type == ElementType::U8);
  CHECK(layout("__nv_fp8_e4m3").type == ElementType::F8E4M3);
  CHECK(layout("float8_e5m2").type == ElementType::F8E5M2);
  CHECK(layout("bool").type == ElementType::U8);
  CHECK(layout("bool").remark.find("attune has no bool") == 0);
}

TEST_CASE("a vector type is so many elements at its alignment") {
  CHECK(layout("float4").lanes == 4);
  CHECK(layout("float4").align_bytes == 16);
  CHECK(layout("float3").align_bytes == 0);
  CHECK(layout("half2").align_bytes == 4);
  CHECK(layout("double4").align_bytes == 16);
  CHECK(layout("int2").type == ElementType::I32);
}

TEST_CASE("float16 is sixteen floats, as the schema has it, unless its size says that it is numpy's half") {
  CHECK(layout("float16").lanes == 16);
  CHECK(layout("float16", 64).lanes == 16);
  CHECK(layout("float16", 2).type == ElementType::F16);
  CHECK(layout("float16", 2).lanes == 1);
}

TEST_CASE("a type of the kernel's own is bytes") {
  CHECK(layout("custom", 24).type == ElementType::U8);
  CHECK(layout("custom", 24).lanes == 24);
  CHECK(error("custom") == "t1.json:4:7: the type \"custom\" needs a \"TypeSize\" of 1 to 1048576 bytes");
}

TEST_CASE("an unknown type is told with the closest that is known") {
  CHECK(error("flot").find("t1.json:4:7: unknown type 'flot'; did you mean 'float'?") == 0);
  CHECK(error("texture<float>").find("types are bool, int8 to int64") != std::string::npos);
}

}  // namespace test_element_layout
