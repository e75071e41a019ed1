#include "tuner/session/tune/portfolio.hpp"

#include <algorithm>
#include <map>

#include "attune/error.hpp"
#include "tuner/measure/visit.hpp"
#include "tuner/session/tune/finalists.hpp"

namespace attune::session {

namespace {

/// Adds what is of this space and not there yet. A configuration that is specialised on its size comes with its general form.
void propose(std::vector<space::Ordinal>& ordinals, const std::string& text, const spec::KernelTemplate& kernel,
             const space::SearchSpace& space) {
  const auto add = [&](const spec::Configuration& configuration) {
    const auto ordinal = space.find(configuration);
    if (ordinal && std::find(ordinals.begin(), ordinals.end(), *ordinal) == ordinals.end()) ordinals.push_back(*ordinal);
  };
  try {
    const auto configuration = spec::configuration_from_text(kernel, text);
    add(configuration);
    add(spec::for_any_size(kernel, configuration));
  } catch (const UsageError&) {
    return;  // a row that is not of this template's space is no proposal; dispatch refuses it and says so
  }
}

void propose(std::vector<space::Ordinal>& ordinals, const std::vector<db::BestRow>& rows, const spec::KernelTemplate& kernel,
             const space::SearchSpace& space) {
  for (const auto& row : rows) propose(ordinals, row.configuration, kernel, space);
}

/// The problem's own, and those of problems that stand in for it where it has no results: what wins there may win here.
std::vector<std::string> families_of(const spec::KernelTemplate& kernel, const spec::Problem& problem) {
  std::vector<std::string> families{spec::family_text(problem)};
  for (const auto& related : spec::related_problems(kernel, problem)) families.push_back(spec::family_text(related));
  return families;
}

bool worked(const measure::Measurement& measurement) {
  return measurement.outcome == measure::Outcome::Ok && measurement.timing.median_us > 0;
}

/// Null where nothing worked.
const measure::Measurement* fastest_of(const RecordedProblem& recorded) {
  const measure::Measurement* fastest = nullptr;
  for (const auto& measurement : recorded.measurements) {
    if (worked(measurement) && (fastest == nullptr || measurement.timing.median_us < fastest->timing.median_us)) fastest = &measurement;
  }
  return fastest;
}

/// What had a chance there: what was farther behind the fastest than screening allows, has none here either.
void propose_recorded(std::vector<space::Ordinal>& ordinals, const RecordedProblem& recorded, const spec::KernelTemplate& kernel,
                      const space::SearchSpace& space) {
  const auto* fastest = fastest_of(recorded);
  for (const auto& measurement : recorded.measurements) {
    if (!worked(measurement) || measurement.timing.median_us > measure::kScreeningRatio * fastest->timing.median_us) continue;
    propose(ordinals, measurement.configuration, kernel, space);
  }
}

}  // namespace

bool is_recording(const std::filesystem::path& file) { return file.extension() == ".json" || file.string().ends_with(".json.zst"); }

const Recording& recording_of(const std::filesystem::path& file) {
  static std::map<std::filesystem::path, Recording> known;
  const auto found = known.find(file);
  return found != known.end() ? found->second : known.emplace(file, Recording::load(file)).first->second;
}

std::vector<space::Ordinal> portfolio_of(const db::Database& database, WinnersFrom from, const spec::KernelTemplate& kernel,
                                         const spec::Problem& problem, const std::string& policy, const space::SearchSpace& space) {
  std::vector<space::Ordinal> ordinals;
  for (const auto& family : families_of(kernel, problem))
    propose(ordinals, database.candidates(kernel.content_hash, family, policy), kernel, space);
  if (from == WinnersFrom::Template)
    propose(ordinals, database.best({.template_hash = kernel.content_hash, .policy = policy}), kernel, space);
  return ordinals;
}

void add_portfolio_of(const std::filesystem::path& other, WinnersFrom from, const spec::KernelTemplate& kernel,
                      const spec::Problem& problem, const std::string& policy, const space::SearchSpace& space,
                      std::vector<space::Ordinal>& ordinals) {
  if (is_recording(other)) {
    for (const RecordedProblem& recorded : recording_of(other).problems) {
      if (recorded.problem == problem) propose_recorded(ordinals, recorded, kernel, space);
    }
    return;
  }
  add_portfolio_of(db::Database::open(other, db::OpenMode::ReadOnly), from, kernel, problem, policy, space, ordinals);
}

void add_portfolio_of(const db::Database& database, WinnersFrom from, const spec::KernelTemplate& kernel, const spec::Problem& problem,
                      const std::string& policy, const space::SearchSpace& space, std::vector<space::Ordinal>& ordinals) {
  for (const auto& family : families_of(kernel, problem)) {
    for (const auto& version : database.best_counts(kernel.name, family)) {
      if (version.policy == policy) propose(ordinals, database.candidates(version.template_hash, family, policy), kernel, space);
    }
  }
  if (from == WinnersFrom::Template) propose(ordinals, database.best({.template_name = kernel.name, .policy = policy}), kernel, space);
}

void add_own_winners_of(const std::filesystem::path& other, const spec::KernelTemplate& kernel, const spec::Problem& problem,
                        const std::string& policy, const space::SearchSpace& space, std::vector<space::Ordinal>& ordinals) {
  if (!is_recording(other)) {
    auto rows = db::Database::open(other, db::OpenMode::ReadOnly)
                    .best({.template_name = kernel.name, .problem = spec::to_text(problem), .policy = policy});
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.recorded_at > b.recorded_at; });
    propose(ordinals, rows, kernel, space);
    return;
  }
  for (const RecordedProblem& recorded : recording_of(other).problems) {
    if (recorded.problem != problem) continue;
    if (!recorded.rounds_us.empty()) {
      const RunOffSamples samples{recorded.finalists, recorded.rounds_us, recorded.rounds_per_epoch, recorded.left, {}};
      const auto decided = decide(samples, recorded.measurements, "");
      propose(ordinals, decided.placed[decided.winner].configuration, kernel, space);
      for (const auto& placed : decided.placed) propose(ordinals, placed.configuration, kernel, space);
    } else if (const auto* fastest = fastest_of(recorded)) {
      propose(ordinals, fastest->configuration, kernel, space);
    }
  }
}

void check_portfolio(const std::filesystem::path& other) {
  if (is_recording(other))
    static_cast<void>(recording_of(other));
  else
    static_cast<void>(db::Database::open(other, db::OpenMode::ReadOnly));
}

}  // namespace attune::session
