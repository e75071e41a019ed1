#include "tools/tuning_backend.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "attune/error.hpp"
#include "tools/installed_data.hpp"
#include "tuner/base/private_path.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"
#include "tuner/gpu/handles.hpp"
#include "tuner/session/source/live_backend.hpp"
#include "tuner/session/source/replay_backend.hpp"

namespace attune::tools {
namespace {

ChosenBackend open_replay(session::Recording loaded, const std::string& path, const std::string& reason, const spec::KernelTemplate& kernel,
                          const std::string& policy) {
  auto backend = std::make_unique<session::ReplayBackend>(std::move(loaded), path, kernel);
  const auto& recording = backend->recording();
  if (recording.policy != policy) {
    throw UsageError(fmt::format("failed replaying {}: it was recorded under policy {}, not {}; give --policy {}", path, recording.policy,
                                 policy, recording.policy));
  }
  ChosenBackend chosen;
  chosen.banner = fmt::format("REPLAY, nothing is measured here{}: times come from {} ({}, driver {}, recorded {}, {})",
                              reason.empty() ? "" : " (" + reason + ")", base::escape_line(std::filesystem::path(path).filename().string()),
                              base::escape_line(recording.device.name), base::escape_line(recording.device.driver),
                              base::escape_line(recording.date), base::escape_line(recording.coverage));
  chosen.backend = std::move(backend);
  chosen.replay = true;
  return chosen;
}

ChosenBackend open_replay(const std::string& path, const std::string& reason, const spec::KernelTemplate& kernel,
                          const std::string& policy) {
  return open_replay(session::Recording::load(path), path, reason, kernel, policy);
}

/// Nothing, and a word about it, when the file is damaged: it must not hide the others.
std::optional<session::Recording> try_load(const std::filesystem::path& path) {
  try {
    return session::Recording::load(path);
  } catch (const SpecError& error) {
    base::tell_message(error.what());
    return std::nullopt;
  }
}

/// The first recording of the template that was made with these sources and holds every problem.
std::optional<std::filesystem::path> fitting_recording(const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems,
                                                       const std::string& policy) {
  for (const auto& path : recordings_of(kernel)) {
    const auto loaded = try_load(path);
    if (!loaded) continue;
    const auto& recording = *loaded;
    const bool holds_all =
        std::all_of(problems.begin(), problems.end(), [&](const auto& problem) { return recording.find(problem) != nullptr; });
    if (recording.template_hash == kernel.content_hash && recording.policy == policy && holds_all) return path;
  }
  return std::nullopt;
}

std::string measuring_banner(const spec::DeviceInfo& device) {
  return fmt::format("Measuring on {} ({}, driver {}), {}", base::escape_line(device.name), device.architecture, device.driver,
                     base::utc_now());
}

std::unique_ptr<measure::GpuExecutor> open_gpu(const std::filesystem::path& executable, const session::DeviceSettings& settings,
                                               const measure::Policy& policy) {
  measure::GpuExecutor::Options gpu;
  gpu.worker = executable;
  gpu.device = settings.ordinal;
  gpu.policy = policy;
  gpu.cpus = settings.timing_cpus;
  return std::make_unique<measure::GpuExecutor>(gpu);
}

std::unique_ptr<session::Backend> backend_on(const std::filesystem::path& executable, const session::DeviceSettings& settings,
                                             std::unique_ptr<measure::GpuExecutor> gpu) {
  session::LiveBackend::Options live;
  live.worker = executable;
  live.compile_workers = settings.compile_workers;
  live.compile_cpus = settings.compile_cpus;
  live.compile_deadline = settings.compile_deadline;
  live.cache = settings.cache;
  return std::make_unique<session::LiveBackend>(live, std::move(gpu));
}

}  // namespace

std::unique_ptr<session::Backend> open_live(const std::filesystem::path& executable, const session::DeviceSettings& settings,
                                            const measure::Policy& policy) {
  return backend_on(executable, settings, open_gpu(executable, settings, policy));
}

spec::DeviceInfo device_at(const std::filesystem::path& executable, const session::DeviceSettings& settings) {
  return open_gpu(executable, settings, {})->device();
}

std::vector<std::filesystem::path> recordings_of(const spec::KernelTemplate& kernel) {
  std::vector<std::filesystem::path> found;
  // What nobody has named is replayed only where nobody else could have put it.
  const auto take = [&](const std::filesystem::path& folder, const auto& why_not) {
    std::error_code ignored;  // a folder that cannot be looked into holds none
    const auto is_taken = [&](const std::filesystem::path& path) {
      const std::string reason = why_not(path);
      if (!reason.empty()) fmt::print(stderr, "attune: {} is not replayed: {}; or name a recording with --replay\n", path.string(), reason);
      return reason.empty();
    };
    if (!std::filesystem::is_directory(folder, ignored) || !is_taken(folder)) return;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (entry.path().string().ends_with(".json.zst") && is_taken(entry.path())) found.push_back(entry.path());
    }
  };
  // A built-in template's spec_path is no file, and its folder would be one of the working directory.
  take(std::filesystem::path(kernel.spec_path).parent_path() / "recordings", [](const auto& path) { return base::why_not_trusted(path); });
  for (const auto& data : installed_data_folders()) take(data / "recordings" / kernel.name, why_not_of_the_installation);
  if (const auto source = source_tree(); !source.empty())
    take(source / "templates" / kernel.name / "recordings", [](const auto&) { return std::string(); });
  std::sort(found.begin(), found.end());
  return found;
}

