#include "tuner/measure/messages.hpp"

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/spec/kernel_message.hpp"

namespace attune::measure::messages {

using base::bytes_of_json;
using base::json_of_bytes;
using nlohmann::json;

json hello(int device, Shown shown) { return {{"type", "hello"}, {"device", device}, {"alone", shown == Shown::Fewest}}; }

json prepare(const spec::KernelTemplate& kernel, const spec::Problem& problem, const Policy& policy, const std::string& support_cubin,
             const std::string& reference_cubin, const std::string& setup_cubin) {
  json message{{"type", "prepare"},
               {"problem", spec::to_text(problem)},
               {"policy", to_text(policy)},
               {"support", json_of_bytes(support_cubin)},
               {"reference", json_of_bytes(reference_cubin)}};
  spec::add_kernel(message, kernel);
  if (!setup_cubin.empty()) message["setup"] = json_of_bytes(setup_cubin);
  return message;
}

std::string setup_of(const json& prepare) { return prepare.contains("setup") ? bytes_of_json(prepare.at("setup")) : ""; }

json visit(const VisitRequest& request, bool with_cubin) {
  json message{{"type", "visit"},
               {"configuration", request.configuration},
               {"cubin_key", request.cubin_key},
               {"verify", request.verify},
               {"once", request.once},
               {"best_us", request.best_us},
               {"max_samples", request.max_samples},
               {"power", request.power}};
  if (with_cubin) message["cubin"] = json_of_bytes(request.cubin);
  return message;
}

VisitRequest visit_from(const json& message) {
  VisitRequest request;
  request.configuration = message.at("configuration");
  request.cubin_key = message.at("cubin_key");
  if (message.contains("cubin")) request.cubin = bytes_of_json(message.at("cubin"));
  request.verify = message.at("verify");
  request.once = message.at("once");
  request.best_us = message.at("best_us");
  request.max_samples = message.at("max_samples");
  request.power = message.at("power");
  return request;
}

json reply(const VisitReply& reply) {
  return {{"outcome", name(reply.outcome)},
          {"verified", reply.verified},
          {"screened_out", reply.screened_out},
          {"samples_us", reply.samples_us},
          {"calls_per_sample", reply.calls_per_sample},
          {"sm_clock_mhz", reply.sm_clock_mhz},
          {"throttle", reply.throttle},
          {"detail", reply.detail},
          {"power_w", reply.power.watts},
          {"power_resolution", reply.power.resolution},
          {"worked_s", reply.worked_s},
          {"verifying_s", reply.verifying_s}};
}

VisitReply reply_from(const json& message) {
  VisitReply reply;
  reply.outcome = outcome_from_name(message.at("outcome"));
  reply.verified = message.at("verified");
  reply.screened_out = message.at("screened_out");
  reply.samples_us = message.at("samples_us").get<std::vector<double>>();
  reply.calls_per_sample = message.at("calls_per_sample");
  reply.sm_clock_mhz = message.at("sm_clock_mhz");
  reply.throttle = message.at("throttle");
  reply.detail = message.at("detail");
  reply.power = {message.at("power_w"), message.at("power_resolution")};
  reply.worked_s = message.at("worked_s");
  reply.verifying_s = message.at("verifying_s");
  return reply;
}

json failure(const std::exception& error) {
  json message{{"error", error.what()}, {"class", "internal"}};
  if (const auto* spec_error = dynamic_cast<const SpecError*>(&error)) {
    const std::string what = error.what();
    const auto place = SpecError(spec_error->file(), spec_error->line(), spec_error->column(), "");
    message["error"] = what.substr(std::string(place.what()).size());
    message["class"] = "spec";
    message["file"] = spec_error->file();
    message["line"] = spec_error->line();
    message["column"] = spec_error->column();
  } else if (const auto* cuda_error = dynamic_cast<const CudaError*>(&error)) {
    message["class"] = "cuda";
    message["result"] = cuda_error->result();
    message["call"] = cuda_error->call();
  } else if (const auto* known = dynamic_cast<const Error*>(&error)) {
    message["class"] = "known";
    message["exit_code"] = static_cast<int>(known->exit_code());
  }
  return message;
}

void rethrow(const json& message) {
  if (!message.contains("error")) return;
  const std::string text = message.at("error");
  const std::string kind = message.at("class");
  if (kind == "spec") throw SpecError(message.at("file"), message.at("line"), message.at("column"), text);
  if (kind == "cuda") throw CudaError(message.at("result"), message.at("call"), text);
  const auto code = static_cast<ExitCode>(message.value("exit_code", static_cast<int>(ExitCode::Internal)));
  if (code == ExitCode::Environment) throw EnvironmentError(text);
  if (code == ExitCode::Usage) throw UsageError(text);
  throw Error(text, code);
}

}  // namespace attune::measure::messages
