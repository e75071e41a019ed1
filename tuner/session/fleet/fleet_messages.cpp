#include "tuner/session/fleet/fleet_messages.hpp"

#include "tuner/base/json.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/spec/condition.hpp"
#include "tuner/spec/kernel_message.hpp"

namespace attune::session::messages {
namespace {

using nlohmann::json;

Utilisation utilisation_from(const json& message) {
  Utilisation to;
  to.wall_s = message.at("wall_s");
  to.gpu_busy_s = message.at("gpu_busy_s");
  to.verifying_s = message.at("verifying_s");
  to.compile_busy_s = message.at("compile_busy_s");
  to.compile_workers = message.at("compile_workers");
  to.compilations = message.at("compilations");
  to.idle_waiting_compile_s = message.at("idle_waiting_compile_s");
  to.recovering_s = message.at("recovering_s");
  to.idle_other_s = message.at("idle_other_s");
  to.searching_s = message.at("searching_s");
  return to;
}

json restricted(const std::optional<ProblemResult::Restricted>& from) {
  if (!from) return nullptr;
  return {{"size", from->size}, {"configuration", from->configuration}, {"median_us", from->median_us}};
}

}  // namespace

json hello(const spec::KernelTemplate& kernel, const TuneRequest& request, const DeviceSettings& settings,
           const std::filesystem::path& database) {
  json message = {{"type", "hello"}, {"database", database.string()}};
  spec::add_kernel(message, kernel);
  message["request"] = {{"strategy", search::name(request.strategy)},
                        {"seed", request.seed},
                        {"budget", request.budget.text()},
                        {"policy", measure::to_text(request.policy)},
                        {"run", request.run},
                        {"retry_failed", request.retry_failed},
                        {"most_finalists", request.finalists.most},
                        {"finalists_grow", request.finalists.grows},
                        {"most_epochs", request.race.most},
                        {"renew", request.renew}};
  message["request"]["where"] = json::array();
  for (const auto& condition : request.where) {
    const auto& at = condition.expression.position();
    message["request"]["where"].push_back({condition.expression.text(), at.file, at.line, at.column});
  }
  message["request"]["also_try"] = json::array();
  for (const auto& path : request.also_try) message["request"]["also_try"].push_back(path.string());
  message["settings"] = {{"ordinal", settings.ordinal},           {"compile_workers", settings.compile_workers},
                         {"cache", settings.cache.string()},      {"timing_cpus", settings.timing_cpus},
                         {"compile_cpus", settings.compile_cpus}, {"compile_deadline_ms", settings.compile_deadline.count()}};
  return message;
}

Hello hello_from(const json& message) {
  Hello hello;
  hello.kernel = spec::kernel_of(message);
  hello.database = message.at("database").get<std::string>();
  const json& request = message.at("request");
  hello.request.strategy = search::strategy_named(request.at("strategy"));
  hello.request.seed = request.at("seed");
  hello.request.budget = Budget::parse(request.at("budget").get<std::string>());
  hello.request.policy = measure::policy_from_text(request.at("policy"));
  hello.request.run = request.at("run");
  hello.request.retry_failed = request.at("retry_failed");
  hello.request.renew = request.at("renew");
  hello.request.finalists = FinalistRule::of_at_most(request.at("most_finalists"));
  hello.request.finalists.grows = request.at("finalists_grow");
  hello.request.race = Race::Options::of_at_most(request.at("most_epochs"));
  for (const auto& condition : request.at("where")) {
    hello.request.where.push_back(
        spec::parse_condition(hello.kernel, condition.at(0).get<std::string>(), {condition.at(1), condition.at(2), condition.at(3)}));
  }
  for (const auto& path : request.at("also_try")) hello.request.also_try.emplace_back(path.get<std::string>());
  const json& settings = message.at("settings");
  hello.settings.ordinal = settings.at("ordinal");
  hello.settings.compile_workers = settings.at("compile_workers");
  hello.settings.cache = settings.at("cache").get<std::string>();
  hello.settings.timing_cpus = settings.at("timing_cpus").get<std::vector<int>>();
  hello.settings.compile_deadline = std::chrono::milliseconds(settings.at("compile_deadline_ms").get<std::int64_t>());
  hello.settings.compile_cpus = settings.at("compile_cpus").get<std::vector<int>>();
  return hello;
}

json progress(const Progress& progress) {
  return {{"event", "progress"},       {"done", progress.done},       {"total", progress.total},        {"reused", progress.reused},
          {"failed", progress.failed}, {"best_us", progress.best_us}, {"used", to_json(progress.used)}, {"waits_for", progress.waits_for}};
}

Progress progress_from(const json& message, const spec::Problem& problem) {
  Progress progress;
  progress.problem = &problem;
  progress.done = message.at("done");
  progress.total = message.at("total");
  progress.reused = message.at("reused");
  progress.failed = message.at("failed");
  progress.best_us = message.at("best_us");
  progress.used = utilisation_from(message.at("used"));
  progress.waits_for = message.at("waits_for");
  return progress;
}

json result(const char* event, const ProblemResult& result) {
  json examples = json::object();
  for (const auto& [outcome, example] : result.failure_examples) {
    // A compiler log may be cut inside a character.
    examples[outcome] = {{"configuration", example.configuration}, {"detail", base::json_of_bytes(example.detail)}};
  }
  return {{"event", event},
          {"problem", spec::to_text(result.problem)},
          {"space_size", result.space_size},
          {"different_launches", result.different_launches},
          {"measured", result.measured},
          {"reused", result.reused},
          {"failed", result.failed},
          {"examples", std::move(examples)},
          {"nothing_left", result.nothing_left},
          {"former_stays", result.former_stays},
          {"work_bytes", result.work.bytes},
          {"work_operations", result.work.operations},
          {"elapsed_s", result.elapsed_s},
          {"utilisation", to_json(result.utilisation)},
          {"restricted", restricted(result.restricted)}};
}

ProblemResult result_from(const json& message) {
  ProblemResult result;
  result.problem = spec::problem_from_text(message.at("problem"));
  result.space_size = message.at("space_size");
  result.different_launches = message.at("different_launches");
  result.measured = message.at("measured");
  result.reused = message.at("reused");
  result.failed = message.at("failed").get<std::map<std::string, std::uint64_t>>();
  for (const auto& [outcome, example] : message.at("examples").items()) {
    result.failure_examples[outcome] = {example.at("configuration"), base::bytes_of_json(example.at("detail"))};
  }
  result.nothing_left = message.at("nothing_left");
  result.former_stays = message.at("former_stays");
  result.work = {message.at("work_bytes"), message.at("work_operations")};
  result.elapsed_s = message.at("elapsed_s");
  result.utilisation = utilisation_from(message.at("utilisation"));
  if (const json& from = message.at("restricted"); !from.is_null()) {
    result.restricted = ProblemResult::Restricted{from.at("size"), from.at("configuration"), from.at("median_us")};
  }
  return result;
}

}  // namespace attune::session::messages
