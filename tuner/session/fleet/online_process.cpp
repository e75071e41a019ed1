#include "tuner/session/fleet/online_process.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "db/row_message.hpp"
#include "tuner/base/cpus.hpp"
#include "tuner/base/files.hpp"
#include "tuner/base/process.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/fleet/stop_patience.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/space/build_watch.hpp"
#include "tuner/spec/tuning_request.hpp"

namespace attune::session {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// An orderly end that the program asked for.
struct Stopped {};

DeviceSettings settings_of(const spec::TuningRequest& request) {
  DeviceSettings settings;
  settings.ordinal = request.device_ordinal;
  settings.compile_workers =
      request.compile_workers > 0 ? request.compile_workers : base::plan_cpus(base::available_cpus(), 1).compile_workers;
  // No processor is kept for timing: the program's threads are on all of them, whatever we do.
  if (const auto cache = base::cache_folder(); !cache.empty()) settings.cache = cache / "cubins";
  return settings;
}

class OnlineProcess {
 public:
  OnlineProcess(base::Channel& channel, const DeviceHooks& hooks, spec::TuningRequest request)
      : channel_(channel), request_(std::move(request)) {
    open_database();
    tune_.problems = {request_.problem};
    tune_.strategy = search::StrategyKind::Auto;
    tune_.budget.seconds = request_.budget_s;
    tune_.best_when_stopped = false;  // a program may end at any time: what is stored then would be no miss any more, and final
    tune_.policy = measure::policy_from_text(request_.policy);
    backend_ = hooks.open(settings_of(request_), request_.kernel, tune_.policy);
    const auto& device = backend_->device();
    if (device.uuid != request_.device_uuid) {
      throw EnvironmentError(
          fmt::format("failed tuning on device {}: the program means {}, here it is {} ({}); set CUDA_VISIBLE_DEVICES and "
                      "CUDA_DEVICE_ORDER before the program starts, not in it",
                      request_.device_ordinal, request_.device_uuid, device.uuid, device.name));
    }
  }

  void run() {
    std::optional<TuneResult> result;
    try {
      result = tune();
    } catch (const DatabaseError& error) {
      if (!persisted_) throw;
      backend_->on_hand_over = [](const std::vector<std::string>&) {};
      backend_->abandon();
      use_memory(error.what());
      result = tune();
    }
    if (result->interrupted) throw Stopped{};
    finish(result->problems.front());
  }

 private:
  void open_database() {
    try {
      if (request_.database.empty()) throw DatabaseError("", "no place for a database is known");
      database_.emplace(db::Database::open(request_.database, db::OpenMode::ReadWrite, StopPatience([this] { return stop_asked(); })));
      for (const auto& notice : database_->notices()) tell(notice);
    } catch (const DatabaseError& error) {
      use_memory(error.what());
    }
  }

  /// What is known of the problem comes along, so that nothing is measured twice.
  void use_memory(const std::string& why) {
    persisted_ = false;
    channel_.send({{"event", "unpersisted"}, {"why", why}});
    std::vector<db::RecordRow> known;
    try {
      if (!request_.database.empty()) {
        known = db::Database::open(request_.database, db::OpenMode::ReadOnly, StopPatience([this] { return stop_asked(); }))
                    .records({request_.kernel.content_hash, std::nullopt, spec::to_text(request_.problem), std::nullopt, request_.policy});
      }
    } catch (const DatabaseError&) {  // it cannot even be read: all is measured anew
      known.clear();
    }
    database_.emplace(db::Database::open_in_memory());
    db::Database::Batch batch(*database_);
    for (const auto& row : known) database_->put(row);
    batch.commit();
  }

  [[nodiscard]] TuneResult tune() {
    Observer observer;
    observer.notice = [this](const std::string& text) { tell(text); };
    observer.progress = [this](const Progress& progress) { tell_life(progress.done); };
    observer.building = [this](const spec::Problem&, const space::BuildProgress&) { tell_life(0); };
    observer.interrupted = [this] { return stop_asked(); };
    return session::tune(request_.kernel, tune_, *backend_, *database_, observer);
  }

  void finish(const ProblemResult& result) {
    json message = {{"event", "finished"}, {"measured", result.measured}, {"reused", result.reused}, {"tuned", nullptr}, {"why_none", ""}};
    if (!result.best) {
      message["why_none"] = why_none(result);
    } else if (!persisted_) {
      message["tuned"] = db::to_message(db::tuned_problem(*database_, *result.best));
    }
    channel_.send(message);
  }

  [[nodiscard]] static std::string why_none(const ProblemResult& result) {
    std::string text = fmt::format("none of {} configurations is valid", result.space_size);
    for (const auto& [outcome, count] : result.failed) {
      const auto example = result.failure_examples.find(outcome);
      text += fmt::format("; {} {}", count, outcome);
      if (example != result.failure_examples.end()) text += fmt::format(" ({})", example->second.detail.substr(0, 200));
    }
    return text;
  }

  void tell(const std::string& text) { channel_.send({{"event", "notice"}, {"text", text}}); }

  /// Often enough for the program to tell a slow machine from a process that hangs.
  void tell_life(std::uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (now < told_life_ + std::chrono::seconds(1)) return;
    told_life_ = now;
    channel_.send({{"event", "progress"}, {"done", done}});
  }

  bool stop_asked() {
    while (const auto message = channel_.receive(milliseconds(0))) stop_ = stop_ || message->at("type") == "stop";
    return stop_;
  }

  base::Channel& channel_;
  spec::TuningRequest request_;
  TuneRequest tune_;
  std::optional<db::Database> database_;
  bool persisted_ = true;
  bool stop_ = false;
  std::chrono::steady_clock::time_point told_life_{};
  std::unique_ptr<Backend> backend_;
};

/// The first message; nothing when the program went away before it sent one.
std::optional<json> first_message(base::Channel& channel) {
  for (;;) {
    if (auto message = channel.receive(milliseconds(-1))) return message;
  }
}

}  // namespace

int online_process_main(const DeviceHooks& hooks) {
  base::Channel channel = base::enter_worker();
  try {
    const auto message = first_message(channel);
    try {
      OnlineProcess(channel, hooks, spec::tuning_request_from(*message)).run();
      return static_cast<int>(ExitCode::Ok);
    } catch (const base::ChannelClosed&) {
      throw;
    } catch (const Stopped&) {
      channel.send({{"event", "interrupted"}});
      return static_cast<int>(ExitCode::Interrupted);
    } catch (const std::exception& error) {
      const auto* known = dynamic_cast<const Error*>(&error);
      const ExitCode code = known != nullptr ? known->exit_code() : ExitCode::Internal;
      if (code == ExitCode::Interrupted)
        channel.send({{"event", "interrupted"}});  // while it waited for the database
      else
        channel.send({{"event", "error"}, {"what", error.what()}});
      return static_cast<int>(code);
    }
  } catch (const base::ChannelClosed&) {
    return static_cast<int>(ExitCode::Ok);  // the program is done with us
  }
}

}  // namespace attune::session
