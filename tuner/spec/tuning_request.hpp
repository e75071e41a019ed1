#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// One problem that a running program wants tuned, as it is handed to a process of its own. Template and problem go
/// along whole: the worker need not find the folder again, nor find in it what the program found.
struct TuningRequest {
  KernelTemplate kernel;
  Problem problem;
  std::string policy;  ///< "cold/graph"
  int device_ordinal = 0;
  std::string device_uuid;  ///< of the device that this ordinal has to be
  std::filesystem::path database;
  double budget_s = 10;     ///< of the search; the run-off follows it
  int compile_workers = 0;  ///< 0: as many as there are processors to spare
};

[[nodiscard]] nlohmann::json to_json(const TuningRequest& request);
/// Throws: nlohmann::json::exception, SpecError.
[[nodiscard]] TuningRequest tuning_request_from(const nlohmann::json& message);

}  // namespace attune::spec
