#include "tuner/spec/tuning_request.hpp"

#include <nlohmann/json.hpp>

#include "tuner/spec/kernel_message.hpp"

namespace attune::spec {

nlohmann::json to_json(const TuningRequest& request) {
  nlohmann::json message = {{"type", "tune"},
                            {"problem", to_text(request.problem)},
                            {"policy", request.policy},
                            {"device_ordinal", request.device_ordinal},
                            {"device_uuid", request.device_uuid},
                            {"database", request.database.string()},
                            {"budget_s", request.budget_s},
                            {"compile_workers", request.compile_workers}};
  add_kernel(message, request.kernel);
  return message;
}

TuningRequest tuning_request_from(const nlohmann::json& message) {
  TuningRequest request;
  request.kernel = kernel_of(message);
  request.problem = problem_from_text(message.at("problem"));
  request.policy = message.at("policy");
  request.device_ordinal = message.at("device_ordinal");
  request.device_uuid = message.at("device_uuid");
  request.database = message.at("database").get<std::string>();
  request.budget_s = message.at("budget_s");
  request.compile_workers = message.at("compile_workers");
  return request;
}

}  // namespace attune::spec
