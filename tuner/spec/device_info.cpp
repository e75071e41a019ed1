#include "tuner/spec/device_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "attune/error.hpp"
#include "tuner/base/characters.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/json_fields.hpp"
#include "tuner/base/roofline.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::spec {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kKib = 1024;
constexpr std::int64_t kMib = 1024 * kKib;

struct Architecture {
  const char* name;
  const char* part;
  int compute_capability;
  int sm_count;
  std::int64_t shared_optin_bytes;
  std::int64_t shared_per_sm_bytes;
  std::int64_t l2_bytes;
  int memory_bus_bits;
  int max_threads_per_sm;
  int max_blocks_per_sm;
};

/// Per-SM limits: CUDA C++ Programming Guide, table of compute capabilities. SM count, L2 and bus width: the vendor's
/// architecture whitepapers and data sheets of the named part.
constexpr std::array<Architecture, 8> kArchitectures{{
    {"sm_70", "Tesla V100 SXM2", 70, 80, 96 * kKib, 96 * kKib, 6 * kMib, 4096, 2048, 32},
    {"sm_75", "Tesla T4", 75, 40, 64 * kKib, 64 * kKib, 4 * kMib, 256, 1024, 16},
    {"sm_80", "A100 SXM4 40GB", 80, 108, 163 * kKib, 164 * kKib, 40 * kMib, 5120, 2048, 32},
    {"sm_86", "A40", 86, 84, 99 * kKib, 100 * kKib, 6 * kMib, 384, 1536, 16},
    {"sm_89", "GeForce RTX 4090", 89, 128, 99 * kKib, 100 * kKib, 72 * kMib, 384, 1536, 24},
    {"sm_90", "H100 SXM5", 90, 132, 227 * kKib, 228 * kKib, 50 * kMib, 5120, 2048, 32},
    {"sm_100", "B200", 100, 148, 227 * kKib, 228 * kKib, 126 * kMib, 8192, 2048, 32},
    {"sm_120", "GeForce RTX 5090", 120, 170, 99 * kKib, 100 * kKib, 96 * kMib, 512, 1536, 24},
}};

struct Attribute {
  const char* name;
  Value (*get)(const DeviceInfo&);
};

constexpr std::size_t kHardAttributes = 8;  ///< the first rows of kAttributes: the hard identity

/// What expressions may ask: hard figures and what follows from the architecture. Nothing soft, because devices that
/// agree in the hard figures share tuned configurations.
constexpr std::array<Attribute, 16> kAttributes{{
    {"backend", [](const DeviceInfo& d) { return Value(d.backend); }},
    {"architecture", [](const DeviceInfo& d) { return Value(d.architecture); }},
    {"sm_count", [](const DeviceInfo& d) { return Value(std::int64_t{d.sm_count}); }},
    {"shared_optin_bytes", [](const DeviceInfo& d) { return Value(d.shared_optin_bytes); }},
    {"registers_per_sm", [](const DeviceInfo& d) { return Value(d.registers_per_sm); }},
    {"l2_bytes", [](const DeviceInfo& d) { return Value(d.l2_bytes); }},
    {"memory_bus_bits", [](const DeviceInfo& d) { return Value(std::int64_t{d.memory_bus_bits}); }},
    {"warp_size", [](const DeviceInfo& d) { return Value(std::int64_t{d.warp_size}); }},
    {"compute_capability", [](const DeviceInfo& d) { return Value(std::int64_t{d.compute_capability}); }},
    {"max_threads_per_block", [](const DeviceInfo& d) { return Value(std::int64_t{d.max_threads_per_block}); }},
    {"max_threads_per_sm", [](const DeviceInfo& d) { return Value(std::int64_t{d.max_threads_per_sm}); }},
    {"max_blocks_per_sm", [](const DeviceInfo& d) { return Value(std::int64_t{d.max_blocks_per_sm}); }},
    {"shared_per_sm_bytes", [](const DeviceInfo& d) { return Value(d.shared_per_sm_bytes); }},
    {"shared_per_block_bytes", [](const DeviceInfo& d) { return Value(d.shared_per_block_bytes); }},
    {"registers_per_block", [](const DeviceInfo& d) { return Value(d.registers_per_block); }},
    {"cooperative_launch", [](const DeviceInfo& d) { return Value(d.cooperative_launch); }},
}};

