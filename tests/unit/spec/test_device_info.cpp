#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "spec_support.hpp"
#include "tuner/spec/device_info.hpp"

namespace test_device_info {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

TEST_CASE("the stand-ins carry the published figures of their parts") {
  const DeviceInfo h100 = DeviceInfo::of_architecture("sm_90");
  CHECK(h100.sm_count == 132);
  CHECK(h100.shared_optin_bytes == 232448);  // 227 KB
  CHECK(h100.l2_bytes == 52428800);          // 50 MB
  CHECK(h100.max_threads_per_sm == 2048);
  CHECK(h100.compute_capability == 90);
  CHECK(DeviceInfo::of_architecture("sm_75").max_threads_per_sm == 1024);
  CHECK(DeviceInfo::of_architecture("sm_120").max_threads_per_sm == 1536);
  for (const char* name : {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    const DeviceInfo device = DeviceInfo::of_architecture(name);
    CHECK(device.architecture == name);
    CHECK("sm_" + std::to_string(device.compute_capability) == name);
    CHECK(device.shared_per_sm_bytes >= device.shared_optin_bytes);
  }
}

TEST_CASE("an unknown architecture lists the known ones") {
  CHECK_THROWS_AS((void)DeviceInfo::of_architecture("sm_91"), UsageError);
  CHECK(contains(error_of([] { (void)DeviceInfo::of_architecture("90"); }), "known: sm_70, sm_75"));
}

TEST_CASE("the hard identity is canonical JSON of hard fields alone") {
  DeviceInfo device = DeviceInfo::of_architecture("sm_80");
  CHECK(device.hard_json() ==
        R"({"architecture":"sm_80","backend":"cuda","l2_bytes":41943040,"memory_bus_bits":5120,"registers_per_sm":65536,)"
        R"("shared_optin_bytes":166912,"sm_count":108,"warp_size":32})");
  const std::string key = device.hard_key();
  device.driver = "999";
  device.name = "another name";
  CHECK(device.hard_key() == key);
  device.sm_count = 107;
  CHECK(device.hard_key() != key);
}

TEST_CASE("a device survives JSON with every field") {
  DeviceInfo device = DeviceInfo::of_architecture("sm_90");
  device.uuid = "GPU-1";
  device.driver = "580";
  device.sm_clock_khz = 1980000;
  device.memory_clock_khz = 3201000;
  device.memory_bytes = 150754820096;
  device.power_limit_w = 700.5;
  device.ecc = true;
  device.cooperative_launch = false;
  const DeviceInfo copy = DeviceInfo::from_json(device.to_json());
  CHECK(copy.to_json() == device.to_json());
  CHECK(copy.power_limit_w == 700.5);
  CHECK(copy.ecc);
  CHECK_FALSE(copy.cooperative_launch);
}

TEST_CASE("reading a device names the field that is missing or mistyped") {
  nlohmann::json json = DeviceInfo::of_architecture("sm_90").to_json();
  json.erase("sm_count");
  CHECK(contains(error_of([&] { (void)DeviceInfo::from_json(json); }), "'sm_count' is missing"));
  json["sm_count"] = "many";
  CHECK(
      contains(error_of([&] { (void)DeviceInfo::from_json(json); }), "'sm_count' must be a whole number from 1 to 1048576, not \"many\""));
  json["sm_count"] = 1;
  json["ecc"] = 1;
  CHECK(contains(error_of([&] { (void)DeviceInfo::from_json(json); }), "'ecc' must be true or false, not 1"));
  CHECK_THROWS_AS((void)DeviceInfo::from_json(nlohmann::json::array()), Error);
}

TEST_CASE("a figure that does not fit its type, or no device can have, is refused and never taken for another") {
  const nlohmann::json whole = DeviceInfo::of_architecture("sm_90").to_json();
  const auto refused = [&](const char* field, const nlohmann::json& value) {
    nlohmann::json json = whole;
    json[field] = value;
    CAPTURE(field);
    CAPTURE(value.dump());
    CHECK(contains(error_of([&] { (void)DeviceInfo::from_json(json); }), std::string("field '") + field + "' must be "));
  };
  for (const auto& [field, value] : whole.items()) {
    if (value.is_number()) {
      for (const char* const text : {"-1", "4294967428", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e300",
                                     "-1e300", "\"132\"", "\"NaN\"", "null", "[132]", "{}", "true"}) {
        // 2^32 + 132 bytes is something that a device may have.
        if (field.ends_with("_bytes") && text == std::string("4294967428")) continue;
        refused(field.c_str(), nlohmann::json::parse(text));
      }
      if (value.is_number_integer()) refused(field.c_str(), 1.5);
    } else {
      refused(field.c_str(), 1);
      refused(field.c_str(), nullptr);
    }
  }
  for (const char* const word : {"", "sm_90 -I/etc", "sm 90", "sm_90\n", "\xC3\xA9", "0123456789012345678901234567890123"}) {
    refused("architecture", word);
    refused("backend", word);
  }
  refused("name", std::string(2000, 'x'));
  refused("sm_count", 0);
  refused("warp_size", 0);
}

TEST_CASE("expressions see figures that the hard identity fixes, and nothing soft") {
  const DeviceInfo device = DeviceInfo::of_architecture("sm_90");
  CHECK(device.attribute("sm_count") == Value(std::int64_t{132}));
  CHECK(device.attribute("compute_capability") == Value(std::int64_t{90}));
  CHECK(device.attribute("backend") == Value(std::string("cuda")));
  CHECK(device.attribute("cooperative_launch") == Value(true));
  CHECK_FALSE(device.attribute("memory_bytes"));
  CHECK_FALSE(device.attribute("driver"));
  for (const std::string& name : DeviceInfo::attribute_names()) CHECK(device.attribute(name).has_value());
}

TEST_CASE("the arithmetic peak of a device follows from its figures and its clock, which stand-ins lack") {
  DeviceInfo device = DeviceInfo::of_architecture("sm_90");
  CHECK(device.peak_operations_per_s() == 0);
  device.sm_clock_khz = 1980000;
  CHECK(device.peak_operations_per_s() == 132 * 128 * 2 * 1.98e9);
}

TEST_CASE("the slug is a folder name") {
  DeviceInfo device;
  device.name = "NVIDIA H200";
  CHECK(device.slug() == "nvidia_h200");
  device.name = " GeForce RTX 3060 (Laptop) ";
  CHECK(device.slug() == "geforce_rtx_3060_laptop");
  device.name.clear();
  device.architecture = "sm_90";
  CHECK(device.slug() == "sm_90");
}

}  // namespace test_device_info
