// Answers like a GPU worker, without a GPU. What a configuration is called decides what happens to it.
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "tuner/base/process.hpp"
#include "tuner/measure/messages.hpp"
#include "tuner/spec/device_info.hpp"

namespace {

using namespace attune;
using nlohmann::json;

[[noreturn]] void hang() {
  while (true) ::pause();
}

/// True at the first call with this file in the life of a test, false later: across worker processes.
bool first_time(const std::string& marker) {
  if (std::ifstream(marker).good()) return false;
  std::ofstream(marker) << "seen";
  return true;
}

/// `held`: keys of the cubins that were sent and not dropped.
json visit(const json& request, std::set<std::string>& held, bool& fatal) {
  const auto wanted = measure::messages::visit_from(request);
  const std::string& name = wanted.configuration;
  if (!wanted.cubin.empty()) held.insert(wanted.cubin_key);
  if (!held.contains(wanted.cubin_key)) return {{"missing_cubin", wanted.cubin_key}, {"dropped", json::array()}};
  if (name == "dies" || name == "dies too") ::_exit(9);
  if (name == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(1300));  // of a deadline of 2 s
  if (name == "busy") std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (name == "hangs") hang();
  if (name.rfind("dies-once:", 0) == 0 && first_time(name.substr(10))) ::_exit(9);
  if (name == "is ruined by the reference") {
    fatal = true;
    return {{"error", "failed running the code of the reference"},
            {"class", "known"},
            {"exit_code", 3},
            {"fatal", true},
            {"of_reference", true}};
  }
  if (name == "ruins") {
    fatal = true;
    return {{"error", "failed waiting for the device: CUDA_ERROR_ILLEGAL_ADDRESS"},
            {"class", "cuda"},
            {"result", 700},
            {"call", "c"},
            {"fatal", true}};
  }
  measure::VisitReply reply;
  reply.verified = wanted.verify;
  reply.calls_per_sample = 10;
  reply.worked_s = 0.25;
  reply.samples_us = {5.0, 4.0, 6.0};
  reply.detail = wanted.cubin.empty() ? "no cubin came along" : "cubin of " + std::to_string(wanted.cubin.size());
  if (name == "is let go") {
    reply.verified = false;
    reply.screened_out = true;
    reply.calls_per_sample = 1;
    reply.samples_us = {900000};
  }
  if (name == "wrong") reply.outcome = measure::Outcome::WrongResult;
  json message = measure::messages::reply(reply);
  message["dropped"] = json::array();
  if (name == "drops") {
    held.erase(wanted.cubin_key);
    message["dropped"].push_back(wanted.cubin_key);
  }
  return message;
}

json run_off(const json& request, base::Channel& channel) {
  json row = json::array();
  for (const auto& item : request.at("configurations")) {
    if (item.at("configuration") == "dies") ::_exit(9);
    if (item.at("configuration") == "hangs") hang();
    row.push_back(2.0);
  }
  json rounds = json::array();
  for (int round = 0; round < request.at("rounds").get<int>(); ++round) {
    rounds.push_back(row);
    channel.send({{"progress", round + 1}});
  }
  return {{"outcome", "ok"}, {"detail", ""}, {"rounds_us", rounds}};
}

json prepare(const json& request, bool& fatal) {
  const std::string problem = request.at("problem");
  if (problem.find("13") != std::string::npos) return {{"error", "needs 99 bytes, 7 are free"}, {"class", "known"}, {"exit_code", 4}};
  if (problem.find("14") != std::string::npos) ::_exit(9);
  if (problem.find("16") != std::string::npos) hang();
  if (problem.find("15") != std::string::npos) {
    fatal = true;
    return {{"error", "illegal address"}, {"class", "cuda"}, {"result", 700}, {"call", "c"}, {"fatal", true}};
  }
  return {{"prepared", true}};
}

}  // namespace

int main() {
  base::Channel channel = base::enter_worker();
  std::set<std::string> held;
  try {
    while (true) {
      const auto request = channel.receive(std::chrono::milliseconds(-1));
      if (!request) continue;
      const std::string type = request->at("type");
      bool fatal = false;
      if (type == "hello") {
        if (request->at("device") == 7) {
          channel.send({{"error", "failed selecting device 7"}, {"class", "known"}, {"exit_code", 2}});
          return 2;
        }
        if (request->at("device") == 8) return 5;
        if (request->at("device") == 9 && request->at("alone")) {
          channel.send({{"error", "failed finding a CUDA device"}, {"class", "known"}, {"exit_code", 4}});
          return 4;
        }
        channel.send({{"device", spec::DeviceInfo::of_architecture("sm_90").to_json()}});
      } else if (type == "prepare") {
        channel.send(prepare(*request, fatal));
      } else if (type == "visit") {
        channel.send(visit(*request, held, fatal));
      } else if (type == "run_off") {
        channel.send(run_off(*request, channel));
      } else {
        channel.send({{"bytes_per_s", 4.5e12}});
      }
      if (fatal) ::_exit(4);
    }
  } catch (const base::ChannelClosed&) {
    return 0;
  }
}
