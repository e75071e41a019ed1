#include "tuner/session/source/live_run_off.hpp"

#include <algorithm>
#include <chrono>

namespace attune::session {

std::optional<RunOffSamples> LiveRunOff::run(const std::vector<std::string>& finalists, const Race::Options& options, std::uint64_t seed) {
  samples_ = {};
  samples_.rounds_per_epoch = options.rounds;
  expected_epoch_s_ = 0;
  std::vector<measure::VisitRequest> visits;
  until_stopped(options, [&] { visits = options.until ? admit_in_time(finalists, options) : admit(finalists, options); });
  if (!samples_.failed.empty()) return std::move(samples_);  // the caller asks again without those that failed
  samples_.lacked_time = visits.empty();
  if (!samples_.lacked_time && !race(visits, options, seed)) return std::nullopt;
  return std::move(samples_);
}

template <class Work>
void LiveRunOff::until_stopped(const Race::Options& options, const Work& work) {
  try {
    work();
  } catch (const Stopped&) {
    samples_.stopped = true;
  } catch (const PreparingStopped&) {  // of a fresh worker
    samples_.stopped = !options.goes_on();
  }
}

bool LiveRunOff::race(const std::vector<measure::VisitRequest>& visits, const Race::Options& options, std::uint64_t seed) {
  Race race(visits.size(), options);
  bool works = true;
  until_stopped(options, [&] { works = run_epochs(race, visits, options, seed); });
  if (!works || !samples_.failed.empty()) return works;
  samples_.lacked_time = race.epochs() == 0;
  if (!samples_.lacked_time) keep(race, visits);
  return true;
}

bool LiveRunOff::run_epochs(Race& race, const std::vector<measure::VisitRequest>& visits, const Race::Options& options,
                            std::uint64_t seed) {
  std::chrono::duration<double> epoch_takes(expected_epoch_s_);
  for (auto running = race.running(); !running.empty(); running = race.running()) {
    require_going_on(options);
    std::vector<measure::VisitRequest> now;
    for (const std::size_t i : running) now.push_back(visits[i]);
    gpu_.ensure_running();  // no part of an epoch's time
    const auto begin = Clock::now();
    if (options.until && begin + epoch_takes > *options.until) break;
    const auto rounds_us = run_epoch(std::move(now), options, seed + static_cast<std::uint64_t>(race.epochs()));
    epoch_takes = Clock::now() - begin;
    if (!samples_.failed.empty()) break;
    if (rounds_us.empty()) return false;
    race.add_epoch(rounds_us);
  }
  return true;
}

/// One of an earlier run is unknown to this worker, and verifying all again costs little where time is no matter.
std::vector<measure::VisitRequest> LiveRunOff::admit(const std::vector<std::string>& finalists, const Race::Options& options) {
  std::vector<measure::VisitRequest> visits;
  for (std::size_t i = 0; i < finalists.size(); ++i)
    if (auto visit = ready(finalists[i], i, true, options)) visits.push_back(*std::move(visit));
  return visits;
}

/// Who was verified by a worker of this run is not verified again, and nobody who would leave no time for an epoch of all.
std::vector<measure::VisitRequest> LiveRunOff::admit_in_time(const std::vector<std::string>& finalists, const Race::Options& options) {
  std::vector<measure::VisitRequest> visits;
  const auto call_us = [&](std::size_t i) { return i < options.known_us.size() ? options.known_us[i] : 0; };
  const auto verifying_s = [&](std::size_t i) { return gpu_.has_verified(finalists[i]) ? 0 : visit_.expected_s(call_us(i)); };
  const auto epoch_s = [&](std::size_t i) { return expected_epoch_s(call_us(i), options.rounds); };
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    double needed_s = expected_epoch_s_ + verifying_s(i) + epoch_s(i);
    if (visits.empty() && i + 1 < finalists.size()) needed_s += verifying_s(i + 1) + epoch_s(i + 1);  // nobody runs off alone
    if (Clock::now() + std::chrono::duration<double>(needed_s) > *options.until) continue;
    auto visit = ready(finalists[i], i, !gpu_.has_verified(finalists[i]), options);
    if (!visit) continue;
    expected_epoch_s_ += epoch_s(i);
    visits.push_back(*std::move(visit));
  }
  if (visits.size() < std::min(std::size_t{2}, finalists.size())) visits.clear();
  return visits;
}

