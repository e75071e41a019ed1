#include "tuner/simulate/score.hpp"

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/search/random_expectation.hpp"

namespace attune::simulate {
namespace {

constexpr std::size_t kMostEvaluations = 220;
constexpr double kWindowBegins = 0.99, kWindowEnds = 0.05;  // of the way from the optimum to the median
constexpr double kNothingLeft = 1e-9;                       // a share of the optimum

}  // namespace

SearchScore::SearchScore(const std::vector<std::optional<double>>& costs) : configurations_(costs.size()) {
  for (const auto& cost : costs)
    if (cost) valid_.push_back(*cost);
  if (valid_.empty()) throw Error("none of the configurations is valid, so that searches cannot be compared", ExitCode::NothingValid);
  std::sort(valid_.begin(), valid_.end());
  for (std::size_t draws = 1; draws <= std::min(kMostEvaluations, configurations_); ++draws)
    random_.push_back(search::expected_best(valid_, configurations_, draws));
  choose_window();
}

void SearchScore::choose_window() {
  const double median = valid_[valid_.size() / 2];
  const auto within = [&](double share) {
    const double most = optimum() + (median - optimum()) * share;
    const auto found = std::find_if(random_.begin(), random_.end(), [&](double expected) { return expected <= most; });
    return std::min(static_cast<std::size_t>(found - random_.begin()), random_.size() - 1);
  };
  const std::size_t first = within(kWindowBegins);
  const std::size_t last = std::min(std::max(within(kWindowEnds), first + 1), random_.size() - 1);
  for (std::size_t place = first; place <= last; ++place)
    if (random_[place] > optimum() * (1 + kNothingLeft)) window_.push_back(place);
}

std::vector<double> SearchScore::mean_best(const std::vector<Trace>& runs, std::size_t evaluations) const {
  std::vector<double> sums(evaluations, 0.0);
  for (const Trace& run : runs) {
    double best = valid_.back();
    for (std::size_t place = 0; place < evaluations; ++place) {
      if (place < run.size() && run[place]) best = std::min(best, *run[place]);
      sums[place] += best;
    }
  }
  for (double& sum : sums) sum /= static_cast<double>(runs.size());
  return sums;
}

std::optional<double> SearchScore::score(const std::vector<Trace>& runs) const {
  if (window_.empty()) return std::nullopt;
  const std::vector<double> best = mean_best(runs, random_.size());
  double sum = 0;
  for (const std::size_t place : window_) sum += (random_[place] - best[place]) / (random_[place] - optimum());
  return sum / static_cast<double>(window_.size());
}

double SearchScore::fraction_of_optimum(const std::vector<Trace>& runs, std::size_t evaluations) const {
  return optimum() / mean_best(runs, evaluations).back();
}

}  // namespace attune::simulate
