#include "tuner/spec/kernel_message.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tuner/base/json.hpp"

namespace attune::spec {

void add_kernel(nlohmann::json& message, const KernelTemplate& kernel) {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [name, contents] : kernel.parts()) files[name] = base::json_of_bytes(contents);
  message["spec"] = base::json_of_bytes(kernel.spec_text);
  message["path"] = kernel.spec_path;
  message["files"] = std::move(files);
}

KernelTemplate kernel_of(const nlohmann::json& message) {
  std::map<std::string, std::string> files;
  for (const auto& [name, contents] : message.at("files").items()) files[name] = base::bytes_of_json(contents);
  return KernelTemplate::parse(base::bytes_of_json(message.at("spec")), files, message.at("path"));
}

}  // namespace attune::spec
