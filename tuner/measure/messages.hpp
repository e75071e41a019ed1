#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "tuner/measure/visit.hpp"
#include "tuner/spec/kernel_template.hpp"

// What the executor and its worker say to each other: JSON values on a base::Channel. Every request has "type"; every
// answer to one is a single message, but a run-off reports {"progress": n} after each round.
namespace attune::measure::messages {

/// The devices that the driver shows a worker: as few as it can beside the one it is for, or all.
enum class Shown { Fewest, All };
[[nodiscard]] nlohmann::json hello(int device, Shown shown);
[[nodiscard]] nlohmann::json prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem, const Policy& policy,
                                     const std::string& support_cubin, const std::string& reference_cubin,
                                     const std::string& setup_cubin = {});
/// The code of the setup that all configurations share, of a request to prepare; empty: there is none.
[[nodiscard]] std::string setup_of(const nlohmann::json& prepare);
/// `with_cubin`: whether the cubin itself goes along.
[[nodiscard]] nlohmann::json visit(const VisitRequest& request, bool with_cubin);
[[nodiscard]] VisitRequest visit_from(const nlohmann::json& json);
[[nodiscard]] nlohmann::json reply(const VisitReply& reply);
[[nodiscard]] VisitReply reply_from(const nlohmann::json& json);

/// An exception of the worker that belongs to the caller, with its class.
[[nodiscard]] nlohmann::json failure(const std::exception& error);
/// Throws what `failure` described when `json` holds one.
void rethrow(const nlohmann::json& json);

}  // namespace attune::measure::messages
