#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <sstream>

#include "tools/doctor/checks.hpp"
#include "tools/doctor/command_output.hpp"
#include "tuner/base/text.hpp"
#include "tuner/gpu/driver.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/gpu/nvml.hpp"

namespace attune::tools::doctor {
namespace {

/// Of one device, as the driver's own command tells it.
struct Managed {
  std::string persistence, mig, compute_mode, uncorrected;
  int most_sm_mhz = 0;
};

/// On a sick device it hangs. Two questions are asked.
constexpr std::chrono::seconds kPatience{10};

/// The lines of `nvidia-smi QUERY`, each as its cells; nothing where it does not run.
std::vector<std::vector<std::string>> ask_nvidia_smi(const std::string& query) {
  const std::string text = output_of({"nvidia-smi", query, "--format=csv,noheader,nounits"}, kPatience);
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.emplace_back(base::trimmed(cell));
    if (!row.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::map<std::string, Managed> managed_devices() {
  std::map<std::string, Managed> found;
  for (const auto& row : ask_nvidia_smi(
           "--query-gpu=uuid,persistence_mode,mig.mode.current,compute_mode,clocks.max.sm,ecc.errors.uncorrected.volatile.total")) {
    if (row.size() != 6 || !row[0].starts_with("GPU-")) continue;
    found[row[0]] = {row[1], row[2], row[3], row[5], std::atoi(row[4].c_str())};
  }
  return found;
}

std::string version_text(int cuda) { return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10); }

void check_clocks(const spec::DeviceInfo& device, int most_sm_mhz, Area& area) {
  auto nvml = gpu::Nvml::open(device.uuid);
  if (!nvml) {
    area.note("its clocks cannot be read (no libnvidia-ml.so.1, or a MIG slice): recordings do not tell what held them back");
    return;
  }
  const auto reading = nvml->read();
  std::string text = fmt::format("SM clock {} MHz", reading.sm_clock_mhz);
  if (most_sm_mhz > 0) text += fmt::format(" of {}", most_sm_mhz);
  text += fmt::format(", {} C, power limit {:.0f} W", reading.temperature_c, reading.power_limit_w);
  if (reading.throttle.empty())
    area.fine(text);
  else
    area.note(fmt::format("{}; held back by {}", text, reading.throttle),
              "let it cool or end what else runs there, then look again: nvidia-smi -q -d PERFORMANCE");
}

/// Commands name the device by its UUID: nvidia-smi counts devices in another order than CUDA, and those that are hidden here too.
void check_settings(const std::string& uuid, const Managed& managed, Area& area) {
  if (managed.persistence == "Disabled")
    area.note("persistence mode is off: the driver is loaded anew for every command, and clocks start low",
              fmt::format("sudo nvidia-smi -i {} -pm 1", uuid));
  else if (managed.persistence == "Enabled")
    area.fine("persistence mode is on");
  if (managed.mig == "Enabled")
    area.note("MIG is on: a slice is tuned as a device of its own, and has fewer SMs and less memory than the whole",
              fmt::format("with the whole device to be tuned: sudo nvidia-smi -i {} -mig 0", uuid));
  if (managed.compute_mode == "Prohibited")
    area.wrong("its compute mode prohibits every program", fmt::format("sudo nvidia-smi -i {} -c DEFAULT", uuid));
  if (std::atoll(managed.uncorrected.c_str()) > 0)
    area.wrong(fmt::format("{} uncorrected memory errors since it was started", managed.uncorrected),
               fmt::format("nvidia-smi -i {} -q -d ECC,ROW_REMAPPER; ask whoever runs the machine", uuid));
}

/// Who else computes on a device: every figure suffers from it.
void check_others(const std::vector<spec::DeviceInfo>& devices, Findings& findings) {
  std::map<std::string, std::string> busy;
  for (const auto& row : ask_nvidia_smi("--query-compute-apps=gpu_uuid,pid,process_name")) {
    if (row.size() < 3) continue;
    const std::string program = row[2].substr(row[2].rfind('/') + 1);
    auto& text = busy[row[0]];
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", row[1], program);
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!busy.contains(devices[i].uuid)) continue;
    Area(fmt::format("GPU {}", i), findings)
        .note("others compute on it: " + busy[devices[i].uuid], "wait for them, or end them, before figures are to count");
  }
}

}  // namespace

void check_gpus(Machine& machine, Findings& findings) {
  Area driver("driver", findings);
  if (const std::string why = gpu::Driver::unavailable_reason(); !why.empty()) {
    const std::string memory = remedy_of_address_space();
    driver.wrong(why, (memory.empty() ? "" : "where a GPU is: " + memory + "; ") +
                          "tuning measures where a GPU is; without one attune replays recordings, and everything that needs no GPU works");
    return;
  }
  const auto& table = gpu::Driver::get();
  gpu::check(table.cuDriverGetVersion(&machine.driver_cuda), "cuDriverGetVersion", "asking for the driver's version");
  for (int ordinal = 0; ordinal < gpu::device_count(); ++ordinal) machine.devices.push_back(gpu::read_device(ordinal));
  driver.fine(fmt::format("driver {} for CUDA up to {}, {} device{}", machine.devices.empty() ? "" : machine.devices.front().driver,
                          version_text(machine.driver_cuda), machine.devices.size(), machine.devices.size() == 1 ? "" : "s"));
  const auto managed = managed_devices();
  if (managed.empty()) driver.note("nvidia-smi tells nothing here: persistence, MIG and other programs are not looked at");
  for (std::size_t i = 0; i < machine.devices.size(); ++i) {
    const auto& device = machine.devices[i];
    Area area(fmt::format("GPU {}", i), findings);
    area.fine(fmt::format("{}, {}, {} SMs, {} GiB", device.name, device.architecture, device.sm_count, device.memory_bytes >> 30));
    const auto found = managed.find(device.uuid);
    const Managed settings = found == managed.end() ? Managed{} : found->second;
    check_settings(device.uuid, settings, area);
    check_clocks(device, settings.most_sm_mhz, area);
  }
  check_others(machine.devices, findings);
}

}  // namespace attune::tools::doctor
