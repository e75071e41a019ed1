#include "tuner/search/random.hpp"

namespace attune::search {

Random::Random(std::uint64_t space_size, std::uint64_t seed, std::optional<space::Ordinal> first)
    : random_(seed), order_(space_size), first_(first) {}

std::optional<space::Ordinal> Random::propose() {
  if (first_ && !first_proposed_) {
    first_proposed_ = true;
    return first_;
  }
  const auto drawn = order_.next(random_);
  return drawn && drawn == first_ ? order_.next(random_) : drawn;
}

}  // namespace attune::search
