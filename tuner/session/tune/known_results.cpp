#include "tuner/session/tune/known_results.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attune/error.hpp"

namespace attune::session {

using measure::Measurement;
using measure::Outcome;

bool KnownResults::answers_here(const db::RecordRow& row, std::uint64_t& foreign, std::uint64_t& of_other_memory) const {
  if (!context_.counts_here(row.origin)) {
    ++foreign;
    return false;
  }
  if (!context_.of_this_memory(row.detail_json)) {
    ++of_other_memory;
    return false;
  }
  if (context_.is_outdated(row.driver, row.nvrtc)) return false;
  const bool stays = !context_.is_live() && row.origin == "measured";  // a replay's answer would give way to it
  return stays || !context_.request.retry_failed || row.outcome == measure::name(Outcome::Ok);
}

void KnownResults::load() {
  memory_.begin(context_.space.size(), spec::has_reference(context_.kernel));
  to_replace_.clear();
  std::uint64_t foreign = 0, of_other_memory = 0;
  context_.database.for_each_record(context_.query, [&](const db::RecordRow& row) {
    if (!answers_here(row, foreign, of_other_memory)) {
      to_replace_.insert(row.configuration);
      return;
    }
    // It has the same template hash and problem, so it is in the space; a damaged one was left out by the database.
    if (const auto ordinal = context_.find(row.configuration)) remember(*ordinal, to_measurement(row));
  });
  if (foreign > 0) {
    context_.observer.notice(
        fmt::format("{} records of {} came from a recording; on a GPU they are measured again", foreign, context_.name()));
  }
  if (of_other_memory > 0) {
    context_.observer.notice(
        fmt::format("{} records of {} are of a device with the same figures and faster or slower memory than here ({} kHz); they are "
                    "measured again",
                    of_other_memory, context_.name(), context_.rows.memory_clock_khz));
  }
}

void KnownResults::keep(space::Ordinal ordinal, const Measurement& measurement) {
  const auto row = to_row(context_.rows, measurement);
  if (to_replace_.contains(measurement.configuration) || memory_[ordinal].decided)
    context_.database.replace(row);
  else
    context_.database.put(row);
  remember(ordinal, measurement);
}

void KnownResults::remember(space::Ordinal ordinal, const Measurement& measurement) {
  const auto& timing = measurement.timing;
  Cost cost;
  if (measurement.outcome == Outcome::Ok && timing.median_us > 0) {
    try {
      const auto ends = std::minmax({context_.cost(measurement, timing.low_us), context_.cost(measurement, timing.high_us)});
      cost = {context_.cost(measurement, timing.median_us), ends.first, ends.second};
    } catch (const SpecError& error) {  // of the objective, for this configuration
      if (!std::exchange(told_of_no_cost_, true))
        context_.observer.notice(
            fmt::format("{}; so {} cannot win, nor others like it: exclude them by a constraint, or change the objective", error.what(),
                        measurement.configuration));
    }
  }
  memory_.remember(ordinal, measurement, cost);
}

void KnownResults::keep_failure(space::Ordinal ordinal, Outcome outcome, const std::string& detail) {
  Measurement measurement = stored(context_.text(ordinal));
  measurement.outcome = outcome;
  measurement.stage = measure::Stage::None;
  measurement.verified = false;
  measurement.timing = {};
  measurement.detail = detail;
  for (const auto named : context_.launches.members(ordinal)) {
    if (named != ordinal && !memory_[named].decided) continue;
    measurement.configuration = context_.text(named);
    context_.database.replace(to_row(context_.rows, measurement));
    remember(named, measurement);
  }
}

void KnownResults::mark_run_off(const std::string& configuration) {
  if (const auto row = as_run_off(stored_row(configuration))) context_.database.put(*row);
}

db::RecordRow KnownResults::stored_row(const std::string& configuration) const {
  auto row = context_.database.record(context_.query, configuration);
  if (!row) throw Error(fmt::format("failed deciding {}: the record of {} is no longer in the database", context_.name(), configuration));
  return *std::move(row);
}

std::string KnownResults::default_name() const {
  const auto own = context_.find(context_.default_text);
  if (!own || memory_[*own].measured()) return context_.default_text;
  for (const auto other : context_.launches.members(*own)) {
    if (memory_[other].measured() && memory_[other].may_win) return context_.text(other);
  }
  return context_.default_text;
}

}  // namespace attune::session
