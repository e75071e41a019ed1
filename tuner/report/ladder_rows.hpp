#pragma once
#include <optional>

#include "tuner/report/report.hpp"

namespace attune::report {

/// The ladder that a session's summary keeps (docs/ladder.md has its form); nothing when it climbed none. What is missing in it is
/// not recorded.
[[nodiscard]] std::optional<Ladder> read_ladder(const db::SessionRow& row);

}  // namespace attune::report
