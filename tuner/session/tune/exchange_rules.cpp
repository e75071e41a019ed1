#include "tuner/session/tune/exchange_rules.hpp"

#include <fmt/core.h>

#include <string_view>
#include <utility>
#include <vector>

#include "attune/error.hpp"
#include "tuner/base/canonical_json.hpp"
#include "tuner/base/json.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/session/tune/store.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace attune::session {
namespace {

using nlohmann::json;

constexpr int kMaximumDepth = 16;  // of a detail: whoever writes it again walks it recursively

/// Whether a JSON text has a value in more than `depth` arrays and objects. One look at its characters: the parser's own way, a callback
/// for every value, takes longer than all the rest of the parsing.
bool is_deeper(std::string_view text, int depth) {
  int at = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++at > depth) return true;
    } else if (c == '}' || c == ']') {
      --at;
    }
  }
  return false;
}

/// Throws: Error naming the field when the text is no JSON object, or not as this program writes it: one meaning has one text, so that
/// equal databases export the same bytes.
json parse_object(const char* field, const std::string& text) {
  if (is_deeper(text, kMaximumDepth)) throw Error(fmt::format("the field '{}' is nested too deeply", field));
  json parsed = base::try_parse_json(text);
  if (!parsed.is_object()) throw Error(fmt::format("the field '{}' is no JSON object", field));
  if (!base::is_canonical_json(parsed, text))
    throw Error(fmt::format("the field '{}' is not in canonical form (sorted members, no spaces)", field));
  return parsed;
}

/// The types that readers of a best row's detail rely on; every member may be missing.
void check_best_detail(const json& detail) {
  const auto check = [&](const char* name, const char* wanted, auto&& fits) {
    const auto found = detail.find(name);
    if (found != detail.end() && !fits(*found)) throw Error(fmt::format("'{}' in detail_json is not {}", name, wanted));
  };
  const auto texts = [](const json& value) {
    try {
      return value.is_array() && (value.empty() || !value.get<std::vector<std::string>>().empty());
    } catch (const json::exception&) {
      return false;
    }
  };
  const auto numbers = [](const json& value) {
    try {
      return value.is_array() && (value.empty() || !value.get<std::vector<std::vector<double>>>().empty());
    } catch (const json::exception&) {
      return false;
    }
  };
  check("origin", "a text", [](const json& value) { return value.is_string(); });
  check("source_key", "a text", [](const json& value) { return value.is_string(); });
  check("work_bytes", "a number", [](const json& value) { return value.is_number(); });
  check("work_operations", "a count",
        [](const json& value) { return value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX; });
  check("metrics", "an object", [](const json& value) { return value.is_object(); });
  check("objective", "an object", [](const json& value) { return value.is_object(); });
  check("rounds", "a count", [](const json& value) { return value.is_number_unsigned(); });
  check("rounds_per_epoch", "a count", [](const json& value) { return value.is_number_unsigned(); });
  check("asked", "a list of texts", texts);
  check("round_configurations", "a list of texts", texts);
  check("rounds_us", "a list of lists of numbers", numbers);
  check("finalists", "a list", [](const json& value) { return value.is_array(); });
  check("left", "a list", [](const json& value) { return value.is_array(); });
}

void require_equal(const char* field, const std::string& given, const std::string& wanted) {
  if (given != wanted) throw Error(fmt::format("the field '{}' is {}, and its row says {}", field, given, wanted));
}

}  // namespace

const spec::Problem& ExchangeRules::require_problem(const spec::KernelTemplate& kernel, const std::string& text) {
  if (problem_ && problem_->text == text && problem_->template_hash == kernel.content_hash) return problem_->problem;
  problem_.reset();
  spec::Problem problem = spec::problem_from_text(text);
  spec::validate(kernel, problem);
  if (spec::to_text(problem) != text) throw Error(fmt::format("the problem {} is not in canonical form", text));
  problem_ = KnownProblem{kernel.content_hash, text, std::move(problem)};
  return problem_->problem;
}

