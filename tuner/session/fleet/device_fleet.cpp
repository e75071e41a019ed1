#include "tuner/session/fleet/device_fleet.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/measure/messages.hpp"
#include "tuner/session/fleet/fleet_messages.hpp"
#include "tuner/session/fleet/work_estimate.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr auto kStartTimeout = 3 * base::WorkerProcess::kStartLimit;  // a compile worker, a GPU worker, and attune's kernels
constexpr std::chrono::seconds kCeilingTimeout{120};
constexpr std::chrono::seconds kQuitTimeout{5};

/// The error that a message tells, with its exit code.
Error error_from(const json& message) {
  try {
    measure::messages::rethrow(message);
  } catch (const Error& error) {
    return Error(error.what(), error.exit_code());
  }
  return Error("failed without saying why");
}

}  // namespace

DeviceFleet::DeviceFleet(const spec::KernelTemplate& kernel, const TuneRequest& request, const Options& options)
    : kernel_(kernel), request_(request), options_(options) {
  slots_.resize(options_.devices.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].settings = options_.devices[i];
    start(slots_[i]);  // all at once: each takes seconds
  }
  std::vector<std::string> keys;
  for (Slot& slot : slots_) {
    await_ready(slot);
    keys.push_back(fmt::format("{}@{}", slot.device.hard_key(), slot.device.memory_clock_khz));  // whose results are each other's
  }
  std::vector<double> work;
  for (const auto& problem : request_.problems) work.push_back(estimated_work(kernel_, problem, slots_.front().device));
  fleet_.emplace(keys, work);
  results_.assign(fleet_->group_count(), std::vector<std::optional<ProblemResult>>(work.size()));
}

DeviceFleet::~DeviceFleet() {
  // In an orderly way where there is time: each closes its database connection and ends its own workers.
  try {
    for (Slot& slot : slots_)
      if (slot.process.running()) (void)slot.process.tell({{"type", "quit"}});
    const auto until = Clock::now() + kQuitTimeout;
    for (Slot& slot : slots_)
      while (slot.process.running() && Clock::now() < until) (void)slot.process.hear(milliseconds(100));
  } catch (const std::exception&) {  // a destructor must not throw
  }
}

std::vector<spec::DeviceInfo> DeviceFleet::devices() const {
  std::vector<spec::DeviceInfo> devices;
  for (const Slot& slot : slots_) devices.push_back(slot.device);
  return devices;
}

int DeviceFleet::count_devices(const std::filesystem::path& worker) {
  base::WorkerProcess process(worker, {"worker-tune"});
  const base::Heard answer = process.ask({{"type", "device_count"}}, kStartTimeout);
  if (answer.died()) throw EnvironmentError(fmt::format("failed counting devices: the device process {}", answer.end));
  if (!answer.message_came())
    throw EnvironmentError(fmt::format("failed counting devices: no answer within {} s; is a device hung?", kStartTimeout.count()));
  measure::messages::rethrow(answer.message);
  return answer.message.at("count");
}

std::string DeviceFleet::name(const Slot& slot) const {
  return slot.device.name.empty() ? fmt::format("device {}", slot.settings.ordinal)
                                  : fmt::format("device {} ({})", slot.settings.ordinal, slot.device.name);
}

void DeviceFleet::start(Slot& slot) {
  slot.process = base::WorkerProcess(options_.worker, {"worker-tune"}, {.cpus = slot.settings.compile_cpus});
  slot.state = State::Starting;
  slot.starting_until = Clock::now() + kStartTimeout;
  // Whoever hears from it next finds out when it is gone, and how it ended.
  (void)slot.process.tell(messages::hello(kernel_, request_, slot.settings, options_.database));
}

void DeviceFleet::await_ready(Slot& slot) {
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(slot.starting_until - Clock::now());
    const base::Heard heard = slot.process.hear(std::max(left, milliseconds(0)));
    if (heard.died()) throw EnvironmentError(fmt::format("failed starting {}: its device process {}", name(slot), heard.end));
    if (!heard.message_came())
      throw EnvironmentError(fmt::format("failed starting {}: no answer within {} s; is it hung?", name(slot), kStartTimeout.count()));
    const std::string event = heard.message.at("event");
    if (event == "error") {
      const Error error = error_from(heard.message);
      throw Error(fmt::format("device {}: {}", slot.settings.ordinal, error.what()), error.exit_code());
    }
    if (event != "ready") continue;  // a notice on opening the database: the parent's own connection has told it
    slot.device = spec::DeviceInfo::from_json(heard.message.at("device"));
    slot.state = State::Idle;
    return;
  }
}

