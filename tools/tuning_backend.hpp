#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/tuning.hpp"
#include "tuner/session/fleet/device_process.hpp"
#include "tuner/session/source/backend.hpp"

namespace attune::tools {

/// What measures: a GPU, or a recording when there is none (or one was named), and a first line that says which.
struct ChosenBackend {
  std::unique_ptr<session::Backend> backend;
  std::string banner;
  bool replay = false;
};

/// The GPU of `settings`, with compile workers of its own. Throws: EnvironmentError (no driver, no such device, no NVRTC).
[[nodiscard]] std::unique_ptr<session::Backend> open_live(const std::filesystem::path& executable, const session::DeviceSettings& settings,
                                                          const measure::Policy& policy);

/// What the device of `settings` is. Throws: EnvironmentError.
[[nodiscard]] spec::DeviceInfo device_at(const std::filesystem::path& executable, const session::DeviceSettings& settings);

/// For a run on `settings.ordinal` alone. Without `--device` and `--replay` a machine without a GPU replays a shipped
/// recording of the template.
/// Throws: EnvironmentError when there is no GPU and no recording, or the named device is not there.
[[nodiscard]] ChosenBackend choose_backend(const TuningOptions& options, const std::filesystem::path& executable,
                                           const session::DeviceSettings& settings, const spec::KernelTemplate& kernel,
                                           const std::vector<spec::Problem>& problems);

/// What measures each of several problems: one GPU or one named recording for all, or the shipped recordings that hold them.
struct BackendPlan {
  struct Leg {
    std::size_t backend = 0;  ///< into `backends`
    std::vector<spec::Problem> problems;
  };
  std::vector<ChosenBackend> backends;  ///< all of one device
  std::vector<Leg> legs;                ///< in the order of the problems
};
/// As choose_backend, where no single recording needs to hold every problem; of several the one that holds most of a problem is taken.
/// Throws: as choose_backend, naming the problems that no recording holds.
[[nodiscard]] BackendPlan choose_backends(const TuningOptions& options, const std::filesystem::path& executable,
                                          const session::DeviceSettings& settings, const spec::KernelTemplate& kernel,
                                          const std::vector<spec::Problem>& problems);

/// Recordings that belong to a template: `<its folder>/recordings/*.json.zst`, then the installed ones.
[[nodiscard]] std::vector<std::filesystem::path> recordings_of(const spec::KernelTemplate& kernel);

/// What `attune worker-tune` is made of.
[[nodiscard]] session::DeviceHooks live_hooks(const std::filesystem::path& executable);

}  // namespace attune::tools
