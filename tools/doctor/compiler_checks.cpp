#include <fmt/format.h>

#include <chrono>

#include "attune/error.hpp"
#include "tools/doctor/checks.hpp"
#include "tuner/compile/compile_pool.hpp"
#include "tuner/compile/nvrtc_library.hpp"

namespace attune::tools::doctor {
namespace {

constexpr const char* kTrial = "extern \"C\" __global__ void attune_doctor(float* out) { out[threadIdx.x] = 1.0f; }\n";
constexpr const char* kMoreHelp = "install the CUDA toolkit (12.4 or newer), or name the library: export ATTUNE_NVRTC=/path/to/libnvrtc.so";

/// "13.0.88 CL-..." -> 13, 0.
struct Version {
  int major = 0, minor = 0;
};
Version version_of(const std::string& build) {
  Version version;
  const auto dot = build.find('.');
  version.major = std::atoi(build.c_str());
  if (dot != std::string::npos) version.minor = std::atoi(build.c_str() + dot + 1);
  return version;
}

/// Code of a newer major version than the driver's does not load; within one it does.
void check_against_driver(const Machine& machine, Area& area) {
  if (machine.driver_cuda == 0) return;
  const auto nvrtc = version_of(machine.nvrtc);
  const int driver_major = machine.driver_cuda / 1000;
  if (nvrtc.major > driver_major) {
    area.wrong(fmt::format("its code is for CUDA {}, and the driver takes that of CUDA {} at most", nvrtc.major, driver_major),
               fmt::format("update the driver, or name an NVRTC of CUDA {}: export ATTUNE_NVRTC=/path/to/libnvrtc.so.{}", driver_major,
                           driver_major));
  } else {
    area.fine(fmt::format("the driver takes its code (NVRTC {}.{}, driver for CUDA {}.{})", nvrtc.major, nvrtc.minor, driver_major,
                          machine.driver_cuda % 1000 / 10));
  }
}

void compile_trial(compile::CompilePool& pool, const Machine& machine, Area& area) {
  const std::string architecture = machine.devices.empty() ? "sm_90" : machine.devices.front().architecture;
  const auto result = pool.compile_now({kTrial, "doctor.cu", architecture, {}});
  if (result.status == compile::CompileStatus::Ok)
    area.fine(fmt::format("a worker compiles for {} ({:.0f} ms)", architecture, result.compile_ms));
  else
    area.wrong(fmt::format("a worker does not compile for {}: {}", architecture, result.log),
               "look whether the toolkit is whole, and as new as this GPU: NVRTC needs libnvrtc-builtins beside it");
}

/// attune loads NVRTC's builtins from beside it: one that misses them is not whole.
std::string remedy(const std::string& failure) {
  if (failure.find("NVRTC") == std::string::npos)
    return remedy_of_address_space();  // a worker that cannot be started: the text says the rest
  if (failure.find("libnvrtc-builtins") == std::string::npos) return kMoreHelp;
  return "install the NVRTC package of the toolkit whole: libnvrtc-builtins of its version belongs beside libnvrtc";
}

}  // namespace

void check_compiler(Machine& machine, const CommandContext& context, Findings& findings) {
  Area area("compiler", findings);
  try {
    const auto library = compile::load_nvrtc();
    compile::CompilePool::Options options;
    options.worker = context.executable;
    options.workers = 1;
    compile::CompilePool pool(options);
    machine.nvrtc = pool.nvrtc_build();
    area.fine(fmt::format("NVRTC {} at {}", machine.nvrtc, library.path.string()));
    if (library.include_folders.empty())
      area.note("no CUDA headers were found beside it: templates that include them do not compile", kMoreHelp);
    check_against_driver(machine, area);
    compile_trial(pool, machine, area);
    for (const auto& warning : pool.take_warnings()) area.note(warning);
  } catch (const Error& error) {
    area.wrong(error.what(), remedy(error.what()));
  }
}

}  // namespace attune::tools::doctor
