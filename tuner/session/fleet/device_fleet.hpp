#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/database.hpp"
#include "tuner/base/process.hpp"
#include "tuner/session/fleet/device_process.hpp"
#include "tuner/session/fleet/fleet.hpp"
#include "tuner/session/fleet/run_result.hpp"

namespace attune::session {

/// Tunes the problems of one command on several devices of this host: one device process each, equal devices sharing
/// the problems, devices that differ tuning all of them each (docs/decisions/0006-several-gpus.md). A device process
/// that dies costs what was in flight there: its problem is tried once more, then given up, while the others go on.
/// Requires: the thread that constructs one runs it and outlives it.
class DeviceFleet {
 public:
  struct Options {
    std::filesystem::path worker;    ///< the `attune` executable
    std::filesystem::path database;  ///< each device process opens it itself
    std::vector<DeviceSettings> devices;
  };
  /// Callbacks of `run`. A device is named by its place in Options::devices.
  struct Events {
    /// What one device's tuning tells; its `interrupted` is not asked.
    std::function<Observer(std::size_t device)> observer = [](std::size_t) { return Observer{}; };
    std::function<void(std::size_t device)> lost = [](std::size_t) {};  ///< its problem goes back to the queue, or is given up
    std::function<void(const GivenUp&)> given_up = [](const GivenUp&) {};
    std::function<void(const std::string&)> notice = [](const std::string&) {};
    std::function<bool()> interrupted = [] { return false; };
  };

  /// Starts the device processes and waits for all devices. Throws: EnvironmentError, SpecError, DatabaseError as Error:
  /// whatever a device process met, with the device's number; nothing runs any more then.
  DeviceFleet(const spec::KernelTemplate& kernel, const TuneRequest& request, const Options& options);
  ~DeviceFleet();
  DeviceFleet(const DeviceFleet&) = delete;
  DeviceFleet& operator=(const DeviceFleet&) = delete;

  /// In the order of Options::devices.
  [[nodiscard]] std::vector<spec::DeviceInfo> devices() const;
  /// Kinds of devices that differ: each tunes every problem.
  [[nodiscard]] std::size_t group_count() const { return fleet_->group_count(); }
  /// Tunes everything. `database` is a connection to the same file, for the best rows.
  [[nodiscard]] RunResult run(const db::Database& database, const Events& events);

  /// Devices of this machine, counted by a process of their own: this one never loads the driver.
  /// Throws: EnvironmentError (no driver, no worker executable).
  [[nodiscard]] static int count_devices(const std::filesystem::path& worker);

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { Down, Starting, Idle, Busy };
  struct Slot {
    DeviceSettings settings;
    base::WorkerProcess process;
    State state = State::Down;
    spec::DeviceInfo device;
    Clock::time_point starting_until;
    std::size_t problem = 0;  ///< while Busy
    Observer observer;
    double read_ceiling = 0;
    bool ceiling_told = false;
  };

  void start(Slot& slot);
  void await_ready(Slot& slot);
  void feed(std::size_t device);
  void read(std::size_t device);
  void handle(std::size_t device, const nlohmann::json& message);
  void handle_error(std::size_t device, const nlohmann::json& message);
  void on_death(std::size_t device, const std::string& how);
  void retire(std::size_t device, const std::string& why);
  void tell_failures();
  void stop_all();
  void wait();
  [[nodiscard]] bool any_busy() const;
  [[nodiscard]] std::optional<double> seconds_for(std::size_t device) const;
  [[nodiscard]] std::string name(const Slot& slot) const;
  void keep(std::size_t device, ProblemResult result, bool complete);
  void measure_ceilings(RunResult& result);
  [[nodiscard]] RunResult collect() const;

  const spec::KernelTemplate& kernel_;
  const TuneRequest& request_;
  Options options_;
  std::vector<Slot> slots_;
  std::set<std::pair<std::size_t, std::string>> told_;  ///< notices, by group
  std::optional<Fleet> fleet_;
  Events events_;
  const db::Database* database_ = nullptr;
  Clock::time_point begin_;
  std::vector<std::vector<std::optional<ProblemResult>>> results_;  ///< [group][problem]
  std::vector<GivenUp> given_up_;
  bool stopping_ = false;
};

}  // namespace attune::session
