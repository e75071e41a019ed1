#include "tuner/session/tune/former_measurements.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/source/recording.hpp"
#include "tuner/session/tune/portfolio.hpp"

namespace attune::session {
namespace {

constexpr std::size_t kMostSources = 4;  // more of them say the same, and each costs a model
constexpr std::size_t kMostRead = 12;    // the nearest may tell nothing of the part that is searched
constexpr std::uint64_t kFewestRecords = 8;
constexpr std::ptrdiff_t kFewestThatWorked = 3;
constexpr std::uint64_t kFastest = 150, kOthers = 250;  // of each source

/// Another problem that was measured, and how unlike this one here it is.
struct Source {
  double unlike = 0;
  std::function<std::vector<db::TimeRow>()> read;
};

/// In units of a size that is sixteen times as large: types and choices change more than that, devices and versions less.
double unlike(const ProblemContext& context, const spec::Problem& other, bool other_device, bool other_version) {
  double sum = (other_device ? 0.5 : 0) + (other_version ? 0.5 : 0);
  for (const auto& axis : context.kernel.problem)
    if (spec::choice_of(context.kernel, context.problem, axis.name) != spec::choice_of(context.kernel, other, axis.name)) sum += 2;
  if (other.sizes.size() != context.problem.sizes.size()) return sum + 4;
  for (const auto& [axis, size] : context.problem.sizes) {
    const auto found = other.sizes.find(axis);
    if (found == other.sizes.end() || found->second <= 0 || size <= 0) return sum + 4;
    sum += std::abs(std::log2(static_cast<double>(found->second) / static_cast<double>(size))) / 4;
  }
  return sum;
}

void add_sources_of(const ProblemContext& context, const db::Database& database, bool is_own, std::vector<Source>& sources) {
  for (const auto& measured : database.measured_problems(context.kernel.name, context.rows.policy)) {
    const bool other_version = measured.template_hash != context.kernel.content_hash;
    const bool other_device = measured.device_key != context.rows.device_key;
    const bool known_here = is_own && !other_version && !other_device && measured.problem == context.name();
    if (measured.records < kFewestRecords || (known_here && !context.request.renew)) continue;
    try {
      const double how = unlike(context, spec::problem_from_text(measured.problem), other_device, other_version);
      sources.push_back({how, [measured, &context, &database] {
                           return database.times({.template_hash = measured.template_hash,
                                                  .problem = measured.problem,
                                                  .device_key = measured.device_key,
                                                  .policy = context.rows.policy},
                                                 kFastest, kOthers);
                         }});
    } catch (const UsageError&) {
      continue;  // a problem of another version's axes, or a damaged row: none of ours
    }
  }
}

void add_sources_of(const ProblemContext& context, const Recording& recording, std::vector<Source>& sources) {
  if (recording.template_name != context.kernel.name) return;
  const bool other_version = recording.template_hash != context.kernel.content_hash;
  const bool other_device = recording.device.hard_key() != context.rows.device_key;
  for (const RecordedProblem& recorded : recording.problems) {
    sources.push_back({unlike(context, recorded.problem, other_device, other_version), [&recorded] {
                         std::vector<db::TimeRow> rows;
                         for (const auto& measurement : recorded.measurements) {
                           const bool worked = measurement.outcome == measure::Outcome::Ok && measurement.timing.median_us > 0;
                           rows.push_back({measurement.configuration, worked ? std::optional(measurement.timing.median_us) : std::nullopt});
                         }
                         return rows;
                       }});
  }
}

/// The configuration of this version of the template that is most like another version's: what that lacks is as in the default. Nothing
/// where a value is none of this version's.
class Translation {
 public:
  Translation(const ProblemContext& context, const space::SearchSpace& searched)
      : kernel_(context.kernel), searched_(searched), default_(base::parse_json(context.default_text)) {}

  [[nodiscard]] std::optional<space::Ordinal> operator()(const std::string& configuration) const {
    try {
      return searched_.find(spec::configuration_from_text(kernel_, configuration));
    } catch (const UsageError&) {
      return of_another_version(configuration);
    }
  }

 private:
  [[nodiscard]] std::optional<space::Ordinal> of_another_version(const std::string& configuration) const {
    try {
      nlohmann::json merged = default_;
      const nlohmann::json given = base::parse_json(configuration);
      for (const auto& [name, value] : given.items())
        if (merged.contains(name)) merged[name] = value;
      return searched_.find(spec::configuration_from_text(kernel_, base::dump_json(merged)));
    } catch (const Error&) {
      return std::nullopt;
    } catch (const nlohmann::json::exception&) {
      return std::nullopt;
    }
  }

  const spec::KernelTemplate& kernel_;
  const space::SearchSpace& searched_;
  nlohmann::json default_;
};

search::HintSource hints_of(const std::vector<db::TimeRow>& rows, const Translation& translate) {
  search::HintSource hints;
  for (const auto& row : rows)
    if (const auto ordinal = translate(row.configuration)) hints.push_back({*ordinal, row.median_us});
  return hints;
}

}  // namespace

std::shared_ptr<const search::Hints> former_measurements(const ProblemContext& context, const space::SearchSpace& searched) {
  std::vector<Source> sources;
  add_sources_of(context, context.database, true, sources);
  std::vector<db::Database> others;
  others.reserve(context.request.also_try.size());  // what is read later refers to them
  for (const auto& file : context.request.also_try) {
    if (is_recording(file)) {
      add_sources_of(context, recording_of(file), sources);
    } else {
      others.push_back(db::Database::open(file, db::OpenMode::ReadOnly));
      add_sources_of(context, others.back(), false, sources);
    }
  }
  std::stable_sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.unlike < b.unlike; });
  if (sources.size() > kMostRead) sources.resize(kMostRead);
  const Translation translate(context, searched);
  std::vector<search::HintSource> hints;
  for (const auto& source : sources) {
    auto told = hints_of(source.read(), translate);
    const auto worked = std::count_if(told.begin(), told.end(), [](const search::Hint& hint) { return hint.cost.has_value(); });
    if (worked >= kFewestThatWorked) hints.push_back(std::move(told));
    if (hints.size() == kMostSources) break;
  }
  auto made = std::make_shared<const search::Hints>(searched, hints);
  return made->empty() ? nullptr : made;
}

}  // namespace attune::session
