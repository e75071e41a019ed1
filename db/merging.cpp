#include "db/merging.hpp"

#include <utility>

#include "db/exchange_parts.hpp"
#include "db/tables.hpp"

namespace attune::db {

template <class Row>
bool Merging::offer(const Row& row) {
  on_row_();
  const bool taken = database_.offer(row);
  if (taken) ++count_of(stored, row);
  return taken;
}

template bool Merging::offer(const DeviceRow& row);
template bool Merging::offer(const TemplateRow& row);
template bool Merging::offer(const SessionRow& row);

void Merging::take(const RecordRow& row) {
  const std::string key = Table<RecordRow>::key(row);
  take_known(row, key, checksum(key, row));
}

void Merging::take_known(const RecordRow& row, const std::string& key, const std::string& sum) {
  on_row_();
  if (!database_.offer(row, key, sum)) return;
  ++count_of(stored, row);
  if (!is_verified(row)) note_failure(row);
}

void Merging::note_failure(const RecordRow& row) {
  for (const char* objective : {kTime, kUnverifiedTime}) {
    Query problem = problem_of(row);
    problem.objective = objective;
    const auto best = database_.best_of(problem);
    if (best && best->configuration == row.configuration) failed_.push_back(std::move(problem));
  }
}

void Merging::forget_contradicted() {
  for (const Query& problem : failed_) forget_unless_supported(problem);
  failed_.clear();
}

void Merging::offer_best(const BestRow& row, bool doubtful) {
  const auto record = database_.record(problem_of(row), row.configuration);
  if (record && is_verified(*record)) {
    // What does not count itself keeps nobody's place.
    if (row.objective == BestRow().objective) forget_unless_supported(problem_of(row));
    offer(row);
  } else if (record && !doubtful) {
    ++contradicted;
  } else {
    ++unverified;
  }
}

void Merging::forget_unless_supported(const Query& problem) {
  const auto best = database_.best_of(problem);
  if (!best) return;
  const auto record = database_.record(problem, best->configuration);
  if (record && supports(*record, *best)) return;
  database_.forget_best(problem);
  ++(record ? contradicted : unverified);
}

}  // namespace attune::db
