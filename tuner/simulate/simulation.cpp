#include "tuner/simulate/simulation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "attune/error.hpp"
#include "tuner/base/cpus.hpp"

namespace attune::simulate {

std::vector<space::Ordinal> run_search(const RecordedSpace& recorded, search::Strategy& strategy, std::uint64_t evaluations) {
  std::vector<space::Ordinal> proposals;
  std::vector<bool> seen(recorded.space.size(), false);
  while (proposals.size() < evaluations) {
    if (proposals.size() + evaluations / 10 == evaluations) strategy.end_is_near();
    const auto ordinal = strategy.propose();
    if (!ordinal) break;
    const bool outside = *ordinal >= seen.size();
    if (outside || seen[*ordinal]) {
      throw Error(fmt::format("failed simulating a search of {}: proposal {} is configuration {}, which {}", recorded.file,
                              proposals.size() + 1, *ordinal, outside ? "is not in the space" : "was proposed before"));
    }
    seen[*ordinal] = true;
    proposals.push_back(*ordinal);
    strategy.report(*ordinal, recorded.costs[*ordinal]);
  }
  return proposals;
}

std::vector<space::Ordinal> run_search(const RecordedSpace& recorded, const search::StrategyOptions& options, std::uint64_t evaluations) {
  const auto strategy = search::make_strategy(options, recorded.space);
  try {
    return run_search(recorded, *strategy, evaluations);
  } catch (const Error& error) {
    throw Error(fmt::format("{}; strategy '{}', seed {}", error.what(), search::name(options.kind), options.seed), error.exit_code());
  }
}

std::vector<std::vector<space::Ordinal>> run_searches(const RecordedSpace& recorded, const search::StrategyOptions& options,
                                                      std::uint64_t evaluations, std::size_t runs) {
  std::vector<std::vector<space::Ordinal>> proposals(runs);
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::size_t run = next++; run < runs; run = next++) {
        search::StrategyOptions own = options;
        own.seed = options.seed + run;
        proposals[run] = run_search(recorded, own, evaluations);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = runs;
    }
  };
  {
    const std::size_t others = std::min(base::available_cpus().size(), runs);
    std::vector<std::jthread> threads;  // joined where they end
    for (std::size_t i = 1; i < others; ++i) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return proposals;
}

Trace trace_of(const RecordedSpace& recorded, const std::vector<space::Ordinal>& proposals) {
  Trace trace;
  for (const space::Ordinal ordinal : proposals) trace.push_back(recorded.costs[ordinal]);
  return trace;
}

}  // namespace attune::simulate
