#include "tuner/measure/worker_start.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "tuner/measure/messages.hpp"

namespace attune::measure {
namespace {

/// Its answer: the device, or why there is none.
nlohmann::json greet(base::WorkerProcess& worker, const std::filesystem::path& executable, const nlohmann::json& hello,
                     const base::WorkerProcess::Waits& waits) {
  base::Heard answer = worker.ask(hello, base::WorkerProcess::kStartLimit, waits);
  if (answer.died())
    throw WorkerLost(
        fmt::format("failed starting the GPU worker {}: it {}; check that this is the attune executable", executable.string(), answer.end));
  if (!answer.message_came()) {
    worker.kill_and_reap();
    throw EnvironmentError(fmt::format("failed starting the GPU worker: no answer within {} s; is the device hung?",
                                       base::WorkerProcess::kStartLimit.count()));
  }
  return std::move(answer.message);
}

}  // namespace

StartedWorker start_gpu_worker(const std::filesystem::path& executable, int ordinal, const std::vector<int>& cpus,
                               const base::WorkerProcess::Waits& waits) {
  nlohmann::json answer;
  for (const auto shown : {messages::Shown::Fewest, messages::Shown::All}) {
    base::WorkerProcess worker(executable, {"worker-gpu"}, {.cpus = cpus});
    answer = greet(worker, executable, messages::hello(ordinal, shown), waits);
    if (!answer.contains("error")) return {std::move(worker), spec::DeviceInfo::from_json(answer.at("device"))};
  }
  messages::rethrow(answer);  // it throws: among all it is known how many there are
  return {};
}

}  // namespace attune::measure