Json fields(const DeviceInfo& device, std::size_t count) {
  Json json = Json::object();
  for (std::size_t i = 0; i < count; ++i) json[kAttributes[i].name] = spec::to_json(kAttributes[i].get(device));
  return json;
}

constexpr int kMostUnits = 1 << 20;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMostRegisters = std::int64_t{1} << 30;
constexpr int kMostKhz = 1'000'000'000;
constexpr double kMostWatts = 1e6;
constexpr std::size_t kMostDeviceTextBytes = 1024;

/// "cuda", "sm_90a": such a word becomes a part of the compiler's options.
std::string read_word(const base::JsonFields& read, const char* field) {
  const std::string word = read.text(field, kMostDeviceTextBytes);
  const bool fits = !word.empty() && word.size() <= 32 && std::all_of(word.begin(), word.end(), base::is_name_part);
  if (!fits) read.fail(field, "a word of at most 32 letters, digits and '_'", Json(word));
  return word;
}

}  // namespace

std::string DeviceInfo::hard_json() const { return base::dump_json(fields(*this, kHardAttributes)); }
std::string DeviceInfo::hard_key() const { return base::content_key(hard_json()); }

std::string DeviceInfo::hard_difference(const DeviceInfo& other) const {
  const Json ours = fields(*this, kHardAttributes), theirs = fields(other, kHardAttributes);
  std::string text;
  for (std::size_t i = 0; i < kHardAttributes; ++i) {
    const char* const field = kAttributes[i].name;
    if (ours[field] == theirs[field]) continue;
    const auto shown = [](const Json& value) { return value.is_string() ? value.get<std::string>() : base::dump_json(value); };
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} instead of {}", field, shown(ours[field]), shown(theirs[field]));
  }
  return text;
}

std::string DeviceInfo::memory_difference(const DeviceInfo& other) const {
  if (!other_memory_clock(memory_clock_khz, other.memory_clock_khz)) return {};
  return fmt::format("{} {} instead of {}", kMemoryClockField, memory_clock_khz, other.memory_clock_khz);
}

bool other_memory_clock(int a_khz, int b_khz) {
  if (a_khz <= 0 || b_khz <= 0) return false;
  const double ratio = static_cast<double>(a_khz) / b_khz;
  return ratio < 0.99 || ratio > 1.01;
}

int memory_clock_of(std::string_view detail_json) {
  // In canonical JSON a quote inside of a text is escaped: this can only be a key.
  static const std::string key = fmt::format("\"{}\":", kMemoryClockField);
  const std::size_t at = detail_json.find(key);
  int khz = 0;
  if (at != std::string_view::npos)
    (void)std::from_chars(detail_json.data() + at + key.size(), detail_json.data() + detail_json.size(), khz);
  return std::max(khz, 0);
}

Json DeviceInfo::to_json() const {
  Json json = fields(*this, kAttributes.size());
  json.update({{"name", name},
               {"uuid", uuid},
               {"driver", driver},
               {"sm_clock_khz", sm_clock_khz},
               {"memory_clock_khz", memory_clock_khz},
               {"memory_bytes", memory_bytes},
               {"power_limit_w", power_limit_w},
               {"ecc", ecc}});
  return json;
}

