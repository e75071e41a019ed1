#include "bench/support/tuned_winner.hpp"

#include <fmt/format.h>

#include "attune/error.hpp"
#include "db/database.hpp"
#include "tuner/base/json.hpp"

namespace attune::bench {

TunedWinner tune_once(const std::filesystem::path& executable, std::vector<std::string> words, const std::filesystem::path& scratch,
                      std::size_t number, int device, Cache kept) {
  const auto path = scratch / fmt::format("{}.db", number);
  words.insert(words.begin(), "tune");
  words.insert(words.end(), {"--db", path.string(), "--device", std::to_string(device)});
  TunedWinner tuned;
  tuned.command_s = run_attune(executable, words, scratch, kept).wall_s;
  const auto rows = db::Database::open(path, db::OpenMode::ReadOnly).best({});
  if (rows.size() != 1) {
    throw UsageError(fmt::format("failed tuning once: {} problems have a winner; give arguments of exactly one", rows.size()));
  }
  const auto& best = rows.front();
  tuned.problem = best.problem;
  tuned.winner = best.configuration;
  tuned.best_us = best.median_us;
  const auto detail = base::parse_json(best.detail_json);
  tuned.finalists = detail.at("finalists").size();
  for (const auto& finalist : detail.at("finalists")) {
    if (finalist.at("tied").get<bool>()) tuned.tie_set.push_back(finalist.at("configuration"));
  }
  return tuned;
}

}  // namespace attune::bench
