#include "tuner/simulate/imported_space.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <unordered_map>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/text.hpp"
#include "tuner/simulate/dialects.hpp"
#include "tuner/simulate/failure_words.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/failure.hpp"

namespace attune::simulate {
namespace {

using measure::Outcome;
using nlohmann::json;

constexpr double kShortestImportUs = 1e-4;  // what a recording rounds to
constexpr double kLongestImportUs = 1e12;

/// Kernel Tuner and most others launch on a stream, again and again on the same data.
constexpr const char* kPolicyOfOthers = "hot/stream";

/// Microseconds in what a unit says; without one, and whatever it is called, it is the milliseconds of both formats.
double us_in(const std::string& unit) {
  if (unit.empty() || unit == "ms" || unit == "milliseconds" || unit == "miliseconds") return 1e3;
  if (unit == "s" || unit == "seconds") return 1e6;
  if (unit == "us" || unit == "microseconds") return 1;
  if (unit == "ns" || unit == "nanoseconds") return 1e-3;
  throw Error(fmt::format("its time has the unit '{}', which is none of s, ms, us and ns", unit));
}

/// As recordings have dates; empty for what is none. Kernel Tuner writes "2026-01-02 03:04:05.678901+00:00".
std::string utc_date(const std::string& timestamp) {
  static const std::regex date(R"((\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(\.\d{1,9})?)(Z|\+00:00)?)");
  constexpr std::size_t kLongest = 40;
  std::smatch parts;
  if (timestamp.size() > kLongest || !std::regex_match(timestamp, parts, date)) return "";
  return parts[1].str() + "T" + parts[2].str() + "Z";
}

/// What attune exported says it exactly; "ok" and what is no outcome count for nothing, since there is no time.
Outcome failure_of(const RecordedFacts& facts) {
  for (const Outcome outcome :
       {Outcome::CompileFailed, Outcome::ExceedsLimits, Outcome::LaunchFailed, Outcome::WrongResult, Outcome::Crashed, Outcome::TimedOut})
    if (facts.outcome == measure::name(outcome)) return outcome;
  return failure_named(facts.failure);
}

/// Of what a device measured elsewhere, in another way: nobody here vouches for more than that it ran.
measure::Timing timing_of(const RecordedFacts& facts, double cost) {
  const double us = us_in(facts.unit) * cost;
  if (us < kShortestImportUs || us > kLongestImportUs)
    throw Error(fmt::format("its time is {} us; from {} to {} us is taken", us, kShortestImportUs, kLongestImportUs));
  const auto or_median = [&](double ms) { return ms > 0 && ms * 1e3 < kLongestImportUs ? ms * 1e3 : us; };
  measure::Timing timing;
  timing.median_us = us;
  timing.low_us = std::min(us, or_median(facts.low_ms));
  timing.high_us = std::max(us, or_median(facts.high_ms));
  timing.min_us = std::min(us, or_median(facts.min_ms));
  timing.samples = static_cast<int>(std::max<std::int64_t>(1, facts.samples));
  timing.visits = timing.calls_per_sample = 1;
  return timing;
}

measure::Measurement measurement_of(const RecordedEntry& entry, const std::string& configuration) {
  constexpr double kMostCompileMs = 1e9;
  measure::Measurement measurement;
  measurement.configuration = configuration;
  if (entry.facts.compile_ms > 0 && entry.facts.compile_ms < kMostCompileMs) measurement.resources.compile_ms = entry.facts.compile_ms;
  if (entry.result.cost) {
    measurement.stage = measure::Stage::Screened;
    measurement.timing = timing_of(entry.facts, *entry.result.cost);
  } else {
    measurement.outcome = failure_of(entry.facts);
    measurement.detail = entry.facts.detail.empty() ? entry.result.failure : entry.facts.detail;
  }
  return measurement;
}

void check_parameters(const RecordedEntries& found, const spec::KernelTemplate& kernel, const std::string& path) {
  std::vector<std::string> wanted, missing, unknown;
  for (const auto& parameter : kernel.parameters) wanted.push_back(parameter.name);
  const auto lacks = [](const auto& names, const std::string& name) { return std::find(names.begin(), names.end(), name) == names.end(); };
  for (const auto& name : found.names)
    if (lacks(wanted, name)) unknown.push_back(name);
  for (const auto& name : wanted)
    if (lacks(found.names, name)) missing.push_back(name);
  if (missing.empty() && unknown.empty()) return;
  std::string why;
  if (!unknown.empty()) why += fmt::format("it has parameters that template '{}' lacks: {}; ", kernel.name, spec::joined(unknown));
  if (!missing.empty()) why += fmt::format("it lacks parameters that template '{}' has: {}; ", kernel.name, spec::joined(missing));
  refuse_space(path, why + fmt::format("its spaces have the parameters {}: name the template that the file is of, or rename and fill in "
                                       "the file's parameters",
                                       spec::joined(wanted)));
}

/// What attune exported says what it is of.
void check_about(const RecordedEntries& found, const ImportTarget& target, const std::string& path) {
  const std::string problem = spec::to_text(target.problem);
  const bool other_template = !found.template_name.empty() && found.template_name != target.kernel.name;
  if (other_template || (!found.problem.empty() && found.problem != problem)) {
    refuse_space(path, fmt::format("it says that it is of template '{}' and {}, not of '{}' and {}; name those", found.template_name,
                                   found.problem, target.kernel.name, problem));
  }
  if (!found.policy.empty()) (void)measure::policy_from_text(found.policy);
}

/// The configurations of a file, as they are put in the place of a template's problem.
class Import {
 public:
  Import(const RecordedEntries& found, const ImportTarget& target, const spec::DeviceInfo& device)
      : found_(found),
        target_(target),
        device_(device),
        space_(space::SearchSpace::build(target.kernel, target.problem, device, {}, target.watch)) {}

