#include <fmt/core.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/session/problem_tuner.hpp"

namespace attune::session {

using measure::Measurement;
using measure::Outcome;
using nlohmann::json;

namespace {

/// Whether a run-off of up to `most` epochs would go on where the stored one ended: several were left. A decision without a run-off is none.
bool would_go_on(const json& detail, int most) {
  const auto epochs = base::member_or(detail, "rounds", std::int64_t{0}) / std::max(std::int64_t{1}, base::member_or(detail, "rounds_per_epoch", std::int64_t{1}));
  const bool several = base::member_or(detail, "round_configurations", std::vector<std::string>{}).size() > 1;
  return several && epochs >= Race::kEarly && epochs < most;
}

/// Where the space has the configuration of a row; nothing where it is of another version's space.
std::optional<space::Ordinal> place_in(const space::SearchSpace& space, const spec::KernelTemplate& kernel, const db::BestRow& row) {
  try {
    return space.find(spec::configuration_from_text(kernel, row.configuration));
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace

void ProblemTuner::choose_best() {
  FinalistRule rule = request_.finalists.for_search_of(known_.decided().size());
  std::vector<std::string> asked;  // by that rule, also where fewer run off: a later run asks the same again
  for (bool narrowed = false;;) {
    const std::string standard = default_name();
    const auto finalists = choose_finalists(candidates_of(known_, kernel_, space_, launches_, standard, rule.most), standard, rule);
    if (!narrowed) asked = finalists;
    if (finalists.empty()) {
      // What won once and fails now must not be dispatched any more.
      const auto best = database_.best_of(query_);
      const auto record = best ? database_.record(query_, best->configuration) : std::nullopt;
      if (record && to_measurement(*record).outcome != Outcome::Ok) database_.forget_best(query_);
      return tell_why_none();
    }
    if (!narrowed && decided_before(asked)) return;
    auto samples = run_off(finalists);
    if (samples && !samples->failed.empty()) continue;  // the next best take their places
    if (!samples && !narrowed && finalists.size() > request_.finalists.most + 1) {  // the scratch of so many may be more than the device has
      narrowed = true;
      rule = request_.finalists;
      continue;
    }
    const bool ran_off = samples.has_value();
    if (!ran_off) samples = search_medians(finalists);
    return store_best(*samples, asked, ran_off);
  }
}

std::string ProblemTuner::name_of_launches(const std::string& configuration) {
  const auto ordinal = space_.find(spec::configuration_from_text(kernel_, configuration));
  return ordinal ? spec::to_text(kernel_, space_.at(launches_.canonical(*ordinal))) : configuration;
}

std::string ProblemTuner::default_name() {
  const auto own = space_.find(spec::configuration_from_text(kernel_, default_text_));
  if (!own || known_[*own].measured()) return default_text_;
  for (const auto other : launches_.members(*own)) {
    if (known_[other].measured() && known_[other].verified) return spec::to_text(kernel_, space_.at(other));
  }
  return default_text_;
}

/// Whether the stored best row came from a run-off of exactly these finalists, with as many epochs (or from a GPU, while this is a replay).
bool ProblemTuner::decided_before(const std::vector<std::string>& asked) {
  for (const auto& previous : database_.best(query_)) {
    best_seen_ = true;
    if (!of_this_memory(previous.detail_json) || is_outdated(previous.driver, previous.nvrtc)) continue;
    const json detail = base::parse_json(previous.detail_json);
    const std::string origin = base::member_or(detail, "origin", "");
    const bool same = counts_here(origin) && base::member_or(detail, "asked", std::vector<std::string>{}) == asked;
    const bool measured_stays = origin == "measured" && context_.origin != "measured";
    if (!same && !measured_stays) continue;
    if (context_.origin == "measured" && would_go_on(detail, request_.race.most)) continue;
    result_.nothing_left = result_.measured == 0;
    result_.best = previous;
    return true;
  }
  return false;
}

/// A search of a part knows little: a best row without a record here (imported, or replayed on a machine that measures now) may be
/// of a configuration that the part does not hold, and stays while it is the faster one.
bool ProblemTuner::better_is_known(const db::BestRow& best) {
  if (!ever_restricted_) return false;
  auto previous = database_.best_of(query_);
  if (!previous || previous->median_us > best.median_us || !of_this_memory(previous->detail_json)) return false;
  const auto ordinal = space_.find(spec::configuration_from_text(kernel_, previous->configuration));
  if (ordinal && known_[*ordinal].decided) return false;
  observer_.notice(fmt::format("the stored best of {} ({:.3f} us) stays: it is faster than what was found under these conditions ({:.3f} us), and "
                               "nothing here has measured it", log_.problem(), previous->median_us, best.median_us));
  result_.best = std::move(previous);
  return true;
}

std::vector<db::BestRow> ProblemTuner::own_winners() const {
  auto rows = database_.best({.template_name = kernel_.name, .problem = query_.problem, .device_key = query_.device_key, .policy = query_.policy});
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.recorded_at > b.recorded_at; });
  return rows;
}

/// The latest of all before the others: a budget that ends early must not replace it unseen.
void ProblemTuner::put_own_winners_first(std::vector<space::Ordinal>& ordinals) const {
  const auto rows = own_winners();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const auto own = place_in(searched(), kernel_, *row);
    if (!own) continue;
    std::erase(ordinals, *own);
    ordinals.insert(ordinals.begin(), *own);
  }
}

bool ProblemTuner::keeps_outdated() {
  if (!request_.renew) return false;
  std::optional<space::Ordinal> own;
  const auto rows = own_winners();
  const auto former = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return (own = place_in(space_, kernel_, row)).has_value(); });
  if (!own) return false;
  const bool of_this_version = former->template_hash == query_.template_hash;
  if (of_this_version && !is_outdated(former->driver, former->nvrtc)) return false;
  for (const auto name : launches_.members(*own)) {
    if (known_[name].decided) return false;
  }
  observer_.notice(fmt::format("the best of {} stays as it was: the budget ended before it was measured again", log_.problem()));
  if (of_this_version) result_.best = *former;
  result_.former_stays = true;
  return true;
}

