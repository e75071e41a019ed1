#include "tuner/compile/compiler.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "attune/error.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"

namespace attune::compile {
namespace {

using nlohmann::json;

/// Changed when the same request must not find an older cubin: other flags change the options below by themselves.
constexpr std::string_view kCubinFormat = "attune-cubin-1";

// In the order of the enumerations.
constexpr std::array<std::string_view, 4> kStatusNames{"ok", "failed", "timed_out", "crashed"};
constexpr std::array<std::string_view, 4> kHeaderUseNames{"none", "created", "used", "refused"};

template <class Enum, std::size_t size>
std::string_view name_of(const std::array<std::string_view, size>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

template <class Enum, std::size_t size>
Enum value_of(const char* what, const std::array<std::string_view, size>& names, std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  throw Error(fmt::format("failed reading a compile result: unknown {} '{}'", what, text));
}

json to_json(const KernelResources& kernel) {
  return {{"kernel", kernel.kernel},
          {"registers", kernel.registers},
          {"static_shared_bytes", kernel.static_shared_bytes},
          {"stack_bytes", kernel.stack_bytes},
          {"spill_store_bytes", kernel.spill_store_bytes},
          {"spill_load_bytes", kernel.spill_load_bytes}};
}

KernelResources resources_from_json(const json& value) {
  KernelResources kernel;
  value.at("kernel").get_to(kernel.kernel);
  value.at("registers").get_to(kernel.registers);
  value.at("static_shared_bytes").get_to(kernel.static_shared_bytes);
  value.at("stack_bytes").get_to(kernel.stack_bytes);
  value.at("spill_store_bytes").get_to(kernel.spill_store_bytes);
  value.at("spill_load_bytes").get_to(kernel.spill_load_bytes);
  return kernel;
}

/// What nlohmann::json reports about a missing or mistyped field, as one of our errors.
template <class Read>
auto read_as(const char* what, Read read) {
  try {
    return read();
  } catch (const json::exception& error) {
    throw Error(fmt::format("failed reading a {}: {}", what, error.what()));
  }
}

}  // namespace

json to_json(const CompileRequest& request) {
  return {{"source", request.source}, {"name", request.name}, {"architecture", request.architecture}, {"options", request.options}};
}

CompileRequest request_from_json(const json& value) {
  return read_as("compile request", [&value] {
    CompileRequest request;
    value.at("source").get_to(request.source);
    value.at("name").get_to(request.name);
    value.at("architecture").get_to(request.architecture);
    value.at("options").get_to(request.options);
    return request;
  });
}

json to_json(const CompileResult& result) {
  json kernels = json::array();
  for (const KernelResources& kernel : result.kernels) kernels.push_back(to_json(kernel));
  json value = {{"status", name_of(kStatusNames, result.status)},
                {"key", result.key},
                {"cubin", base::json_of_bytes(result.cubin)},
                {"kernels", std::move(kernels)},
                {"log", result.log},
                {"compile_ms", result.compile_ms},
                {"from_cache", result.from_cache},
                {"headers", name_of(kHeaderUseNames, result.headers)}};
  if (!result.headers_refusal.empty()) value["headers_refusal"] = result.headers_refusal;  // the cache has no such results
  return value;
}

CompileResult result_from_json(const json& value) {
  return read_as("compile result", [&value] {
    CompileResult result;
    result.status = value_of<CompileStatus>("status", kStatusNames, value.at("status").get<std::string>());
    value.at("key").get_to(result.key);
    result.cubin = base::bytes_of_json(value.at("cubin"));
    for (const json& kernel : value.at("kernels")) result.kernels.push_back(resources_from_json(kernel));
    value.at("log").get_to(result.log);
    value.at("compile_ms").get_to(result.compile_ms);
    value.at("from_cache").get_to(result.from_cache);
    // Files of the cubin cache that are older than this field lack it.
    result.headers = value_of<HeaderUse>("use of headers", kHeaderUseNames, value.value("headers", "none"));
    result.headers_refusal = value.value("headers_refusal", "");
    return result;
  });
}

std::vector<std::string> full_options(const CompileRequest& request) {
  std::vector<std::string> options{"-arch=" + request.architecture, "-std=c++17",        "-default-device", "--no-cache",
                                   "--modify-stack-limit=false",    "--ptxas-options=-v"};
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

std::string cubin_key(const CompileRequest& request, const std::string& nvrtc_build) {
  base::ContentHasher hasher;
  hasher.add(kCubinFormat).add(nvrtc_build).add(request.architecture);
  for (const std::string& option : full_options(request)) hasher.add("option").add(option);
  hasher.add("source").add(request.source);
  return hasher.key();
}

std::string source_key(const CompileRequest& request) {
  std::string text = request.source + "\n" + request.architecture;
  for (const std::string& option : request.options) text += "\n" + option;
  return base::content_key(text);
}

}  // namespace attune::compile
