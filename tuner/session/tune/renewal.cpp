#include "tuner/session/tune/renewal.hpp"

#include <fmt/core.h>

#include <map>
#include <tuple>

#include "attune/error.hpp"
#include "tuner/session/tune/session.hpp"

namespace attune::session {
namespace {

/// One problem, by the row of it that is nearest to the present.
struct RenewalCase {
  spec::Problem problem;
  std::string won;
  bool version = true, driver = true, compiler = true;  ///< another than now

  [[nodiscard]] bool is_current() const { return !version && !driver && !compiler; }
  [[nodiscard]] auto distance() const { return std::make_tuple(version, driver, compiler); }
};

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

void add_renewal(RenewalPlan& plan, const RenewalKey& key, RenewalCase one) {
  if (one.is_current()) {
    ++plan.current;
    return;
  }
  const auto& [template_name, policy, problem] = key;
  auto& renewal = renewal_of(plan.renewals, template_name, policy);
  renewal.problems.push_back(std::move(one.problem));
  renewal.won.emplace(problem, std::move(one.won));
  renewal.of_another_version += one.version ? 1 : 0;
  renewal.of_another_driver += one.driver ? 1 : 0;
  renewal.of_another_compiler += one.compiler ? 1 : 0;
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

RenewalPlan plan_renewal(const std::vector<db::BestRow>& rows, const Present& present) {
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
      RenewalCase one{problem_of_now(*kernel, row.problem), row.configuration, row.template_hash != kernel->content_hash,
                      is_another(row.driver, present.driver), is_another(row.nvrtc, present.nvrtc)};
      const RenewalKey key{row.template_name, row.policy, spec::to_text(one.problem)};
      const auto [at, added] = cases.emplace(key, one);
      if (!added && one.distance() < at->second.distance()) at->second = std::move(one);
    } catch (const Error& error) {
      impossible[{row.template_name, row.problem}] = error.what();
    }
  }
  for (auto& [key, one] : cases) add_renewal(plan, key, std::move(one));
  for (auto& [of, why] : impossible) plan.impossible.push_back({of.first, of.second, std::move(why)});
  return plan;
}

}  // namespace attune::session
