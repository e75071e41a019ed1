#include "tuner/session/fleet/device_process.hpp"

#include <signal.h>

#include <chrono>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/process.hpp"
#include "tuner/measure/messages.hpp"
#include "tuner/session/fleet/fleet_messages.hpp"
#include "tuner/session/fleet/stop_patience.hpp"

namespace attune::session {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kProgressEvery{100};

/// The device's side of the conversation; what it throws is told to the parent.
class DeviceProcess {
 public:
  DeviceProcess(base::Channel& channel, const DeviceHooks& hooks, const json& message)
      : channel_(channel),
        hello_(messages::hello_from(message)),
        backend_(hooks.open(hello_.settings, hello_.kernel, hello_.request.policy)),
        database_(db::Database::open(hello_.database, db::OpenMode::ReadWrite, StopPatience([this] { return stop_asked(); }))) {
    for (const auto& notice : database_.notices()) channel_.send({{"event", "notice"}, {"text", notice}});
    channel_.send({{"event", "ready"}, {"device", backend_->device().to_json()}});
  }

  void tune(const json& message) {
    stop_ = false;
    TuneRequest request = hello_.request;
    request.problems = {spec::problem_from_text(message.at("problem"))};
    if (!message.at("seconds_left").is_null()) request.seconds_left = message.at("seconds_left").get<double>();
    const auto result = session::tune(hello_.kernel, request, *backend_, database_, observer());
    channel_.send(messages::result(result.interrupted ? "interrupted" : "finished", result.problems.front()));
  }

  /// Whether the parent has no more to ask.
  [[nodiscard]] bool leaving() const { return quit_; }

  void read_ceiling() { channel_.send({{"event", "read_ceiling"}, {"bytes_per_s", backend_->read_ceiling_bytes_per_s()}}); }

 private:
  [[nodiscard]] Observer observer() {
    Observer observer;
    observer.progress = [this](const Progress& progress) {
      const bool last = progress.done >= progress.total;
      if (Clock::now() - told_progress_ < kProgressEvery && !last) return;
      told_progress_ = Clock::now();
      channel_.send(messages::progress(progress));
    };
    observer.recorded = [this](const measure::Measurement& measurement) {
      json described = measure::to_json(measurement);
      described["detail"] = "";  // apart, as bytes: a compiler log may be cut inside a character
      channel_.send({{"event", "record"}, {"measurement", std::move(described)}, {"detail", base::json_of_bytes(measurement.detail)}});
    };
    observer.notice = [this](const std::string& text) { channel_.send({{"event", "notice"}, {"text", text}}); };
    observer.interrupted = [this] { return stop_asked(); };
    return observer;
  }

  bool stop_asked() {
    while (const auto message = channel_.receive(milliseconds(0))) {
      quit_ = quit_ || message->at("type") == "quit";
      stop_ = stop_ || quit_ || message->at("type") == "stop";
    }
    return stop_;
  }

  base::Channel& channel_;
  bool stop_ = false, quit_ = false;
  messages::Hello hello_;
  std::unique_ptr<Backend> backend_;
  db::Database database_;
  Clock::time_point told_progress_{};
};

/// Answers one message; false after the last.
bool answer(const json& message, base::Channel& channel, const DeviceHooks& hooks, std::unique_ptr<DeviceProcess>& process) {
  const std::string type = message.at("type");
  if (type == "quit") return false;
  if (type == "stop") return true;  // it came as the problem was done
  if (type == "device_count") {
    channel.send({{"event", "device_count"}, {"count", hooks.device_count()}});
  } else if (type == "hello") {
    process = std::make_unique<DeviceProcess>(channel, hooks, message);
  } else if (process && type == "tune") {
    process->tune(message);
    return !process->leaving();
  } else if (process && type == "read_ceiling") {
    process->read_ceiling();
  } else {
    throw Error("failed answering a message: a device process that was " + std::string(process ? "" : "not ") + "set up knows no " + type);
  }
  return true;
}

}  // namespace

int device_process_main(const DeviceHooks& hooks) {
  base::Channel channel = base::enter_worker();
  // A service manager sends SIGTERM to every process of a service: the parent stops us in an orderly way.
  ::signal(SIGTERM, SIG_IGN);
  try {
    std::unique_ptr<DeviceProcess> process;
    for (;;) {
      const auto message = channel.receive(milliseconds(-1));
      if (!message) continue;
      try {
        if (!answer(*message, channel, hooks, process)) return static_cast<int>(ExitCode::Ok);
      } catch (const base::ChannelClosed&) {
        throw;
      } catch (const std::exception& error) {
        json failure = measure::messages::failure(error);
        failure["event"] = "error";
        failure["of_device"] = dynamic_cast<const UnusableDevice*>(&error) != nullptr;
        channel.send(failure);
        // Whatever the error left behind goes with this process; the parent starts a fresh one for the next problem.
        const auto* known = dynamic_cast<const Error*>(&error);
        return static_cast<int>(known != nullptr ? known->exit_code() : ExitCode::Internal);
      }
    }
  } catch (const base::ChannelClosed&) {
    return static_cast<int>(ExitCode::Ok);  // the parent is done with us
  }
}

}  // namespace attune::session
