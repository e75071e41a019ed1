#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/support/attune_run.hpp"

namespace attune::bench {

/// What one run of `attune tune` decided.
struct TunedWinner {
  std::string problem;  ///< canonical JSON, as configurations are
  std::string winner;
  std::vector<std::string> tie_set;      ///< the winner among them
  std::optional<std::size_t> finalists;  ///< that ran off; nothing: not known
  double best_us = 0;
  double command_s = 0;  ///< the whole command
};

/// Runs `attune tune <words>` on one device with a database that does not exist before. `scratch`: a folder that no other run uses
/// meanwhile; compiled code lies there. `number` names the database in it.
/// Throws: what run_attune throws; UsageError unless exactly one problem was decided.
[[nodiscard]] TunedWinner tune_once(const std::filesystem::path& executable, std::vector<std::string> words,
                                    const std::filesystem::path& scratch, std::size_t number, int device, Cache kept);

}  // namespace attune::bench
