#include "tuner/report/parameter_shares.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tuner/report/rows.hpp"
#include "tuner/search/draws.hpp"
#include "tuner/search/importance.hpp"
#include "tuner/space/search_space.hpp"
#include "tuner/spec/value.hpp"

namespace attune::report {

using nlohmann::json;

namespace {

constexpr std::size_t kFewest = 100;
constexpr std::size_t kMost = 1000;
constexpr double kTold = 0.01;  // the least low end of an interval that tells a parameter from none
constexpr std::uint64_t kSeed = 1;

struct Timed {
  json configuration;
  double time_us;
};

bool is_value(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
  return value.is_boolean() || value.is_number() || value.is_string();
}

/// Whether it has these parameters and no other, each with a value.
bool is_configuration(const json& configuration, const json& like) {
  return configuration.size() == like.size() &&
         std::all_of(configuration.items().begin(), configuration.items().end(),
                     [&](const auto& one) { return like.contains(one.key()) && is_value(one.value()); });
}

/// Those that are learnt from: all have the same parameters.
std::vector<Timed> chosen(const std::vector<const db::RecordRow*>& records) {
  std::vector<const db::RecordRow*> timed;
  for (const auto* record : records) {
    if (record->outcome == "ok" && record->median_us > 0) timed.push_back(record);
  }
  if (timed.size() > kMost) {  // not every so-manieth: in an order of counting those may all have one value
    std::mt19937_64 random(kSeed);
    search::shuffle(timed, random);
    timed.resize(kMost);
  }
  std::vector<Timed> all;
  for (const auto* record : timed) {
    json configuration = parse_object(record->configuration);
    if (is_configuration(configuration, all.empty() ? configuration : all.front().configuration)) {
      all.push_back({std::move(configuration), record->median_us});
    }
  }
  return all;
}

/// What occurs, ascending: a template may be gone, and what it declares besides tells nothing of the times.
std::map<std::string, std::vector<json>> values_of(const std::vector<Timed>& timed) {
  std::map<std::string, std::set<json>> sets;
  for (const Timed& one : timed) {
    for (const auto& [name, value] : one.configuration.items()) sets[name].insert(value);
  }
  std::map<std::string, std::vector<json>> values;
  for (const auto& [name, set] : sets) {
    if (set.size() > 1) values[name].assign(set.begin(), set.end());
  }
  return values;
}

spec::Configuration configuration_of(const json& configuration, const std::map<std::string, std::vector<json>>& values) {
  spec::Configuration found;
  for (const auto& [name, all] : values) {
    const auto place = std::lower_bound(all.begin(), all.end(), configuration.at(name));
    found.index.push_back(static_cast<std::uint16_t>(place - all.begin()));
  }
  return found;
}

}  // namespace

std::optional<ParameterShares> parameter_shares(const std::vector<const db::RecordRow*>& records) {
  const std::vector<Timed> timed = chosen(records);
  if (timed.size() < kFewest) return std::nullopt;
  const auto values = values_of(timed);
  if (values.empty()) return std::nullopt;
  std::vector<spec::Parameter> parameters;
  for (const auto& [name, all] : values) {
    auto& parameter = parameters.emplace_back();
    parameter.name = name;
    for (const json& value : all) parameter.values.push_back(spec::value_from_json(value));
  }
  std::vector<spec::Configuration> configurations;
  for (const Timed& one : timed) configurations.push_back(configuration_of(one.configuration, values));
  const auto space = space::SearchSpace::of(parameters, configurations);
  std::vector<std::pair<space::Ordinal, double>> log_times;
  for (std::size_t i = 0; i < timed.size(); ++i) log_times.emplace_back(*space.find(configurations[i]), std::log(timed[i].time_us));

  ParameterShares shares;
  shares.learnt_from = timed.size();
  for (const auto& one : search::importance_of(space, log_times, kSeed)) {
    shares.parameters.push_back({parameters[one.parameter].name, one.share, one.low, one.high});
  }
  const bool any_told =
      std::any_of(shares.parameters.begin(), shares.parameters.end(), [](const ParameterShare& one) { return one.low >= kTold; });
  return any_told ? std::optional(shares) : std::nullopt;
}

const ParameterShare* share_of(const ProblemReport& problem, const std::string& parameter) {
  if (!problem.shares) return nullptr;
  const auto& all = problem.shares->parameters;
  const auto found = std::find_if(all.begin(), all.end(), [&](const ParameterShare& one) { return one.parameter == parameter; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> shared_parameters(const std::vector<ProblemReport>& problems) {
  std::map<std::string, double> sums;  // one that a problem lacks had one value there: none of its times
  for (const ProblemReport& problem : problems) {
    if (!problem.shares) continue;
    for (const ParameterShare& one : problem.shares->parameters) sums[one.parameter] += one.share;
  }
  std::vector<std::string> names;
  for (const auto& [name, sum] : sums) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) { return sums.at(a) > sums.at(b); });
  return names;
}

}  // namespace attune::report
