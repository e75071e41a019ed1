#include "tuner/search/exhaustive.hpp"

namespace attune::search {

std::optional<space::Ordinal> Exhaustive::propose() {
  if (first_ && !first_proposed_) {
    first_proposed_ = true;
    return first_;
  }
  if (next_ == first_) ++next_;
  if (next_ >= size_) return std::nullopt;
  return next_++;
}

}  // namespace attune::search
