#include "tuner/session/tune/renewal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <vector>

#include "attune/error.hpp"
#include "tuner/session/tune/session.hpp"

namespace attune::session {
namespace {

/// One problem, by the row of it that is nearest to the present.
struct RenewalCase {
  spec::Problem problem;
  std::string won;
  bool version = true, driver = true, compiler = true;  ///< another than now
  bool older = false;                                   ///< the driver's or the compiler's
  std::string recorded_at;

  [[nodiscard]] bool is_current() const { return !version && !driver && !compiler; }
  [[nodiscard]] bool has_aged() const { return !version && older; }
  [[nodiscard]] auto distance() const { return std::make_tuple(version, driver, compiler); }
};

bool is_meant(const RenewalCase& one, const RenewalScope& scope) {
  if (scope.aged && !one.has_aged()) return false;
  // Dates with a fraction of a second and without it compare as texts once their last letter is off.
  const auto moment = [](const std::string& date) { return date.substr(0, date.find('Z')); };
  return scope.recorded_before.empty() || moment(one.recorded_at) < moment(scope.recorded_before);
}

using RenewalKey = std::tuple<std::string, std::string, std::string>;  ///< template, policy, problem

/// In the form of now. Throws: UsageError when the template cannot be asked this any more.
spec::Problem problem_of_now(const spec::KernelTemplate& kernel, const std::string& text) {
  auto problem = spec::canonical(kernel, spec::problem_from_text(text));
  spec::validate(kernel, problem);
  refuse_nothing(problem);
  return problem;
}

/// Cases come in the order of their keys.
Renewal& renewal_of(std::vector<Renewal>& renewals, const std::string& template_name, const std::string& policy) {
  if (!renewals.empty() && renewals.back().template_name == template_name && renewals.back().policy == policy) return renewals.back();
  Renewal renewal;
  renewal.template_name = template_name;
  renewal.policy = policy;
  return renewals.emplace_back(std::move(renewal));
}

void add_renewal(RenewalPlan& plan, const RenewalKey& key, RenewalCase one, const RenewalScope& scope) {
  if (one.is_current() || !is_meant(one, scope)) {
    ++(one.is_current() ? plan.current : plan.out_of_scope);
    return;
  }
  const auto& [template_name, policy, problem] = key;
  auto& renewal = renewal_of(plan.renewals, template_name, policy);
  renewal.problems.push_back(std::move(one.problem));
  renewal.won.emplace(problem, std::move(one.won));
  renewal.of_another_version += one.version ? 1 : 0;
  renewal.of_another_driver += one.driver ? 1 : 0;
  renewal.of_another_compiler += one.compiler ? 1 : 0;
  renewal.aged += one.has_aged() ? 1 : 0;
}

/// The numbers that a version begins with: {580, 159, 4} of "580.159.04". Empty: it begins with none, or with one that is too long.
std::vector<std::uint64_t> numbers_of(const std::string& version) {
  std::vector<std::uint64_t> numbers;
  const char* at = version.data();
  const char* const end = at + version.size();
  while (true) {
    std::uint64_t number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return error == std::errc::invalid_argument ? numbers : std::vector<std::uint64_t>();
    numbers.push_back(number);
    if (stop == end || *stop != '.') return numbers;
    at = stop + 1;
  }
}

/// A template of now, or why there is none.
struct KnownTemplate {
  std::optional<spec::KernelTemplate> kernel;
  std::string why;
};

KnownTemplate look_for(const Present& present, const std::string& name) {
  try {
    return {present.find(name), "no template of this name is found; name the folder that it lies in with --template-folder"};
  } catch (const Error& error) {  // one that cannot be read keeps no other from being renewed
    return {std::nullopt, error.what()};
  }
}

}  // namespace

bool is_older(const std::string& recorded, const std::string& current) {
  const auto begin = [](const std::string& version) { return std::min(version.find_first_of("0123456789"), version.size()); };
  const std::string word = recorded.substr(0, begin(recorded));
  if (word != current.substr(0, begin(current))) return false;
  const auto before = numbers_of(recorded.substr(word.size())), now = numbers_of(current.substr(word.size()));
  return !before.empty() && !now.empty() && before < now;
}

RenewalPlan plan_renewal(const std::vector<db::BestRow>& rows, const Present& present, const RenewalScope& scope) {
  RenewalPlan plan;
  std::map<std::string, KnownTemplate> templates;
  std::map<RenewalKey, RenewalCase> cases;
  std::map<std::pair<std::string, std::string>, std::string> impossible;  // why, by template and problem
  for (const auto& row : rows) {
    if (row.device_key != present.device_key) {
      ++plan.of_other_devices;
      continue;
    }
    auto known = templates.find(row.template_name);
    if (known == templates.end()) known = templates.emplace(row.template_name, look_for(present, row.template_name)).first;
    const auto& [kernel, why] = known->second;
    if (!kernel) {
      impossible[{row.template_name, row.problem}] = why;
      continue;
    }
    try {
      RenewalCase one{problem_of_now(*kernel, row.problem),
                      row.configuration,
                      row.template_hash != kernel->content_hash,
                      is_another(row.driver, present.driver),
                      is_another(row.nvrtc, present.nvrtc),
                      is_older(row.driver, present.driver) || is_older(row.nvrtc, present.nvrtc),
                      row.recorded_at};
      const RenewalKey key{row.template_name, row.policy, spec::to_text(one.problem)};
      const auto [at, added] = cases.emplace(key, one);
      if (!added && one.distance() < at->second.distance()) at->second = std::move(one);
    } catch (const Error& error) {
      impossible[{row.template_name, row.problem}] = error.what();
    }
  }
  for (auto& [key, one] : cases) add_renewal(plan, key, std::move(one), scope);
  for (auto& [of, why] : impossible) plan.impossible.push_back({of.first, of.second, std::move(why)});
  return plan;
}

}  // namespace attune::session
