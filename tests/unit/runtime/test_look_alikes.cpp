// Devices that are easily taken for each other: what a result of one is to another.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "tests/support/figures.hpp"
#include "tests/unit/runtime/lookup_fixture.hpp"
#include "tuner/base/json.hpp"
#include "tuner/runtime/lookup.hpp"
#include "tuner/runtime/miss.hpp"

namespace test_look_alikes {

using namespace attune;
using namespace attune::test;

namespace {

constexpr std::int64_t kKib = 1024, kMib = 1024 * kKib;

/// A device as the driver would describe it.
struct Part {
  std::string what;  ///< of these rows the only name; `name` is what the driver says
  std::string name;
  std::string architecture;
  int sm_count;
  std::int64_t l2_bytes;
  int memory_bus_bits;
  std::int64_t shared_optin_bytes;
  int memory_clock_khz;
};

// Vendor data sheets. The MIG slices say the name of the whole GPU, as cuDeviceGetName does on some drivers.
const std::vector<Part> kParts = {
    {"H100 SXM5", "NVIDIA H100 80GB HBM3", "sm_90", 132, 50 * kMib, 5120, 227 * kKib, 2619000},
    {"H100 PCIe", "NVIDIA H100 PCIe", "sm_90", 114, 50 * kMib, 5120, 227 * kKib, 1593000},
    {"H100 PCIe with the SXM5's name", "NVIDIA H100 80GB HBM3", "sm_90", 114, 50 * kMib, 5120, 227 * kKib, 1593000},
    {"H20", "NVIDIA H20", "sm_90", 78, 60 * kMib, 6144, 227 * kKib, 2619000},
    {"H20 with 114 SMs", "NVIDIA H20", "sm_90", 114, 60 * kMib, 6144, 227 * kKib, 2619000},
    {"H200", "NVIDIA H200", "sm_90", 132, 60 * kMib, 6144, 227 * kKib, 3201000},
    {"H200 NVL, the same silicon", "NVIDIA H200 NVL", "sm_90", 132, 60 * kMib, 6144, 227 * kKib, 3201000},
    {"H200 with a smaller L2", "NVIDIA H200", "sm_90", 132, 50 * kMib, 6144, 227 * kKib, 3201000},
    {"H200 on a narrower bus", "NVIDIA H200", "sm_90", 132, 60 * kMib, 5120, 227 * kKib, 3201000},
    {"H200 MIG 1g", "NVIDIA H200", "sm_90", 16, 60 * kMib / 8, 768, 227 * kKib, 3201000},
    {"H200 MIG 3g", "NVIDIA H200", "sm_90", 60, 60 * kMib / 2, 3072, 227 * kKib, 3201000},
    {"GH200", "NVIDIA GH200 480GB", "sm_90", 132, 50 * kMib, 5120, 227 * kKib, 2619000},
    {"A100 40 GB", "NVIDIA A100-SXM4-40GB", "sm_80", 108, 40 * kMib, 5120, 163 * kKib, 1215000},
    {"A100 80 GB, faster memory", "NVIDIA A100-SXM4-80GB", "sm_80", 108, 40 * kMib, 5120, 163 * kKib, 1593000},
    {"A100 80 GB PCIe, memory in between", "NVIDIA A100 80GB PCIe", "sm_80", 108, 40 * kMib, 5120, 163 * kKib, 1512000},
    {"A100 80 GB with the H200's figures", "NVIDIA H200", "sm_80", 132, 60 * kMib, 6144, 227 * kKib, 1593000},
    {"A40", "NVIDIA A40", "sm_86", 84, 6 * kMib, 384, 99 * kKib, 7251000},
    {"RTX A6000, faster memory", "NVIDIA RTX A6000", "sm_86", 84, 6 * kMib, 384, 99 * kKib, 8001000},
    {"RTX A5500, fewer SMs", "NVIDIA RTX A5500", "sm_86", 80, 6 * kMib, 384, 99 * kKib, 8001000},
    {"B200", "NVIDIA B200", "sm_100", 148, 126 * kMib, 8192, 227 * kKib, 3996000},
};

spec::DeviceInfo device_of(const Part& part) {
  auto info = device(part.architecture, part.name, part.sm_count);
  info.l2_bytes = part.l2_bytes;
  info.memory_bus_bits = part.memory_bus_bits;
  info.shared_optin_bytes = part.shared_optin_bytes;
  info.memory_clock_khz = part.memory_clock_khz;
  return info;
}

/// The pairs that share results: the same silicon under two names, with memory as fast. By the rows' own names, not by any figure.
bool is_same_silicon(const Part& a, const Part& b) {
  static const std::vector<std::set<std::string>> kSame = {
      {"H200", "H200 NVL, the same silicon"}, {"H100 SXM5", "GH200"}, {"H100 PCIe", "H100 PCIe with the SXM5's name"}};
  if (a.what == b.what) return true;
  for (const auto& pair : kSame) {
    if (pair.contains(a.what) && pair.contains(b.what)) return true;
  }
  return false;
}

struct Fixture {
  TempFolder folder;
  spec::KernelTemplate kernel = twice_template();

