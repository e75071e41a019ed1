// The shipped transpose over its variants and element sizes: shapes where vectors, sectors and tiles end within rows. Verification itself
// runs ragged, misaligned and empty matrices beside each shape.
#include <doctest/doctest.h>

#include "tests/gpu/variants.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_transpose {

using namespace attune;

namespace {

const spec::KernelTemplate& transpose() {
  static const auto kernel = spec::TemplateLibrary().find("transpose");
  return kernel;
}

spec::Problem problem_of(const char* type, std::int64_t rows, std::int64_t columns) {
  return {{{"T", type}}, {{"rows", rows}, {"columns", columns}}};
}

}  // namespace

TEST_CASE("every variant and staging transposes every element size, bit for bit, whatever the shape") {
  struct Shape {
    std::int64_t rows, columns;
  };
  for (const char* type : {"u8", "f16", "f32", "i64"}) {
    for (const auto& [rows, columns] : {Shape{300, 517}, Shape{512, 640}, Shape{4099, 63}, Shape{63, 4099}}) {
      const auto problem = problem_of(type, rows, columns);
      test::check_all(transpose(), problem, test::one_of_each(transpose(), problem, {"variant", "staging", "resident_threads"}),
                      test::Timed::No);
    }
  }
}

TEST_CASE("words of every length are exchanged and stored, bit for bit") {
  for (const char* type : {"u8", "f16", "f32", "i64"}) {
    const auto problem = problem_of(type, 300, 517);
    const auto each = test::one_of_each(transpose(), problem, {"staging", "word_bytes", "store_parts"}, "variant == 'exchange'");
    test::check_all(transpose(), problem, each, test::Timed::No);
  }
}

TEST_CASE("matrices of a single row, column or element are transposed by what is used for them untuned") {
  for (const char* type : {"i8", "bf16", "u32", "f64"}) {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 1000}, {1000, 1}, {2, 70001}, {70001, 2}}) {
      const auto problem = problem_of(type, rows, columns);
      test::check_all(transpose(), problem, {spec::default_configuration(transpose(), problem, test::Lab::get().executor().device())},
                      test::Timed::No);
    }
  }
}

}  // namespace test_transpose
