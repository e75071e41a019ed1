#include "tuner/session/source/live_run_off.hpp"

#include <chrono>

namespace attune::session {

std::optional<RunOffSamples> LiveRunOff::run(const std::vector<std::string>& finalists, const Race::Options& options, std::uint64_t seed) {
  samples_ = {};
  samples_.rounds_per_epoch = options.rounds;
  std::vector<measure::VisitRequest> visits;
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    if (options.until && visits.size() > 1 && Clock::now() > *options.until) break;
    // One of an earlier run is unknown to this worker, and verifying again costs little: but for slow kernels, whose time is bounded.
    const bool again = !options.until || !gpu_.has_verified(finalists[i]);
    if (auto visit = verify(finalists[i], *compile_(i), again)) visits.push_back(*std::move(visit));
  }
  if (!samples_.failed.empty() || visits.empty()) return std::move(samples_);  // the caller asks again without those that failed
  Race race(visits.size(), options);
  Clock::duration epoch_took{0};
  for (auto running = race.running(); !running.empty(); running = race.running()) {
    std::vector<measure::VisitRequest> now;
    for (const std::size_t i : running) now.push_back(visits[i]);
    const auto begin = Clock::now();
    if (options.until && begin + epoch_took > *options.until) break;
    const auto rounds_us = run_epoch(std::move(now), options.rounds, seed + static_cast<std::uint64_t>(race.epochs()));
    epoch_took = Clock::now() - begin;
    if (!samples_.failed.empty()) return std::move(samples_);
    if (rounds_us.empty()) return std::nullopt;  // they do not work together
    race.add_epoch(rounds_us);
  }
  if (race.epochs() == 0) return std::nullopt;  // no time
  keep(race, visits);
  return std::move(samples_);
}

std::optional<measure::VisitRequest> LiveRunOff::verify(const std::string& configuration, const compile::CompileResult& compiled,
                                                        bool again) {
  if (compiled.status != compile::CompileStatus::Ok) {
    samples_.failed.push_back({configuration, measure::Outcome::CompileFailed, compiled.log});
    return std::nullopt;
  }
  measure::VisitRequest visit;
  visit.configuration = configuration;
  visit.cubin_key = compiled.key;
  visit.cubin = compiled.cubin;
  if (!again) return visit;
  visit.verify = true;
  visit.max_samples = 1;
  hand_over_({configuration});
  gpu_.submit(visit);
  std::optional<measure::VisitReply> reply;
  while (!reply) reply = gpu_.collect(std::chrono::milliseconds(100));
  visit.verify = false;
  if (reply->outcome == measure::Outcome::Ok) return visit;
  samples_.failed.push_back({configuration, reply->outcome, reply->detail});
  return std::nullopt;
}

std::vector<std::vector<double>> LiveRunOff::run_epoch(std::vector<measure::VisitRequest> running, int rounds, std::uint64_t seed) {
  std::vector<std::string> names;
  for (const auto& visit : running) names.push_back(visit.configuration);
  hand_over_(names);
  auto reply = gpu_.run_off({running, rounds, seed});
  if (reply.outcome == measure::Outcome::Ok) return std::move(reply.rounds_us);
  // A joint run-off that failed does not say whose fault it was: each finalist runs off alone, and those that fail go.
  for (auto& visit : running) {
    hand_over_({visit.configuration});
    const auto alone = gpu_.run_off({{visit}, rounds, seed});
    if (alone.outcome != measure::Outcome::Ok) samples_.failed.push_back({visit.configuration, alone.outcome, alone.detail});
  }
  if (!samples_.failed.empty()) return {};
  hand_over_(names);
  reply = gpu_.run_off({running, rounds, seed});
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