DeviceInfo DeviceInfo::from_json(const Json& json) {
  const base::JsonFields read(json, "failed reading a device: ");
  DeviceInfo device;
  device.backend = read_word(read, "backend");
  device.architecture = read_word(read, "architecture");
  device.sm_count = read.integer("sm_count", 1, kMostUnits);
  device.shared_optin_bytes = read.integer("shared_optin_bytes", std::int64_t{0}, kMostBytes);
  device.registers_per_sm = read.integer("registers_per_sm", std::int64_t{0}, kMostRegisters);
  device.l2_bytes = read.integer("l2_bytes", std::int64_t{0}, kMostBytes);
  device.memory_bus_bits = read.integer("memory_bus_bits", 0, kMostUnits);
  device.warp_size = read.integer("warp_size", 1, kMostUnits);
  device.compute_capability = read.integer("compute_capability", 0, kMostUnits);
  device.max_threads_per_block = read.integer("max_threads_per_block", 1, kMostUnits);
  device.max_threads_per_sm = read.integer("max_threads_per_sm", 0, kMostUnits);
  device.max_blocks_per_sm = read.integer("max_blocks_per_sm", 0, kMostUnits);
  device.shared_per_sm_bytes = read.integer("shared_per_sm_bytes", std::int64_t{0}, kMostBytes);
  device.shared_per_block_bytes = read.integer("shared_per_block_bytes", std::int64_t{0}, kMostBytes);
  device.registers_per_block = read.integer("registers_per_block", std::int64_t{0}, kMostRegisters);
  device.cooperative_launch = read.flag("cooperative_launch");
  device.name = read.text("name", kMostDeviceTextBytes);
  device.uuid = read.text("uuid", kMostDeviceTextBytes);
  device.driver = read.text("driver", kMostDeviceTextBytes);
  device.sm_clock_khz = read.integer("sm_clock_khz", 0, kMostKhz);
  device.memory_clock_khz = read.integer("memory_clock_khz", 0, kMostKhz);
  device.memory_bytes = read.integer("memory_bytes", std::int64_t{0}, kMostBytes);
  device.power_limit_w = read.number("power_limit_w", 0, kMostWatts);
  device.ecc = read.flag("ecc");
  return device;
}

DeviceInfo DeviceInfo::of_architecture(const std::string& architecture) {
  std::vector<std::string> known;
  for (const Architecture& row : kArchitectures) {
    known.emplace_back(row.name);
    if (architecture != row.name) continue;
    DeviceInfo device;
    device.architecture = row.name;
    device.sm_count = row.sm_count;
    device.shared_optin_bytes = row.shared_optin_bytes;
    device.registers_per_sm = 65536;
    device.l2_bytes = row.l2_bytes;
    device.memory_bus_bits = row.memory_bus_bits;
    device.compute_capability = row.compute_capability;
    device.max_threads_per_sm = row.max_threads_per_sm;
    device.max_blocks_per_sm = row.max_blocks_per_sm;
    device.shared_per_sm_bytes = row.shared_per_sm_bytes;
    device.name = fmt::format("{} (figures of {})", row.name, row.part);
    return device;
  }
  throw UsageError(fmt::format("unknown architecture '{}'; known: {}", architecture, joined(known)));
}

std::optional<Value> DeviceInfo::attribute(std::string_view attribute) const {
  for (const Attribute& row : kAttributes) {
    if (attribute == row.name) return row.get(*this);
  }
  return std::nullopt;
}

std::vector<std::string> DeviceInfo::attribute_names() {
  std::vector<std::string> names;
  for (const Attribute& row : kAttributes) names.emplace_back(row.name);
  return names;
}

double DeviceInfo::peak_operations_per_s() const { return base::peak_operations_per_s(compute_capability, sm_count, sm_clock_khz); }

std::string DeviceInfo::slug() const {
  std::string slug;
  for (const char c : name) {
    if (base::is_letter_or_digit(c)) {
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!slug.empty() && slug.back() != '_') {
      slug += '_';
    }
  }
  while (!slug.empty() && slug.back() == '_') slug.pop_back();
  return slug.empty() ? architecture : slug;
}

}  // namespace attune::spec