  /// A file with one result of `donor`, at n = 1000.
  std::vector<runtime::Layer> layers_of(const spec::DeviceInfo& donor) const {
    const auto path = folder / (donor.slug() + donor.hard_key() + ".db");
    LayerFile(path).add(kernel, 1000, donor, configuration(64));
    return runtime::open_layers({path}).layers;
  }
  Decision decide(const spec::DeviceInfo& here, std::int64_t n, const std::vector<runtime::Layer>& layers) const {
    return runtime::choose(kernel, twice_problem(n), here, layers, {"cold/graph"}).decision;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "of every pair of look-alikes only the same silicon counts as this device") {
  int pairs = 0, alike = 0, crossed = 0;
  for (const auto& donor : kParts) {
    const auto layers = layers_of(device_of(donor));
    for (const auto& here : kParts) {
      CAPTURE(donor.what);
      CAPTURE(here.what);
      const bool same = is_same_silicon(donor, here);
      const bool same_architecture = donor.architecture == here.architecture;
      const Tier other = same_architecture ? Tier::SiblingDevice : Tier::OtherDevice;
      const auto exact = decide(device_of(here), 1000, layers);
      CHECK(exact.tier == (same ? Tier::ExactSize : other));
      CHECK(decide(device_of(here), 3000, layers).tier == (same ? Tier::NearestSize : other));
      CHECK(exact.donor_device == donor.name);
      CHECK(exact.device_difference.empty() == same);
      ++pairs;
      crossed += !same && (exact.tier == Tier::ExactSize || exact.tier == Tier::NearestSize) ? 1 : 0;
      alike += donor.name == here.name && !same ? 1 : 0;
    }
  }
  CHECK(pairs == 20 * 20);
  CHECK(alike == 34);  // ordered pairs of the same name that are not the same device
  record_figures(10, "look_alikes",
                 {{"devices", kParts.size()}, {"pairs", pairs}, {"same_name_other_device", alike}, {"crossed", crossed}});
}

TEST_CASE_FIXTURE(Fixture, "each hard figure alone makes another device, and the difference is told") {
  const auto donor = device_of(kParts[5]);
  const auto layers = layers_of(donor);
  struct Change {
    std::string told;
    std::function<void(spec::DeviceInfo&)> make;
  };
  const std::vector<Change> changes = {
      {"sm_count 132 instead of 78", [](auto& d) { d.sm_count = 78; }},
      {"sm_count 132 instead of 114", [](auto& d) { d.sm_count = 114; }},
      {"sm_count 132 instead of 131", [](auto& d) { d.sm_count = 131; }},
      {"l2_bytes 62914560 instead of 62914559", [](auto& d) { d.l2_bytes -= 1; }},
      {"memory_bus_bits 6144 instead of 5120", [](auto& d) { d.memory_bus_bits = 5120; }},
      {"shared_optin_bytes 232448 instead of 101376", [](auto& d) { d.shared_optin_bytes = 99 * kKib; }},
      {"registers_per_sm 65536 instead of 32768", [](auto& d) { d.registers_per_sm = 32768; }},
      {"warp_size 32 instead of 64", [](auto& d) { d.warp_size = 64; }},
      {"sm_count 132 instead of 16, l2_bytes 62914560 instead of 7864320",
       [](auto& d) {
         d.sm_count = 16;
         d.l2_bytes /= 8;
       }},
  };
  for (const auto& change : changes) {
    CAPTURE(change.told);
    auto here = donor;
    change.make(here);
    const auto decision = decide(here, 1000, layers);
    CHECK(decision.tier == Tier::SiblingDevice);
    CHECK(decision.device_difference == change.told);
    CHECK(describe(decision).find("\ndevice:        " + change.told + "\n") != std::string::npos);
  }
  auto other = donor;
  other.architecture = "sm_100";
  other.compute_capability = 100;
  CHECK(decide(other, 1000, layers).tier == Tier::OtherDevice);
  CHECK(decide(other, 1000, layers).device_difference == "architecture sm_90 instead of sm_100");
}

TEST_CASE_FIXTURE(Fixture, "what is soft never makes another device: name, UUID, driver, SM clock, memory size, power, ECC") {
  const auto donor = device_of(kParts[5]);
  const auto layers = layers_of(donor);
  auto here = donor;
  here.name = "NVIDIA H200 (renamed)";
  here.uuid = "GPU-00000000-0000-0000-0000-000000000001";
  here.sm_clock_khz = 1;
  here.memory_clock_khz += here.memory_clock_khz / 200;  // half a percent is the same memory
  here.memory_bytes = 1;
  here.power_limit_w = 1;
  here.ecc = !donor.ecc;
  CHECK(decide(here, 1000, layers).tier == Tier::ExactSize);
  CHECK_FALSE(decide(here, 1000, layers).aged);
  here.driver = "999.99";
  CHECK(decide(here, 1000, layers).tier == Tier::ExactSize);
  CHECK(decide(here, 1000, layers).aged);
}

TEST_CASE_FIXTURE(Fixture,
                  "the same figures with another memory bandwidth are a sibling, and the difference is told; unknown is no difference") {
  const auto find = [](const char* what) {
    return device_of(*std::find_if(kParts.begin(), kParts.end(), [&](const Part& part) { return part.what == what; }));
  };
  const std::vector<std::pair<const char*, const char*>> pairs = {{"A100 40 GB", "A100 80 GB, faster memory"},
                                                                  {"A100 80 GB, faster memory", "A100 80 GB PCIe, memory in between"},
                                                                  {"A40", "RTX A6000, faster memory"}};
  for (const auto& [one, other] : pairs) {
    const auto donor = find(one), here = find(other);
    CAPTURE(one);
    CAPTURE(other);
    REQUIRE(donor.hard_key() == here.hard_key());
    const auto layers = layers_of(donor);
    for (const std::int64_t n : {1000, 3000}) {
      const auto decision = decide(here, n, layers);
      const std::string told =
          "memory_clock_khz " + std::to_string(donor.memory_clock_khz) + " instead of " + std::to_string(here.memory_clock_khz);
      CHECK(decision.tier == Tier::SiblingDevice);
      CHECK(decision.device_difference == told);
      CHECK(describe(decision).find("\ndevice:        " + told + "\n") != std::string::npos);
      CHECK(runtime::is_miss(kernel, twice_problem(n), here, layers, {"cold/graph"}, 4));
    }
    CHECK_FALSE(runtime::is_miss(kernel, twice_problem(1000), donor, layers, {"cold/graph"}, 4));
    auto unknown = here;
    unknown.memory_clock_khz = 0;
    CHECK(decide(unknown, 1000, layers).tier == Tier::ExactSize);
  }
}

TEST_CASE_FIXTURE(Fixture, "in one database each row tells its own memory, whichever device was described last") {
  const auto slow = device_of(kParts[12]);
  auto fast = slow;
  fast.name = "NVIDIA A100-SXM4-80GB";
  fast.memory_clock_khz = 1593000;
  LayerFile file(folder / "both.db");
  for (const auto& [donor, n] : {std::pair(slow, 1000), std::pair(fast, 2000)}) {
    auto row = best_row(kernel, twice_problem(n), donor, configuration(64));
    auto detail = base::parse_json(row.detail_json);
    detail["memory_clock_khz"] = donor.memory_clock_khz;
    row.detail_json = base::dump_json(detail);
    file.add(row, donor);
  }
  const auto layers = runtime::open_layers({file.path()}).layers;
  CHECK(decide(slow, 1000, layers).tier == Tier::ExactSize);
  CHECK(decide(fast, 2000, layers).tier == Tier::ExactSize);
  CHECK(decide(slow, 2000, layers).tier == Tier::NearestSize);
  CHECK(decide(slow, 2000, layers).donor_problem == R"({"T":"f32","n":1000})");
  CHECK(decide(fast, 1000, layers).donor_problem == R"({"T":"f32","n":2000})");
}

TEST_CASE_FIXTURE(Fixture, "a device of another backend lends nothing, and is named") {
  auto donor = device_of(kParts[5]);
  donor.backend = "hip";
  const auto layers = layers_of(donor);
  const auto decision = decide(device_of(kParts[5]), 1000, layers);
  CHECK(decision.tier == Tier::Default);
  REQUIRE(decision.passed_over.size() == 1);
  CHECK(decision.passed_over[0].find("its device is of the backend hip") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "of several look-alikes the device itself serves first, then the sibling nearer in SM count") {
  LayerFile file(folder / "all.db");
  for (const auto& part : kParts) {
    if (part.what != "H200" && part.what != "H200 NVL, the same silicon") {
      file.add(kernel, 1000, device_of(part), configuration(256));
    }
  }
  const auto here = device_of(kParts[5]);
  const auto without = decide(here, 1000, runtime::open_layers({file.path()}).layers);
  CHECK(without.tier == Tier::SiblingDevice);
  CHECK(without.device_difference.find("sm_count") == std::string::npos);  // 132 SMs as well: the nearest there is
  file.add(kernel, 200000, here, configuration(64));
  const auto with = decide(here, 1000, runtime::open_layers({file.path()}).layers);
  CHECK(with.tier == Tier::NearestSize);
  CHECK(with.donor_problem == R"({"T":"f32","n":200000})");
}

}  // namespace test_look_alikes
