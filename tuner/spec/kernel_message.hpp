#pragma once
#include <nlohmann/json_fwd.hpp>

#include "tuner/spec/kernel_template.hpp"

namespace attune::spec {

/// Puts a template into a message to another process, whole: "spec", "path" and "files". The process need not find the folder again, nor
/// find in it what the sender found.
void add_kernel(nlohmann::json& message, const KernelTemplate& kernel);
/// Throws: nlohmann::json::exception, SpecError.
[[nodiscard]] KernelTemplate kernel_of(const nlohmann::json& message);

}  // namespace attune::spec
