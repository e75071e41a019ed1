#include "tuner/search/validity.hpp"

namespace attune::search {

void Validity::set_candidates(const std::vector<space::Ordinal>& candidates) {
  candidates_.clear();
  alike_.clear();
  valid_alike_.clear();
  for (const auto candidate : candidates) add_candidate(candidate);
}

void Validity::add_candidate(space::Ordinal candidate) {
  double alike = 0, valid_alike = 0;
  for (const auto& [ordinal, valid] : reported_) {
    const double likeness = likeness_(ordinal, candidate);
    alike += likeness;
    if (valid) valid_alike += likeness;
  }
  candidates_.push_back(candidate);
  alike_.push_back(alike);
  valid_alike_.push_back(valid_alike);
}

void Validity::report(space::Ordinal ordinal, bool valid) {
  reported_.emplace_back(ordinal, valid);
  valid_ += valid ? 1 : 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const double likeness = likeness_(ordinal, candidates_[i]);
    alike_[i] += likeness;
    if (valid) valid_alike_[i] += likeness;
  }
}

double Validity::chance(std::size_t candidate) const {
  // The share of all counts as one that is wholly alike, and one valid configuration is taken for granted.
  const double share = (static_cast<double>(valid_) + 1) / (static_cast<double>(reported_.size()) + 1);
  return (valid_alike_[candidate] + share) / (alike_[candidate] + 1);
}

}  // namespace attune::search
