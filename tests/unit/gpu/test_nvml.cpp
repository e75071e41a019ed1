// What the management library says, read from libraries that stand in for it (tests/support/fake_nvml). A child process
// reads: the loader looks at LD_LIBRARY_PATH when a process starts.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/command.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/base/json.hpp"

namespace test_nvml {

using nlohmann::json;

namespace {

constexpr const char* kUuid = "GPU-00112233-4455-6677-8899-aabbccddeeff";

/// A healthy device at its highest clock.
json device() {
  return {{"uuid", kUuid},       {"sm_clock_mhz", 1980},    {"reasons", 0}, {"power_limit_mw", 700500},
          {"temperature_c", 41}, {"failing", json::array()}};
}

struct Ask {
  std::string variant = "whole";
  std::string uuid = kUuid;
  int readings = 1;
  int refresh_ms = 0;
  std::string log;  ///< file that gets the calls
};

json read(const json& told, const Ask& ask) {
  std::map<std::string, std::string> environment{{"LD_LIBRARY_PATH", std::string(ATTUNE_FAKE_NVML_FOLDER) + "/" + ask.variant},
                                                 {"ATTUNE_FAKE_NVML", attune::base::dump_json(told)}};
  if (!ask.log.empty()) environment["ATTUNE_FAKE_NVML_LOG"] = ask.log;
  const auto result =
      attune::test::run({ATTUNE_NVML_READER, ask.uuid, std::to_string(ask.readings), std::to_string(ask.refresh_ms)}, environment);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return attune::base::parse_json(result.out);
}

json read_once(const json& told, const std::string& variant = "whole") {
  Ask ask;
  ask.variant = variant;
  return read(told, ask).at(0);
}

std::string throttle_of(unsigned long long reasons) {
  json told = device();
  told["reasons"] = reasons;
  return read_once(told).at("throttle");
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("clock, power limit and temperature of the device with this UUID are read") {
  const json reading = read_once(device());
  CHECK(reading.at("sm_clock_mhz") == 1980);
  CHECK(reading.at("power_limit_w") == 700.5);
  CHECK(reading.at("temperature_c") == 41);
  CHECK(reading.at("throttle") == "");
}

TEST_CASE("every reason that holds the clocks down is named, settings and idling are not") {
  CHECK(throttle_of(0x1 | 0x2 | 0x100) == "");
  CHECK(throttle_of(0x4) == "power_cap");
  CHECK(throttle_of(0x1 | 0x4 | 0x20) == "power_cap,thermal_sw");
  CHECK(throttle_of(0x8 | 0x40) == "hw_slowdown,thermal_hw");
  CHECK(throttle_of(0x8 | 0x80) == "hw_slowdown,power_brake");
  CHECK(throttle_of(0x10) == "sync_boost");
  CHECK(throttle_of(0x200 | 0x400) == "board_limit,reliability");
}

TEST_CASE("the energy counts on with the device's power, and is not there where a library does not tell it") {
  json told = device();
  told["power_w"] = 300;
  Ask ask;
  ask.readings = 2;
  const json readings = read(told, ask);
  CHECK(readings.at(0).at("energy_mj").get<std::uint64_t>() > 0);
  CHECK(readings.at(0).at("energy_mj").get<std::uint64_t>() % 6000 == 0);  // 300 W for 20 ms
  CHECK(readings.at(1).at("energy_mj") >= readings.at(0).at("energy_mj"));
  CHECK(read_once(told, "former").at("energy_mj") == 0);
  told["failing"] = {"nvmlDeviceGetTotalEnergyConsumption"};
  CHECK(read_once(told).at("energy_mj") == 0);
}

TEST_CASE("a reason that only later drivers know is shown by its bit rather than dropped") {
  CHECK(throttle_of(0x4 | 0x1000) == "power_cap,reason_0x1000");
}

TEST_CASE("a call that fails leaves its own value unread and no other") {
  json told = device();
  told["reasons"] = 0x4;
  told["failing"] = {"nvmlDeviceGetClockInfo"};
  CHECK(read_once(told).at("sm_clock_mhz") == 0);
  CHECK(read_once(told).at("throttle") == "power_cap");
  told["failing"] = {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetTemperature"};
  const json reading = read_once(told);
  CHECK(reading.at("sm_clock_mhz") == 1980);
  CHECK(reading.at("throttle") == "");
  CHECK(reading.at("power_limit_w") == 0);
  CHECK(reading.at("temperature_c") == 0);
}

TEST_CASE("a device that the library does not know is not read, and the library is shut down") {
  const attune::test::TempFolder folder;
  Ask ask;
  ask.uuid = "GPU-ffffffff-ffff-ffff-ffff-ffffffffffff";
  ask.log = folder / "calls";
  CHECK(read(device(), ask).is_null());
  CHECK(lines_of(ask.log) == std::vector<std::string>{"nvmlInit_v2", "nvmlDeviceGetHandleByUUID", "nvmlShutdown"});
}

TEST_CASE("a library that fails to start is not read") {
  json told = device();
  told["failing"] = {"nvmlInit_v2"};
  CHECK(read(told, {}).is_null());
}

TEST_CASE("an older library names the reasons differently and lacks a function: the rest is read") {
  json told = device();
  told["reasons"] = 0x20;
  const json reading = read_once(told, "former");
  CHECK(reading.at("sm_clock_mhz") == 1980);
  CHECK(reading.at("throttle") == "thermal_sw");
  CHECK(reading.at("power_limit_w") == 700.5);
  CHECK(reading.at("temperature_c") == 0);
}

TEST_CASE("without a library, or with one that cannot find a device, nothing is read") {
  Ask ask;
  ask.variant = "no-such-folder";
  CHECK(read(device(), ask).is_null());  // a real library elsewhere does not know this UUID
  ask.variant = "bare";
  CHECK(read(device(), ask).is_null());
}

TEST_CASE("the clock is read every time, the slower values only when they are old") {
  const attune::test::TempFolder folder;
  Ask ask;
  ask.readings = 3;
  ask.refresh_ms = 1'000'000;
  ask.log = folder / "calls";
  const json readings = read(device(), ask);
  REQUIRE(readings.size() == 3);
  CHECK(readings[0] == readings[2]);
  const auto calls = lines_of(ask.log);
  CHECK(std::count(calls.begin(), calls.end(), "nvmlDeviceGetClockInfo") == 3);
  CHECK(std::count(calls.begin(), calls.end(), "nvmlDeviceGetCurrentClocksEventReasons") == 1);
  CHECK(calls.back() == "nvmlShutdown");
}

}  // namespace test_nvml
