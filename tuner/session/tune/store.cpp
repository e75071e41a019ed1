#include "tuner/session/tune/store.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "attune/error.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/text.hpp"

namespace attune::session {
namespace {

using nlohmann::json;

/// Run-off samples out of a best row's detail.
void read_rounds(const json& detail, RecordedProblem& recorded) {
  recorded.work_bytes = detail.value("work_bytes", std::int64_t{0});
  for (const auto& configuration : detail.at("round_configurations")) recorded.finalists.push_back(configuration.get<std::string>());
  recorded.rounds_us = detail.at("rounds_us").get<std::vector<std::vector<double>>>();
  recorded.rounds_per_epoch = detail.value("rounds_per_epoch", 1);
  for (const auto& left : detail.value("left", json::array())) {
    recorded.left.push_back({left.at("configuration"), {left.at("ratio"), left.at("low"), left.at("high")}, left.at("epochs")});
  }
}

/// Beside "work_bytes", where the template states them. What lacks them says the same as rows of older versions.
void add_operations(json& to, const spec::StatedWork& work) {
  if (work.operations > 0) to["work_operations"] = work.operations;
}

std::string coverage_text(std::uint64_t measured, std::uint64_t space) {
  if (measured >= space) return "whole space";
  return fmt::format("sample: {} of {} configurations", measured, space);
}

}  // namespace

json summary_of(const RowContext& context, const ProblemResult& result) {
  json summary = {{"work_bytes", result.work.bytes},
                  {"space_size", result.space_size},
                  {"different_launches", result.different_launches},
                  {"measured", result.measured},
                  {"reused", result.reused},
                  {"failed", result.failed},
                  {"elapsed_s", result.elapsed_s},
                  {"origin", context.origin},
                  {"driver", context.driver},
                  {"nvrtc", context.nvrtc},
                  {"replayed_from", context.origin == "measured" ? "" : context.origin}};
  add_operations(summary, result.work);
  if (result.best) {
    summary["best_us"] = result.best->median_us;
    summary["default_us"] = result.best->default_us;
  }
  return summary;
}

db::RecordRow to_row(const RowContext& context, const measure::Measurement& measurement) {
  db::RecordRow row;
  row.template_hash = context.template_hash;
  row.problem = spec::to_text(context.problem);
  row.device_key = context.device_key;
  row.policy = context.policy;
  row.configuration = measurement.configuration;
  row.outcome = measure::name(measurement.outcome);
  row.stage = measure::name(measurement.stage);
  row.verified = measurement.verified;
  row.median_us = measurement.timing.median_us;
  row.low_us = measurement.timing.low_us;
  row.high_us = measurement.timing.high_us;
  row.samples = measurement.timing.samples;
  json detail = measure::to_json(measurement);
  if (context.memory_clock_khz > 0) detail[spec::kMemoryClockField] = context.memory_clock_khz;
  // A compiler log may be cut inside a character: replaced rather than refused.
  row.detail_json = base::dump_json_replacing(detail);
  row.driver = context.driver;
  row.nvrtc = context.nvrtc;
  row.recorded_at = context.measured_at.empty() ? base::utc_stamp() : context.measured_at;
  row.origin = context.origin;
  return row;
}

namespace {

template <class Read>
measure::Measurement read_measurement(const db::RecordRow& row, Read&& read) {
  try {
    return read();
  } catch (const std::exception& error) {
    throw Error(fmt::format("failed reading the record of {} for {}: {}", row.configuration, row.problem, error.what()));
  }
}

}  // namespace

measure::Measurement to_measurement(const db::RecordRow& row) {
  return read_measurement(row, [&] { return measure::measurement_from_json(base::parse_json(row.detail_json)); });
}

measure::Measurement to_measurement(const db::RecordRow& row, const json& detail) {
  return read_measurement(row, [&] { return measure::measurement_from_json(detail); });
}

std::optional<db::RecordRow> as_run_off(db::RecordRow row) {
  if (row.stage != measure::name(measure::Stage::Measured)) return std::nullopt;
  row.stage = measure::name(measure::Stage::RunOff);
  json detail = base::parse_json(row.detail_json);
  detail["stage"] = row.stage;
  row.detail_json = base::dump_json(detail);
  return row;
}

db::BestRow to_best_row(const RowContext& context, const Decided& decided, const RunOffSamples& samples, const spec::StatedWork& work,
                        const std::optional<CompiledCode>& code, const std::string& default_configuration,
                        const std::vector<std::string>& asked) {
  const Placed& winner = decided.placed.at(decided.winner);
  db::BestRow row;
  row.template_hash = context.template_hash;
  row.template_name = context.template_name;
  row.family = spec::family_text(context.problem);
  row.problem = spec::to_text(context.problem);
  row.sizes_json = base::dump_json(json(context.problem.sizes));
  row.device_key = context.device_key;
  row.policy = context.policy;
  row.objective = context.objective;
  row.configuration = winner.configuration;
  row.median_us = winner.median_us;
  row.tie = decided.tie && winner.tied;
  row.driver = context.driver;
  row.nvrtc = context.nvrtc;
  row.recorded_at = context.measured_at.empty() ? base::utc_stamp() : context.measured_at;
  if (code) row.cubin_key = code->cubin_key;
  json finalists = json::array();
  for (const auto& placed : decided.placed) {
    if (placed.configuration == default_configuration) row.default_us = placed.median_us;
    finalists.push_back({{"configuration", placed.configuration},
                         {"median_us", placed.median_us},
                         {"low_us", placed.low_us},
                         {"high_us", placed.high_us},
                         {"ratio", placed.to_best.median_ratio},
                         {"low", placed.to_best.low},
                         {"high", placed.to_best.high},
                         {"tied", placed.tied},
                         {"observations", placed.observations}});
  }
  json left = json::array();
  for (const auto& finalist : samples.left) {
    left.push_back({{"configuration", finalist.configuration},
                    {"ratio", finalist.to_best.median_ratio},
                    {"low", finalist.to_best.low},
                    {"high", finalist.to_best.high},
                    {"epochs", finalist.observations}});
  }
  json detail = {{"work_bytes", work.bytes},
                 {"rounds", samples.rounds_us.size()},
                 {"finalists", finalists},
                 {"asked", asked},
                 {"round_configurations", samples.configurations},
                 {"rounds_us", samples.rounds_us},
                 {"rounds_per_epoch", samples.rounds_per_epoch},
                 {"left", left},
                 {"origin", context.origin}};
  add_operations(detail, work);
  if (code) detail["source_key"] = code->source_key;
  if (context.memory_clock_khz > 0) detail[spec::kMemoryClockField] = context.memory_clock_khz;
  row.detail_json = base::dump_json(detail);
  return row;
}

Recording extract_recording(const db::Database& database, const spec::KernelTemplate& kernel, const std::vector<spec::Problem>& problems,
                            const std::string& device_key, const std::string& policy, const std::string& origin) {
  Recording recording;
  recording.template_name = kernel.name;
  recording.template_hash = kernel.content_hash;
  recording.policy = policy;
  for (const auto& device : database.devices()) {
    if (device.hard_key == device_key) recording.device = spec::DeviceInfo::from_json(base::parse_json(device.info_json));
  }
  std::uint64_t measured = 0, space = 0;
  for (const auto& problem : problems) {
    const db::Query query{kernel.content_hash, std::nullopt, spec::to_text(problem), device_key, policy};
    auto rows = database.records(query);
    std::erase_if(rows, [&](const auto& row) { return row.origin != origin; });
    if (rows.empty()) continue;  // the budget ended before it
    RecordedProblem recorded;
    recorded.problem = problem;
    for (const auto& row : rows) {
      recorded.measurements.push_back(to_measurement(row));
      recording.date = std::max(recording.date, row.recorded_at);
      recording.nvrtc = row.nvrtc;
    }
    for (const auto& best : database.best(query)) {
      RecordedProblem with_rounds = recorded;
      try {
        read_rounds(base::parse_json(best.detail_json), with_rounds);
        recorded = std::move(with_rounds);
      } catch (const json::exception&) {  // an imported row may say anything there
      }
    }
    std::uint64_t launches = 0;
    for (const auto& session : database.sessions(query)) {
      const json summary = base::parse_json(session.summary_json.empty() ? "{}" : session.summary_json);
      recorded.space_size = session.space_size;
      const std::int64_t different = base::member_or(summary, "different_launches", std::int64_t{0});
      if (different > 0) launches = static_cast<std::uint64_t>(different);  // a later session may not have counted
      recording.read_ceiling_bytes_per_s =
          std::max(recording.read_ceiling_bytes_per_s, base::member_or(summary, "read_ceiling_bytes_per_s", 0.0));
    }
    measured += recorded.measurements.size();
    space += launches > 0 ? launches : recorded.space_size;
    recording.problems.push_back(std::move(recorded));
  }
  if (recording.problems.empty()) {
    throw UsageError(
        fmt::format("failed recording {}: the database has a measurement of none of the {} problems; a longer --budget measures some",
                    kernel.name, problems.size()));
  }
  recording.coverage = coverage_text(measured, space);
  return recording;
}

}  // namespace attune::session