RunResult DeviceFleet::run(const db::Database& database, const Events& events) {
  database_ = &database;
  events_ = events;
  begin_ = Clock::now();
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].observer = events_.observer(i);
  while (stopping_ ? any_busy() : !fleet_->done()) {
    if (!stopping_ && events_.interrupted()) stop_all();
    for (std::size_t i = 0; !stopping_ && i < slots_.size(); ++i) feed(i);
    wait();
    for (std::size_t i = 0; i < slots_.size(); ++i) read(i);
    tell_failures();
  }
  RunResult result = collect();
  if (!stopping_) measure_ceilings(result);
  result.wall_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  return result;
}

/// Gives the device its next problem, or starts its process when that is gone.
void DeviceFleet::feed(std::size_t device) {
  Slot& slot = slots_[device];
  if (!fleet_->has_work(device)) return;
  if (slot.state == State::Down) {
    try {
      start(slot);
    } catch (const EnvironmentError& error) {
      retire(device, error.what());
    }
    return;
  }
  if (slot.state != State::Idle) return;
  const auto seconds = seconds_for(device);
  slot.problem = *fleet_->next(device);
  slot.state = State::Busy;
  const auto& problem = request_.problems[slot.problem];
  slot.observer.started(problem);
  const json question = {{"type", "tune"}, {"problem", spec::to_text(problem)}, {"seconds_left", seconds ? json(*seconds) : json(nullptr)}};
  if (!slot.process.tell(question)) on_death(device, slot.process.end());
}

/// The device's share of a time budget for its next problem.
std::optional<double> DeviceFleet::seconds_for(std::size_t device) const {
  if (!request_.budget.seconds) return std::nullopt;
  const double left = *request_.budget.seconds - std::chrono::duration<double>(Clock::now() - begin_).count();
  return std::max(0.0, left) / static_cast<double>(fleet_->turns_left(device));
}

void DeviceFleet::wait() {
  std::vector<pollfd> descriptors;
  for (Slot& slot : slots_) {
    if (slot.process.running()) descriptors.push_back({slot.process.channel().fd(), POLLIN, 0});
  }
  ::poll(descriptors.data(), descriptors.size(), 200);  // EINTR (Ctrl-C): the caller looks again
}

void DeviceFleet::read(std::size_t device) {
  Slot& slot = slots_[device];
  while (slot.process.running()) {
    const base::Heard heard = slot.process.hear(milliseconds(0));
    if (heard.died()) return on_death(device, heard.end);
    if (!heard.message_came()) break;
    handle(device, heard.message);
  }
  if (slot.state != State::Starting || Clock::now() < slot.starting_until) return;
  slot.process.kill_and_reap();
  retire(device, fmt::format("its device process did not answer within {} s", kStartTimeout.count()));
}

void DeviceFleet::handle(std::size_t device, const json& message) {
  Slot& slot = slots_[device];
  const std::string event = message.at("event");
  if (event == "progress") {
    slot.observer.progress(messages::progress_from(message, request_.problems[slot.problem]));
  } else if (event == "record") {
    auto measurement = measure::measurement_from_json(message.at("measurement"));
    measurement.detail = base::bytes_of_json(message.at("detail"));
    slot.observer.recorded(measurement);
  } else if (event == "notice") {
    const std::string text = message.at("text");
    if (told_.emplace(fleet_->group_of(device), text).second) slot.observer.notice(text);  // equal devices find the same of their machine
  } else if (event == "finished" || event == "interrupted") {
    slot.state = State::Idle;
    keep(device, messages::result_from(message), event == "finished");
    fleet_->finished(device);
  } else if (event == "ready") {
    slot.state = State::Idle;
  } else if (event == "read_ceiling") {
    slot.read_ceiling = message.at("bytes_per_s");
    slot.ceiling_told = true;
  } else if (event == "error") {
    handle_error(device, message);
  } else {
    throw Error("failed reading a message of a device process: it knows no event \"" + event + "\"");
  }
}

void DeviceFleet::keep(std::size_t device, ProblemResult result, bool complete) {
  Slot& slot = slots_[device];
  const db::Query query{kernel_.content_hash, std::nullopt, spec::to_text(result.problem), slot.device.hard_key(),
                        measure::to_text(request_.policy)};
  if (complete) {
    for (auto& best : database_->best(query)) result.best = std::move(best);
    slot.observer.finished(result);
  }
  results_[fleet_->group_of(device)][slot.problem] = std::move(result);
}

