#include "tuner/space/permutation.hpp"

namespace attune::space {

std::uint64_t draw_below(std::mt19937_64& random, std::uint64_t bound) {
  // 2^64 mod bound values would be drawn once more often than the others: they are drawn again.
  const std::uint64_t uneven = (0 - bound) % bound;
  std::uint64_t drawn = random();
  while (drawn < uneven) drawn = random();
  return drawn % bound;
}

std::optional<std::uint64_t> LazyPermutation::next(std::mt19937_64& random) {
  if (position_ == size_) return std::nullopt;
  const std::uint64_t place = position_ + draw_below(random, size_ - position_);
  const auto at_position = displaced_.find(position_);
  const std::uint64_t left_over = at_position == displaced_.end() ? position_ : at_position->second;
  std::uint64_t drawn = left_over;
  if (place != position_) {
    const auto [entry, inserted] = displaced_.try_emplace(place, left_over);
    drawn = inserted ? place : entry->second;
    entry->second = left_over;
  }
  // Places before the position are never read again: the map stays smaller than what is left to draw.
  displaced_.erase(position_);
  ++position_;
  return drawn;
}

}  // namespace attune::space
