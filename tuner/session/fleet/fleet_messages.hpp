#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tuner/session/fleet/device_process.hpp"
#include "tuner/session/tune/session.hpp"

// What a tuning command and its device processes say to each other: JSON values on a base::Channel.
// To the device process, by "type": hello, tune, stop (the problem in work), read_ceiling, device_count, quit.
// From it, by "event": ready, progress, record, notice, finished, interrupted, read_ceiling, device_count, error.
namespace attune::session::messages {

/// All that stays the same for every problem of the command.
struct Hello {
  spec::KernelTemplate kernel;
  TuneRequest request;  ///< without problems; the run-off by its default rules
  DeviceSettings settings;
  std::filesystem::path database;
};
[[nodiscard]] nlohmann::json hello(const spec::KernelTemplate& kernel, const TuneRequest& request, const DeviceSettings& settings,
                                   const std::filesystem::path& database);
[[nodiscard]] Hello hello_from(const nlohmann::json& message);

[[nodiscard]] nlohmann::json progress(const Progress& progress);
/// `problem` is not part of the message: the receiver knows what it asked for. Requires: it outlives the result.
[[nodiscard]] Progress progress_from(const nlohmann::json& message, const spec::Problem& problem);

/// Without the best row: that is in the database.
[[nodiscard]] nlohmann::json result(const char* event, const ProblemResult& result);
[[nodiscard]] ProblemResult result_from(const nlohmann::json& message);

}  // namespace attune::session::messages