/// An error would come again: the problem is given up, and the device when it is its fault or the process was only starting.
void DeviceFleet::handle_error(std::size_t device, const json& message) {
  Slot& slot = slots_[device];
  const Error error = error_from(message);
  slot.process.kill_and_reap();  // it leaves by itself after an error
  const State state = std::exchange(slot.state, State::Down);
  if (state == State::Starting) return retire(device, error.what());
  const bool stopped = stopping_ && error.exit_code() == ExitCode::Interrupted;  // it waited for the database: nothing failed
  if (state != State::Busy || stopped) return events_.notice(fmt::format("{}: {}", name(slot), error.what()));
  events_.lost(device);
  fleet_->failed(device, error.what(), error.exit_code());
  if (message.value("of_device", false)) retire(device, error.what());
}

void DeviceFleet::on_death(std::size_t device, const std::string& how) {
  Slot& slot = slots_[device];
  const State state = std::exchange(slot.state, State::Down);
  if (state == State::Starting) return retire(device, fmt::format("its device process {}", how));
  if (state != State::Busy) return;
  events_.lost(device);
  const std::string problem = spec::to_text(request_.problems[slot.problem]);
  const std::size_t failures = fleet_->failures().size();
  fleet_->lost(device, fmt::format("its device process {}; so it did when the problem was tried before", how));
  if (fleet_->failures().size() == failures && !stopping_) {
    events_.notice(fmt::format("the process of {} {} while tuning {}; the problem is tried once more", name(slot), how, problem));
  }
}

void DeviceFleet::retire(std::size_t device, const std::string& why) {
  Slot& slot = slots_[device];
  slot.state = State::Down;
  events_.notice(fmt::format("{} cannot be used any more: {}", name(slot), why));
  fleet_->retire(device, fmt::format("no device is left: {}", why));
}

void DeviceFleet::tell_failures() {
  while (given_up_.size() < fleet_->failures().size()) {
    const auto& failure = fleet_->failures()[given_up_.size()];
    const auto of_group = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) {
      return fleet_->group_of(static_cast<std::size_t>(&slot - slots_.data())) == failure.group;
    });
    given_up_.push_back({request_.problems[failure.problem], of_group->device.name, failure.why, failure.exit_code});
    events_.given_up(given_up_.back());
  }
}

/// Every device ends what it has on its GPU, stores it and answers.
void DeviceFleet::stop_all() {
  stopping_ = true;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].state != State::Busy) continue;
    if (!slots_[i].process.tell({{"type", "stop"}})) on_death(i, slots_[i].process.end());
  }
}

bool DeviceFleet::any_busy() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.state == State::Busy; });
}

RunResult DeviceFleet::collect() const {
  RunResult result;
  result.interrupted = stopping_;
  result.given_up = given_up_;
  result.groups.resize(fleet_->group_count());
  for (std::size_t i = slots_.size(); i-- > 0;) {
    auto& group = result.groups[fleet_->group_of(i)];
    group.device = slots_[i].device;
    group.ordinals.insert(group.ordinals.begin(), slots_[i].settings.ordinal);
  }
  for (std::size_t g = 0; g < results_.size(); ++g) {
    for (const auto& problem : results_[g]) {
      if (problem) result.groups[g].problems.push_back(*problem);
    }
  }
  return result;
}

/// Asks one living device of each group that did something; the devices of a group are equal.
void DeviceFleet::measure_ceilings(RunResult& result) {
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    const auto& problems = result.groups[g].problems;
    if (std::all_of(problems.begin(), problems.end(), [](const auto& problem) { return problem.nothing_left; })) continue;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      if (fleet_->group_of(i) != g || slot.state != State::Idle) continue;
      if (!slot.process.tell({{"type", "read_ceiling"}})) {
        on_death(i, slot.process.end());
        continue;
      }
      const auto until = Clock::now() + kCeilingTimeout;
      while (!slot.ceiling_told && slot.state == State::Idle && Clock::now() < until) {
        wait();
        read(i);
      }
      result.groups[g].read_ceiling_bytes_per_s = slot.read_ceiling;
      if (slot.ceiling_told) break;
    }
  }
}

}  // namespace attune::session