void ProblemTuner::tell_why_none() const {
  const auto working = known_.working();
  if (working == 0) return;
  observer_.notice(fmt::format("none of the {} working configurations of {} is both verified and measured to the end, so none is kept for "
                               "dispatch{}", working, log_.problem(),
                               kernel_.reference.kind == spec::ReferenceSpec::Kind::None ? "; the template has no reference" : ""));
}

std::optional<RunOffSamples> ProblemTuner::run_off(const std::vector<std::string>& finalists) {
  std::vector<spec::Configuration> configurations;
  for (const auto& finalist : finalists) configurations.push_back(spec::configuration_from_text(kernel_, finalist));
  prepare_backend();
  auto samples = backend_.run_off(configurations, request_.race, request_.seed);
  if (samples && !samples->failed.empty()) store_failed(*samples);
  return samples;
}

std::optional<RunOffSamples> ProblemTuner::compare(const std::vector<std::string>& configurations) {
  auto samples = run_off(configurations);
  if (samples && !samples->failed.empty()) return samples;
  // A recording may have run off some of them only, among others: what is left then compares nothing.
  if (samples && samples->configurations.size() + samples->left.size() < configurations.size()) return std::nullopt;
  return samples;
}

/// Finalists that failed when they ran again are failed configurations from now on.
void ProblemTuner::store_failed(const RunOffSamples& samples) {
  for (const auto& failed : samples.failed) {
    Measurement measurement = stored(failed.configuration);
    measurement.outcome = failed.outcome;
    measurement.stage = measure::Stage::None;
    measurement.verified = false;
    measurement.timing = {};
    measurement.detail = "passed its first check and failed in the run-off: " + failed.detail;
    const auto ordinal = space_.find(spec::configuration_from_text(kernel_, failed.configuration)).value();
    // Under every name that it has: the same launches fail again.
    for (const auto named : launches_.members(ordinal)) {
      if (named != ordinal && !known_[named].decided) continue;
      measurement.configuration = spec::to_text(kernel_, space_.at(named));
      database_.replace(to_row(context_, measurement));
      known_.remember(named, measurement);
    }
    count_failure(ordinal);
  }
}

db::RecordRow ProblemTuner::stored_row(const std::string& configuration) const {
  auto row = database_.record(query_, configuration);
  if (!row) throw Error(fmt::format("failed deciding {}: the record of {} is no longer in the database", log_.problem(), configuration));
  return *std::move(row);
}

void ProblemTuner::store_best(const RunOffSamples& samples, const std::vector<std::string>& asked, bool ran_off) {
  std::vector<Measurement> resources;
  for (const auto& configuration : samples.configurations) resources.push_back(stored(configuration));
  const Decided decided = decide(samples, resources, default_name());
  const auto code = backend_.code(spec::configuration_from_text(kernel_, decided.placed[decided.winner].configuration));
  db::BestRow best = to_best_row(context_, decided, samples, result_.work_bytes, code, default_name(), asked);
  if (better_is_known(best) || keeps_outdated()) return;
  db::Database::Batch batch(database_);
  if (ran_off) {
    for (const auto& placed : decided.placed) mark_run_off(placed.configuration);
  }
  if (code) database_.put_cubin(code->cubin_key, code->cubin, base::dump_json(json{{"source_key", code->source_key}}));
  best_seen_ ? database_.replace(best) : database_.put(best);
  batch.commit();
  best_seen_ = true;
  result_.best = std::move(best);
}

void ProblemTuner::mark_run_off(const std::string& configuration) {
  if (const auto row = as_run_off(stored_row(configuration))) database_.put(*row);
}

/// For a recording that never ran these finalists off, and for finalists that fail only together: one "round" of the
/// search's own medians.
RunOffSamples ProblemTuner::search_medians(const std::vector<std::string>& finalists) const {
  observer_.notice(fmt::format("these finalists of {} could not be run off against each other; the winner is by the search's medians",
                               spec::to_text(problem_)));
  RunOffSamples samples;
  samples.configurations = finalists;
  samples.rounds_us.emplace_back();
  for (const auto& finalist : finalists) samples.rounds_us.front().push_back(stored(finalist).timing.median_us);
  return samples;
}

}  // namespace attune::session
