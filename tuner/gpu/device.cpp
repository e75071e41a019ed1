// Hard and soft identity of a device, read without creating a context.
#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tuner/gpu/handles.hpp"

namespace attune::gpu {
namespace {

int attribute(CUdevice device, CUdevice_attribute which, const char* name) {
  int value = 0;
  check(Driver::get().cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute", fmt::format("reading the device's {}", name));
  return value;
}

/// "580.159.04" out of the kernel module's own text. The driver API has no call for it and NVML is not always
/// installed where the driver is; where /proc shows nothing (some containers) the API version stands in.
std::string driver_text() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const bool numeric = word.find_first_not_of("0123456789.") == std::string::npos;
    if (numeric && word.find('.') != std::string::npos) return word;
  }
  int version = 0;
  check(Driver::get().cuDriverGetVersion(&version), "cuDriverGetVersion", "reading the driver's version");
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

std::string uuid_text(CUdevice device) {
  CUuuid uuid{};
  check(Driver::get().cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid", "reading the device's UUID");
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
  }
  return text;
}

void read_limits(CUdevice device, spec::DeviceInfo& info) {
  info.sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "SM count");
  info.shared_optin_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, "opt-in shared memory");
  info.registers_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, "registers per SM");
  info.l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, "L2 size");
  info.memory_bus_bits = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, "memory bus width");
  info.warp_size = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE, "warp size");
  info.max_threads_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, "threads per block");
  info.max_threads_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, "threads per SM");
  info.max_blocks_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, "blocks per SM");
  info.shared_per_sm_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, "shared memory per SM");
  info.shared_per_block_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, "shared memory per block");
  info.registers_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, "registers per block");
  info.cooperative_launch = attribute(device, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, "cooperative launch") != 0;
}

constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";

/// Where there are, the driver shows one of them and no whole GPU, unless it is told otherwise.
bool has_mig_instances() {
  std::error_code ignored;  // no such folder: no driver that could have any
  for (const auto& gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/capabilities", ignored)) {
    for (const auto& part : std::filesystem::directory_iterator(gpu.path() / "mig", ignored))
      if (part.path().filename().string().starts_with("gi")) return true;
  }
  return false;
}

}  // namespace

std::optional<Visible> fewest_visible(const char* now, int ordinal) {
  if (ordinal < 0) return std::nullopt;
  if (now == nullptr) return Visible{std::to_string(ordinal), 0};
  std::istringstream entries(now);
  Visible visible{"", ordinal};
  std::string entry;
  for (int i = 0; i <= ordinal; ++i) {
    if (!std::getline(entries, entry, ',')) return std::nullopt;
    visible.value += (i == 0 ? "" : ",") + entry;
  }
  return visible;
}

int show_fewest(int ordinal) {
  const char* const now = std::getenv(kVisible);
  const auto visible = fewest_visible(now, ordinal);
  if (!visible) throw EnvironmentError(fmt::format("failed finding device {}: {} names too few", ordinal, kVisible));
  if (now == nullptr && has_mig_instances()) throw EnvironmentError("failed finding a device by its number beside MIG instances");
  ::setenv(kVisible, visible->value.c_str(), 1);
  const int count = device_count();
  if (count != visible->ordinal + 1)
    throw EnvironmentError(fmt::format("failed finding device {}: {}={} shows {} devices", ordinal, kVisible, visible->value, count));
  return visible->ordinal;
}

int device_count() {
  int count = 0;
  check(Driver::get().cuDeviceGetCount(&count), "cuDeviceGetCount", "counting devices");
  return count;
}

spec::DeviceInfo read_device(int ordinal) {
  const Driver& driver = Driver::get();
  const int count = device_count();
  if (ordinal < 0 || ordinal >= count) {
    throw UsageError(
        fmt::format("failed selecting device {}: this machine shows {} device{}, numbered from 0", ordinal, count, count == 1 ? "" : "s"));
  }
  CUdevice device = 0;
  check(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet", fmt::format("selecting device {}", ordinal));
  spec::DeviceInfo info;
  const int major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, "compute capability");
  const int minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, "compute capability");
  info.compute_capability = major * 10 + minor;
  info.architecture = fmt::format("sm_{}", info.compute_capability);
  read_limits(device, info);
  std::array<char, 256> name{};
  check(driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()), device), "cuDeviceGetName", "reading the device's name");
  info.name = name.data();
  info.uuid = uuid_text(device);
  info.driver = driver_text();
  info.sm_clock_khz = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, "SM clock");
  info.memory_clock_khz = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, "memory clock");
  std::size_t memory_bytes = 0;
  check(driver.cuDeviceTotalMem(&memory_bytes, device), "cuDeviceTotalMem", "reading the device's memory size");
  info.memory_bytes = static_cast<std::int64_t>(memory_bytes);
  info.ecc = attribute(device, CU_DEVICE_ATTRIBUTE_ECC_ENABLED, "ECC state") != 0;
  return info;
}

}  // namespace attune::gpu
