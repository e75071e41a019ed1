#include "tuner/search/validity.hpp"

namespace attune::search {

using Eigen::Index;

void Validity::set_candidates(const std::vector<space::Ordinal>& candidates) {
  likeness_.clear();
  for (const auto candidate : candidates) likeness_.add(candidate);
  alike_ = valid_alike_ = Eigen::VectorXd::Zero(static_cast<Index>(candidates.size()));
  for (const auto& [ordinal, valid] : reported_) count(ordinal, valid);
}

void Validity::add_candidate(space::Ordinal candidate) {
  double alike = 0, valid_alike = 0;
  for (const auto& [ordinal, valid] : reported_) {
    const double likeness = likeness_.table()(ordinal, candidate);
    alike += likeness;
    if (valid) valid_alike += likeness;
  }
  likeness_.add(candidate);
  const auto place = static_cast<Index>(likeness_.size()) - 1;
  alike_.conservativeResize(place + 1);
  valid_alike_.conservativeResize(place + 1);
  alike_[place] = alike;
  valid_alike_[place] = valid_alike;
}

void Validity::report(space::Ordinal ordinal, bool valid) {
  reported_.emplace_back(ordinal, valid);
  valid_ += valid ? 1 : 0;
  count(ordinal, valid);
}

void Validity::count(space::Ordinal ordinal, bool valid) {
  const Eigen::VectorXd likeness = likeness_.column(ordinal);
  alike_ += likeness;
  if (valid) valid_alike_ += likeness;
}

double Validity::chance(std::size_t candidate) const {
  // The share of all counts as one that is wholly alike, and one valid configuration is taken for granted.
  const double share = (static_cast<double>(valid_) + 1) / (static_cast<double>(reported_.size()) + 1);
  const auto place = static_cast<Index>(candidate);
  return (valid_alike_[place] + share) / (alike_[place] + 1);
}

}  // namespace attune::search
