#include "tuner/base/roofline.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace test_roofline {

using namespace attune::base;
using nlohmann::json;

TEST_CASE("the peak is that of the vendor's data sheets, by the maximum clocks that those name") {
  CHECK(peak_operations_per_s(90, 132, 1'980'000) == doctest::Approx(66.9e12).epsilon(0.001));    // H100 SXM5, H200
  CHECK(peak_operations_per_s(80, 108, 1'410'000) == doctest::Approx(19.5e12).epsilon(0.001));    // A100
  CHECK(peak_operations_per_s(70, 80, 1'530'000) == doctest::Approx(15.7e12).epsilon(0.003));     // V100 SXM2
  CHECK(peak_operations_per_s(75, 40, 1'590'000) == doctest::Approx(8.1e12).epsilon(0.006));      // T4
  CHECK(peak_operations_per_s(89, 128, 2'520'000) == doctest::Approx(82.6e12).epsilon(0.001));    // GeForce RTX 4090
  CHECK(peak_operations_per_s(60, 56, 1'480'000) == doctest::Approx(10.6e12).epsilon(0.003));     // P100 SXM2
  CHECK(peak_operations_per_s(120, 170, 2'407'000) == doctest::Approx(104.8e12).epsilon(0.001));  // GeForce RTX 5090
}

TEST_CASE("every compute capability has the lanes of its own architecture, not of its major number") {
  for (const int capability : {60, 70, 72, 75, 80}) CHECK(peak_operations_per_s(capability, 1, 1) == 64 * 2 * 1e3);
  for (const int capability : {61, 86, 87, 89, 90, 100, 103, 110, 120, 121})
    CHECK(peak_operations_per_s(capability, 1, 1) == 128 * 2 * 1e3);
}

TEST_CASE("no peak is claimed of an unknown architecture, or of a device that does not tell its clock") {
  for (const int capability : {0, 37, 50, 81, 130, -1}) CHECK(peak_operations_per_s(capability, 132, 1'980'000) == 0);
  CHECK(peak_operations_per_s(90, 132, 0) == 0);
  CHECK(peak_operations_per_s(90, 0, 1'980'000) == 0);
  CHECK(peak_operations_per_s(90, 132, -1) == 0);
}

TEST_CASE("the peak of a stored device follows from its fields, whatever else they hold") {
  const json device = {{"compute_capability", 90}, {"sm_count", 132}, {"sm_clock_khz", 1980000}};
  CHECK(peak_operations_per_s(device) == peak_operations_per_s(90, 132, 1'980'000));
  for (const char* field : {"compute_capability", "sm_count", "sm_clock_khz"}) {
    json odd = device;
    odd[field] = "many";
    CHECK(peak_operations_per_s(odd) == 0);
    odd.erase(field);
    CHECK(peak_operations_per_s(odd) == 0);
  }
  CHECK(peak_operations_per_s(json::array()) == 0);
}

TEST_CASE("arithmetic matters above one operation a byte") {
  CHECK_FALSE(arithmetic_matters(4096, 1024));  // a sum of f32
  CHECK_FALSE(arithmetic_matters(1024, 1024));  // of bytes
  CHECK(arithmetic_matters(1024, 1025));
  CHECK(arithmetic_matters(0, 1));  // nothing is stated of bytes
  CHECK_FALSE(arithmetic_matters(0, 0));
  CHECK_FALSE(arithmetic_matters(-2, -1));
}

}  // namespace test_roofline
