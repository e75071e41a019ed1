#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "tuner/space/search_space.hpp"

namespace attune::search {

/// Whose turn it is in a population, each member of which waits for one report at a time.
class Turns {
 public:
  explicit Turns(std::size_t members) : waiting_(members) {}

  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  /// The next that waits for nothing. Where all do, the one whose turn it is gives up what it waits for: there may never be a report of it.
  [[nodiscard]] std::size_t next() {
    for (std::size_t tried = 0; waiting_[turn_] && tried < size(); ++tried) turn_ = (turn_ + 1) % size();
    const std::size_t member = turn_;
    turn_ = (turn_ + 1) % size();
    waiting_[member].reset();
    return member;
  }
  void wait(std::size_t member, space::Ordinal ordinal) { waiting_[member] = ordinal; }
  /// Returns the member that waits for it no more; nothing when none did.
  [[nodiscard]] std::optional<std::size_t> arrived(space::Ordinal ordinal) {
    const auto found = std::find(waiting_.begin(), waiting_.end(), std::optional(ordinal));
    if (found == waiting_.end()) return std::nullopt;
    found->reset();
    return static_cast<std::size_t>(found - waiting_.begin());
  }

 private:
  std::vector<std::optional<space::Ordinal>> waiting_;  ///< by member
  std::size_t turn_ = 0;
};

}  // namespace attune::search
