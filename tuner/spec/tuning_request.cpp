#include "tuner/spec/tuning_request.hpp"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace attune::spec {
namespace {

using nlohmann::json;

/// Sources may hold bytes that are no UTF-8, which a JSON text may not.
json binary(const std::string& bytes) { return json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end())); }
std::string bytes_of(const json& value) { return {value.get_binary().begin(), value.get_binary().end()}; }

}  // namespace

json to_json(const TuningRequest& request) {
  json files = json::object();
  for (const auto& [name, contents] : request.kernel.parts()) files[name] = binary(contents);
  return {{"type", "tune"},
          {"spec", binary(request.kernel.spec_text)},
          {"path", request.kernel.spec_path},
          {"files", std::move(files)},
          {"problem", to_text(request.problem)},
          {"policy", request.policy},
          {"device_ordinal", request.device_ordinal},
          {"device_uuid", request.device_uuid},
          {"database", request.database.string()},
          {"budget_s", request.budget_s},
          {"compile_workers", request.compile_workers}};
}

TuningRequest tuning_request_from(const json& message) {
  std::map<std::string, std::string> files;
  for (const auto& [name, contents] : message.at("files").items()) files[name] = bytes_of(contents);
  TuningRequest request;
  request.kernel = KernelTemplate::parse(bytes_of(message.at("spec")), files, message.at("path"));
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
