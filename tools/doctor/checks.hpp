#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/commands.hpp"
#include "tools/doctor/findings.hpp"
#include "tuner/spec/device_info.hpp"

namespace attune::tools::doctor {

/// What later checks compare with.
struct Machine {
  int driver_cuda = 0;                    ///< CUDA version that the driver knows, 13000 for 13.0; 0: no driver
  std::vector<spec::DeviceInfo> devices;  ///< in order of their numbers
  std::string nvrtc;                      ///< build; empty: none
};

/// Driver and devices: persistence, MIG, clocks and what holds them back, who else computes there.
void check_gpus(Machine& machine, Findings& findings);

/// NVRTC: where it lies, whether the driver takes its code, and a compilation in a worker as tuning starts them.
void check_compiler(Machine& machine, const CommandContext& context, Findings& findings);

/// `named`, or the databases of dispatch (the user's, the shipped one): where, how large, whether sound, and what of them is of this
/// machine's first device and of these templates.
void check_databases(const Machine& machine, const std::string& named, Findings& findings);

/// Folders that tuning writes, the clock, and what this process may use.
void check_system(Findings& findings);

/// What mends a limit of address space (RLIMIT_AS) that CUDA does not do with; empty where there is no such limit. What fails for it says
/// something else: a driver that cannot start, memory of a device that is free and cannot be had.
[[nodiscard]] std::string remedy_of_address_space();

}  // namespace attune::tools::doctor