  /// Throws: Error.
  void take(const RecordedEntry& entry) {
    const spec::Configuration configuration = configuration_of(entry);
    const std::string text = spec::to_text(target_.kernel, configuration);
    auto measurement = measurement_of(entry, text);
    if (!space_.find(configuration)) {
      if (measurement.outcome != Outcome::ExceedsLimits) refuse(text);
      ++left_out_;
      return;
    }
    const auto [place, is_new] = places_.try_emplace(text, measurements_.size());
    if (is_new)
      measurements_.push_back(std::move(measurement));
    else
      measurements_[place->second] = std::move(measurement);
  }

  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  [[nodiscard]] session::RecordedProblem problem() && {
    session::RecordedProblem recorded;
    recorded.problem = target_.problem;
    recorded.space_size = space_.size();
    recorded.measurements = std::move(measurements_);
    return recorded;
  }

 private:
  [[nodiscard]] spec::Configuration configuration_of(const RecordedEntry& entry) const {
    json values = json::object();
    for (std::size_t i = 0; i < found_.names.size(); ++i) values[found_.names[i]] = spec::to_json(entry.values[i]);
    return spec::configuration_from_text(target_.kernel, base::dump_json(values));
  }

  [[noreturn]] void refuse(const std::string& configuration) const {
    throw Error(
        fmt::format("the configuration {} violates a constraint of template '{}' for {} on {}; name the problem and the device that "
                    "the file is of, or take the entry out",
                    configuration, target_.kernel.name, spec::to_text(target_.problem), device_.name));
  }

  const RecordedEntries& found_;
  const ImportTarget& target_;
  const spec::DeviceInfo& device_;
  space::SearchSpace space_;
  std::vector<measure::Measurement> measurements_;
  std::unordered_map<std::string, std::size_t> places_;
  std::uint64_t left_out_ = 0;
};

/// Everything but the problem.
session::Recording recording_of(const RecordedEntries& found, const ImportTarget& target, const spec::DeviceInfo& device,
                                const std::string& file) {
  session::Recording recording;
  recording.device = device;
  recording.device.driver.clear();  // the one that is known of the device is not of whoever measured this
  recording.template_name = target.kernel.name;
  recording.template_hash = target.kernel.content_hash;
  recording.policy = !target.policy.empty() ? target.policy : !found.policy.empty() ? found.policy : kPolicyOfOthers;
  recording.imported_from = fmt::format("{} {}", found.format, file);
  for (const auto& entry : found.entries) recording.date = std::max(recording.date, utc_date(entry.facts.timestamp));
  if (recording.date.empty()) recording.date = base::utc_stamp();
  return recording;
}

}  // namespace

ImportedSpace import_space(const std::filesystem::path& path, const ImportTarget& target) {
  const RecordedEntries found = read_foreign_entries(path);
  if (found.objective != "time") {
    refuse_space(path.string(), fmt::format("its objective is '{}', and a recording holds times; write it anew with the objective 'time'",
                                            found.objective));
  }
  check_about(found, target, path.string());
  check_parameters(found, target.kernel, path.string());
  const spec::DeviceInfo device = target.device(found.device_name);
  Import import(found, target, device);
  for (const auto& entry : found.entries) {
    try {
      import.take(entry);
    } catch (const Error& error) {
      refuse_space(path.string(), fmt::format("{}: {}", entry.place, error.what()));
    }
  }
  ImportedSpace imported{recording_of(found, target, device, path.filename().string()), import.left_out()};
  auto problem = std::move(import).problem();
  if (problem.measurements.empty()) refuse_space(path.string(), "none of its configurations is in the space of the template");
  imported.recording.coverage = fmt::format("imported: {} of {} configurations", problem.measurements.size(), problem.space_size);
  imported.recording.problems.push_back(std::move(problem));
  return imported;
}

}  // namespace attune::simulate