ChosenBackend choose_backend(const TuningOptions& options, const std::filesystem::path& executable, const session::DeviceSettings& settings,
                             const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems) {
  if (!options.replay.empty()) return open_replay(options.replay, "", kernel, options.policy);
  std::unique_ptr<measure::GpuExecutor> gpu;
  try {  // what fails with a GPU there is no reason to replay
    gpu = open_gpu(executable, settings, measure::policy_from_text(options.policy));
  } catch (const EnvironmentError& error) {
    if (!options.device.empty()) throw;
    const auto recording = fitting_recording(kernel, problems, options.policy);
    if (!recording) {
      throw EnvironmentError(
          fmt::format("{}\nThere is no recording of template \"{}\" with these problems and policy {} to replay either; "
                      "name one with --replay FILE",
                      error.what(), kernel.name, options.policy));
    }
    return open_replay(recording->string(), "no GPU", kernel, options.policy);
  }
  ChosenBackend chosen;
  chosen.backend = backend_on(executable, settings, std::move(gpu));
  chosen.banner = measuring_banner(chosen.backend->device());
  return chosen;
}

namespace {

/// A leg for each run of problems with the same backend. Requires: every one is below the number of backends.
std::vector<BackendPlan::Leg> legs_of(const std::vector<spec::Problem>& problems, const std::vector<std::size_t>& backend_of) {
  std::vector<BackendPlan::Leg> legs;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (legs.empty() || legs.back().backend != backend_of[i]) legs.push_back({backend_of[i], {}});
    legs.back().problems.push_back(problems[i]);
  }
  return legs;
}

BackendPlan replay_plan(const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems, const std::string& policy,
                        const std::string& why_no_gpu) {
  std::vector<std::pair<std::filesystem::path, session::Recording>> fitting;
  for (const auto& path : recordings_of(kernel)) {
    auto recording = try_load(path);
    if (recording && recording->template_hash == kernel.content_hash && recording->policy == policy)
      fitting.emplace_back(path, *std::move(recording));
  }
  constexpr std::size_t kNone = ~std::size_t{0};
  const auto measured = [&](std::size_t of, const spec::Problem& problem) -> std::size_t {
    const auto* found = fitting[of].second.find(problem);
    return found == nullptr ? 0 : found->measurements.size();
  };
  // One device for all: that of the recording which holds most of the first problem.
  std::string device;
  std::vector<std::size_t> source_of(problems.size(), kNone);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    for (std::size_t k = 0; k < fitting.size(); ++k) {
      if (!device.empty() && fitting[k].second.device.hard_key() != device) continue;
      const std::size_t before = source_of[i] == kNone ? 0 : measured(source_of[i], problems[i]);
      if (measured(k, problems[i]) > before) source_of[i] = k;
    }
    if (device.empty() && source_of[i] != kNone) device = fitting[source_of[i]].second.device.hard_key();
  }
  std::vector<std::size_t> backend_of(problems.size(), kNone);
  BackendPlan plan;
  for (std::size_t k = 0; k < fitting.size(); ++k) {
    if (std::find(source_of.begin(), source_of.end(), k) == source_of.end()) continue;
    for (std::size_t i = 0; i < problems.size(); ++i) {
      if (source_of[i] == k) backend_of[i] = plan.backends.size();
    }
    plan.backends.push_back(open_replay(std::move(fitting[k].second), fitting[k].first.string(), "no GPU", kernel, policy));
  }
  std::string missing;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (backend_of[i] == kNone) missing += (missing.empty() ? "" : ", ") + spec::to_text(problems[i]);
  }
  if (!missing.empty()) {
    throw EnvironmentError(fmt::format("{}\nNo recording of template \"{}\" under policy {} holds {} either; name one with --replay FILE",
                                       why_no_gpu, kernel.name, policy, missing));
  }
  plan.legs = legs_of(problems, backend_of);
  return plan;
}

}  // namespace

BackendPlan choose_backends(const TuningOptions& options, const std::filesystem::path& executable, const session::DeviceSettings& settings,
                            const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems) {
  BackendPlan plan;
  if (!options.replay.empty()) {
    plan.backends.push_back(open_replay(options.replay, "", kernel, options.policy));
  } else {
    std::unique_ptr<measure::GpuExecutor> gpu;
    try {
      gpu = open_gpu(executable, settings, measure::policy_from_text(options.policy));
    } catch (const EnvironmentError& error) {
      if (!options.device.empty()) throw;
      return replay_plan(kernel, problems, options.policy, error.what());
    }
    ChosenBackend live;
    live.backend = backend_on(executable, settings, std::move(gpu));
    live.banner = measuring_banner(live.backend->device());
    plan.backends.push_back(std::move(live));
  }
  plan.legs = {{0, problems}};
  return plan;
}

session::DeviceHooks live_hooks(const std::filesystem::path& executable) {
  session::DeviceHooks hooks;
  hooks.device_count = [] { return gpu::device_count(); };
  hooks.open = [executable](const session::DeviceSettings& settings, const spec::KernelTemplate&, const measure::Policy& policy) {
    return open_live(executable, settings, policy);
  };
  return hooks;
}

}  // namespace attune::tools