std::optional<measure::VisitRequest> LiveRunOff::ready(const std::string& configuration, std::size_t place, bool again,
                                                       const Race::Options& options) {
  require_going_on(options);
  const auto compiled = compile_(place);
  require_going_on(options);
  if (!compiled) return std::nullopt;
  if (compiled->status != compile::CompileStatus::Ok) {
    samples_.failed.push_back({configuration, measure::Outcome::CompileFailed, compiled->log});
    return std::nullopt;
  }
  measure::VisitRequest visit;
  visit.configuration = configuration;
  visit.cubin_key = compiled->key;
  visit.cubin = compiled->cubin;
  if (again && !verify(visit, options)) return std::nullopt;
  return visit;
}

/// One that takes far longer than was expected is ended with the worker that has it: the answer is as good as it was.
bool LiveRunOff::verify(measure::VisitRequest visit, const Race::Options& options) {
  visit.verify = true;
  visit.max_samples = 1;
  hand_over_({visit.configuration});
  gpu_.submit(visit);
  std::optional<measure::VisitReply> reply;
  while (!reply) {
    reply = gpu_.collect(std::chrono::milliseconds(100));
    const bool late = options.until && Clock::now() > *options.until;
    if (reply || (!late && options.goes_on())) continue;
    gpu_.abandon(std::chrono::milliseconds(0));
    require_going_on(options);
    return false;
  }
  if (reply->outcome != measure::Outcome::Ok) {
    samples_.failed.push_back({visit.configuration, reply->outcome, reply->detail});
    return false;
  }
  if (!reply->samples_us.empty()) visit_ = {reply->worked_s * 1e6 / reply->samples_us.front(), reply->worked_s};  // others are like it
  return true;
}

std::vector<std::vector<double>> LiveRunOff::run_epoch(std::vector<measure::VisitRequest> running, const Race::Options& options,
                                                       std::uint64_t seed) {
  const auto waits = [&] { require_going_on(options); };
  std::vector<std::string> names;
  for (const auto& visit : running) names.push_back(visit.configuration);
  hand_over_(names);
  auto reply = gpu_.run_off({running, options.rounds, seed}, waits);
  if (reply.outcome == measure::Outcome::Ok) return std::move(reply.rounds_us);
  // A joint run-off that failed does not say whose fault it was: each finalist runs off alone, and those that fail go.
  for (auto& visit : running) {
    hand_over_({visit.configuration});
    const auto alone = gpu_.run_off({{visit}, options.rounds, seed}, waits);
    if (alone.outcome != measure::Outcome::Ok) samples_.failed.push_back({visit.configuration, alone.outcome, alone.detail});
  }
  if (!samples_.failed.empty()) return {};
  hand_over_(names);
  reply = gpu_.run_off({running, options.rounds, seed}, waits);
  return reply.outcome == measure::Outcome::Ok ? std::move(reply.rounds_us) : std::vector<std::vector<double>>{};
}

void LiveRunOff::keep(const Race& race, const std::vector<measure::VisitRequest>& visits) {
  const std::size_t leader = race.leader();
  std::vector<std::size_t> last;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (race.still_runs(i)) {
      last.push_back(i);
      samples_.configurations.push_back(visits[i].configuration);
    } else {
      const auto ratios = race.ratios(i, leader);
      samples_.left.push_back({visits[i].configuration, measure::compare_paired(ratios, Race::kConfidence), ratios.size()});
    }
  }
  for (std::size_t epoch = 0; epoch < static_cast<std::size_t>(race.epochs()); ++epoch) {
    for (std::size_t round = 0; round < static_cast<std::size_t>(samples_.rounds_per_epoch); ++round) {
      auto& picked = samples_.rounds_us.emplace_back();
      for (const std::size_t i : last) picked.push_back(race.rounds_us(i)[epoch][round]);
    }
  }
}

}  // namespace attune::session
