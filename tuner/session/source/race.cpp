#include "tuner/session/source/race.hpp"

#include <algorithm>
#include <cmath>

#include "attune/error.hpp"
#include "tuner/base/median.hpp"
#include "tuner/measure/measurement.hpp"

namespace attune::session {
namespace {

/// Who is that close stays: a tie is no loss.
constexpr double kDoubtful = 1.0025;

}  // namespace

std::vector<double> observations(const std::vector<double>& values, std::size_t group) {
  std::vector<double> medians;
  for (std::size_t first = 0; first < values.size(); first += group) {
    const std::size_t last = std::min(values.size(), first + group);
    medians.push_back(
        base::median({values.begin() + static_cast<std::ptrdiff_t>(first), values.begin() + static_cast<std::ptrdiff_t>(last)}));
  }
  return medians;
}

std::vector<double> relative_times(const std::vector<double>& round_us) {
  double logarithms = 0;
  for (const double us : round_us) logarithms += std::log(us);
  const double mean_us = std::exp(logarithms / static_cast<double>(round_us.size()));
  std::vector<double> relative;
  for (const double us : round_us) relative.push_back(us / mean_us);
  return relative;
}

bool would_go_on(std::size_t left, std::size_t rounds, std::size_t rounds_per_epoch, const Race::Options& options) {
  const std::size_t epochs = rounds / std::max(std::size_t{1}, rounds_per_epoch);
  return left > 0 && rounds > 1 && epochs < static_cast<std::size_t>(std::max(Race::most_epochs(left, options), 0));
}

double expected_epoch_s(double call_us, int rounds) {
  constexpr double kLoad_s = 0.005, kShortestBatch_us = 1000;
  constexpr int kProbes = 3;  // of an epoch, beside its rounds
  return kLoad_s + (rounds + kProbes) * std::max(kShortestBatch_us, call_us) / 1e6;
}

Race::Options Race::Options::of_at_most(int epochs) {
  Options options;
  options.most = epochs;
  options.fewest = std::min(options.fewest, epochs);
  return options;
}

Race::Race(std::size_t finalists, const Options& options) : options_(options), rounds_us_(finalists), runs_(finalists, true) {}

std::vector<std::size_t> Race::running() const {
  std::vector<std::size_t> running;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i]) running.push_back(i);
  }
  if (epochs_ >= most_epochs(running.size(), options_)) running.clear();
  return running;
}

int Race::most_epochs(std::size_t left, const Options& options) {
  if (left == 1) return std::min({kEarly, options.fewest, options.most});
  return left > kFew ? options.most + options.most / 2 : options.most;
}

void Race::add_epoch(const std::vector<std::vector<double>>& rounds_us) {
  const auto who = running();
  const bool fits = !rounds_us.empty() && std::all_of(rounds_us.begin(), rounds_us.end(), [&](const auto& round) {
    return round.size() == who.size() && std::all_of(round.begin(), round.end(), [](double us) { return std::isfinite(us) && us > 0; });
  });
  if (!fits || who.empty()) throw Error("failed running off finalists: an epoch does not hold a time above 0 for each of them");
  for (std::size_t k = 0; k < who.size(); ++k) {
    std::vector<double> mine;
    for (const auto& round : rounds_us) mine.push_back(round[k]);
    rounds_us_[who[k]].push_back(std::move(mine));
  }
  ++epochs_;
  drop_slow();
}

std::vector<double> Race::ratios(std::size_t finalist, std::size_t other) const {
  std::vector<double> ratios;
  const auto& mine = rounds_us_[finalist];
  const auto& theirs = rounds_us_[other];
  for (std::size_t epoch = 0; epoch < std::min(mine.size(), theirs.size()); ++epoch) {
    std::vector<double> paired;
    for (std::size_t round = 0; round < mine[epoch].size(); ++round) paired.push_back(mine[epoch][round] / theirs[epoch][round]);
    ratios.push_back(base::median(std::move(paired)));
  }
  return ratios;
}

std::size_t Race::leader() const {
  std::vector<std::size_t> who;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i]) who.push_back(i);
  }
  std::vector<std::vector<double>> relative(who.size());  // one an epoch
  for (std::size_t epoch = 0; epoch < static_cast<std::size_t>(epochs_); ++epoch) {
    std::vector<std::vector<double>> of_epoch(who.size());
    for (std::size_t round = 0; round < rounds_us_[who.front()][epoch].size(); ++round) {
      std::vector<double> round_us;
      for (const std::size_t i : who) round_us.push_back(rounds_us_[i][epoch][round]);
      const auto times = relative_times(round_us);
      for (std::size_t k = 0; k < who.size(); ++k) of_epoch[k].push_back(times[k]);
    }
    for (std::size_t k = 0; k < who.size(); ++k) relative[k].push_back(base::median(std::move(of_epoch[k])));
  }
  std::size_t leader = 0;
  std::vector<double> medians;
  for (auto& times : relative) {
    medians.push_back(base::median(std::move(times)));
    if (medians.back() < medians[leader]) leader = medians.size() - 1;
  }
  return who.at(leader);
}

void Race::drop_slow() {
  if (options_.all_stay) return;
  const std::size_t first = leader();
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (!runs_[i] || i == first) continue;
    const auto observed = ratios(i, first);
    const double least = *std::min_element(observed.begin(), observed.end());
    const bool hopeless = least > options_.hopeless || (epochs_ >= kEarly && least > kClear);
    const bool slower = epochs_ >= options_.fewest && measure::compare_paired(observed, kConfidence).low > kDoubtful;
    if (hopeless || slower) runs_[i] = false;
  }
}

}  // namespace attune::session
