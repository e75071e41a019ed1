#include "tuner/search/differential.hpp"

#include <algorithm>

#include "tuner/search/draws.hpp"

namespace attune::search {
namespace {

constexpr std::size_t kMembers = 16;  // ten a parameter, as is usual, would use up a short search before the first generation
constexpr double kDifferenceWeight = 0.8;
constexpr double kCrossing = 0.9;
constexpr int kMostFruitlessTurns = 3 * kMembers;  // that lead to what was tried before

}  // namespace

Differential::Differential(const space::SearchSpace& space, std::uint64_t seed, std::optional<space::Ordinal> first)
    : ranks_(space), random_(seed), trials_(space.size(), first), turns_(kMembers), members_(kMembers) {}

std::optional<space::Ordinal> Differential::propose() {
  for (int turn = 0; turn < kMostFruitlessTurns; ++turn) {
    const std::size_t member = turns_.next();
    if (!members_[member].at) return waits_for_any(member);
    const auto child = child_of(member);
    if (!child) return waits_for_any(member);
    if (!trials_.contains(*child)) {
      trials_.propose(*child);
      turns_.wait(member, *child);
      return child;
    }
    if (const auto cost = trials_.cost(*child)) keep_faster(members_[member], *child, *cost);
  }
  begin_again();
  return waits_for_any(turns_.next());
}

std::optional<space::Ordinal> Differential::waits_for_any(std::size_t member) {
  const auto ordinal = trials_.propose_any(random_);
  if (ordinal) turns_.wait(member, *ordinal);
  return ordinal;
}

/// Nothing while there are not enough others.
std::optional<space::Ordinal> Differential::child_of(std::size_t member) {
  std::vector<space::Ordinal> others;
  for (std::size_t other = 0; other < members_.size(); ++other)
    if (other != member && members_[other].at) others.push_back(*members_[other].at);
  if (others.size() < 3) return std::nullopt;
  shuffle(others, random_);
  const auto base = ranks_.point(*best().at), plus = ranks_.point(others[0]), minus = ranks_.point(others[1]);
  auto point = ranks_.point(*members_[member].at);
  const std::size_t crossed_for_sure = draw_index(random_, point.size());
  for (std::size_t i = 0; i < point.size(); ++i)
    if (draw_real(random_) < kCrossing || i == crossed_for_sure) point[i] = base[i] + kDifferenceWeight * (plus[i] - minus[i]);
  return ranks_.configuration_at(point, *members_[member].at, random_);
}

void Differential::report(space::Ordinal ordinal, std::optional<double> median_us) {
  const auto cost = trials_.report(ordinal, median_us);
  if (!cost) return;
  if (const auto member = turns_.arrived(ordinal)) return keep_faster(members_[*member], ordinal, *cost);
  // Nobody waits for it: it may still be better than the worst.
  const auto worst = std::max_element(members_.begin(), members_.end(),
                                      [](const Member& a, const Member& b) { return (a.at && b.at) ? a.cost < b.cost : !a.at && b.at; });
  if (worst->at) keep_faster(*worst, ordinal, *cost);
}

void Differential::keep_faster(Member& member, space::Ordinal ordinal, double cost) {
  if (!member.at || cost <= member.cost) member = {ordinal, cost};
}

/// Requires: one that has been reported.
Differential::Member& Differential::best() {
  return *std::min_element(members_.begin(), members_.end(),
                           [](const Member& a, const Member& b) { return (a.at && b.at) ? a.cost < b.cost : a.at && !b.at; });
}

void Differential::begin_again() {
  const Member kept = best();
  std::fill(members_.begin(), members_.end(), Member{});
  members_.front() = kept;
}

}  // namespace attune::search