const spec::Configuration& ExchangeRules::known_configuration(const spec::KernelTemplate& kernel, const std::string& text) {
  if (configurations_of_ != kernel.content_hash || configurations_.size() >= kMostConfigurations) {
    configurations_.clear();
    configurations_of_ = kernel.content_hash;
  }
  const auto known = configurations_.find(text);
  if (known != configurations_.end()) return known->second;
  spec::Configuration configuration = spec::configuration_from_text(kernel, text);
  if (spec::to_text(kernel, configuration) != text) throw Error(fmt::format("the configuration {} is not in canonical form", text));
  return configurations_.emplace(text, std::move(configuration)).first->second;
}

void ExchangeRules::require_configuration(const spec::KernelTemplate& kernel, const spec::Problem& problem, const std::string& device_key,
                                          const std::string& text) {
  if (!spec::satisfies(kernel, problem, known_configuration(kernel, text), devices_.at(device_key))) {
    throw Error(fmt::format("the configuration {} violates a constraint of template '{}' for {} on its device", text, kernel.name,
                            spec::to_text(problem)));
  }
}

void ExchangeRules::take(const db::DeviceRow& row) {
  (void)parse_object("hard_json", row.hard_json);
  const spec::DeviceInfo info = spec::DeviceInfo::from_json(parse_object("info_json", row.info_json));
  require_equal("hard_json", row.hard_json, info.hard_json());
  devices_.insert_or_assign(row.hard_key, info);
}

void ExchangeRules::take(const db::TemplateRow& row) {
  // Shards of a fleet have one template, which is not parsed again for each.
  if (const auto known = templates_.find(row.hash); known != templates_.end() && db::content_hash(row) == row.hash)
    return require_equal("name", row.name, known->second.name);
  spec::KernelTemplate kernel = spec::KernelTemplate::parse(row.spec_json, row.files, "template.json of '" + row.name + "'");
  require_equal("hash", row.hash, kernel.content_hash);
  require_equal("name", row.name, kernel.name);
  templates_.insert_or_assign(row.hash, std::move(kernel));
}

void ExchangeRules::take(const db::SessionRow& row) {
  (void)require_problem(templates_.at(row.template_hash), row.problem);
  (void)measure::policy_from_text(row.policy);
  (void)parse_object("summary_json", row.summary_json);
}

void ExchangeRules::take(const db::RecordRow& row) {
  const spec::KernelTemplate& kernel = templates_.at(row.template_hash);
  const spec::Problem& problem = require_problem(kernel, row.problem);
  (void)measure::policy_from_text(row.policy);
  require_configuration(kernel, problem, row.device_key, row.configuration);
  const measure::Measurement said = to_measurement(row, parse_object("detail_json", row.detail_json));
  require_equal("configuration", row.configuration, said.configuration);
  require_equal("outcome", row.outcome, measure::name(said.outcome));
  require_equal("stage", row.stage, measure::name(said.stage));
  const bool same = row.verified == said.verified && row.median_us == said.timing.median_us && row.low_us == said.timing.low_us &&
                    row.high_us == said.timing.high_us && row.samples == said.timing.samples;
  if (!same) throw Error("its detail_json tells another result than its fields");
  if (row.verified && !spec::has_reference(kernel)) {
    throw Error(fmt::format("it claims to be verified, and template '{}' has no reference", kernel.name));
  }
}

void ExchangeRules::take(const db::BestRow& row) {
  const spec::KernelTemplate& kernel = templates_.at(row.template_hash);
  const spec::Problem& problem = require_problem(kernel, row.problem);
  (void)measure::policy_from_text(row.policy);
  require_configuration(kernel, problem, row.device_key, row.configuration);
  require_equal("template_name", row.template_name, kernel.name);
  require_equal("family", row.family, spec::family_text(problem));
  require_equal("sizes_json", row.sizes_json, base::dump_json(json(problem.sizes)));
  check_best_detail(parse_object("detail_json", row.detail_json));
  if (row.objective != db::kTime) throw Error(fmt::format("it is best at \"{}\"; only verified times are exchanged", row.objective));
  if (!spec::has_reference(kernel)) {
    throw Error(
        fmt::format("template '{}' has no reference: nothing of it is verified, and only verified configurations are "
                    "dispatched",
                    kernel.name));
  }
}

}  // namespace attune::session
