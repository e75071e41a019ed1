#include "tuner/report/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tuner/base/json.hpp"
#include "tuner/base/roofline.hpp"
#include "tuner/report/text.hpp"

namespace attune::report {

using nlohmann::json;

namespace {

const json* find(const json& object, const std::string& path) {
  const json* at = &object;
  std::size_t begin = 0;
  while (true) {
    const std::size_t dot = path.find('.', begin);
    const std::string key = path.substr(begin, dot == std::string::npos ? dot : dot - begin);
    if (!at->is_object()) return nullptr;
    const auto member = at->find(key);
    if (member == at->end()) return nullptr;
    at = &*member;
    if (dot == std::string::npos) return at;
    begin = dot + 1;
  }
}

std::optional<std::uint64_t> count_at(const json& object, const std::string& path) {
  const auto value = integer_at(object, path);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::string field_text(const json& info, const char* key, const char* unit) {
  const json* value = find(info, key);
  if (value == nullptr || (value->is_string() && value->get<std::string>().empty())) return kNotRecorded;
  const std::string kind = unit;
  if (value->is_boolean()) return value->get<bool>() ? "yes" : "no";
  if (!value->is_number()) return value_text(*value);
  if (kind == "bytes") return format_bytes(value->get<std::int64_t>());
  // Quantities of which 0 means that the driver did not say.
  if (value->get<double>() <= 0 && !kind.empty()) return kNotRecorded;
  if (kind == "kHz") return fmt::format("{} MHz", format_number(value->get<double>() / 1000));
  return kind.empty() ? value->dump() : fmt::format("{} {}", format_number(value->get<double>()), kind);
}

}  // namespace

json parse_object(const std::string& text) {
  json parsed = base::try_parse_json(text);
  return parsed.is_object() ? parsed : json::object();
}

std::optional<double> number_at(const json& object, const std::string& path) {
  const json* value = find(object, path);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<std::int64_t> integer_at(const json& object, const std::string& path) {
  const json* value = find(object, path);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

std::string text_at(const json& object, const std::string& path) {
  const json* value = find(object, path);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::string recording_name(const std::string& origin) {
  constexpr const char* kPrefix = "recording:";
  return origin.rfind(kPrefix, 0) == 0 ? origin.substr(std::string(kPrefix).size()) : origin;
}

std::string value_text(const json& value) { return value.is_string() ? value.get<std::string>() : base::dump_json(value); }

Device read_device(const db::DeviceRow& row) {
  struct Field {
    const char* label;
    const char* key;
    const char* unit;
  };
  static constexpr Field kHard[] = {{"Backend", "backend", ""},
                                    {"Architecture", "architecture", ""},
                                    {"Multiprocessors", "sm_count", ""},
                                    {"Shared memory a block (opt-in)", "shared_optin_bytes", "bytes"},
                                    {"Registers per multiprocessor", "registers_per_sm", ""},
                                    {"L2 cache", "l2_bytes", "bytes"},
                                    {"Memory bus", "memory_bus_bits", "bit"},
                                    {"Warp size", "warp_size", ""}};
  static constexpr Field kSoft[] = {{"Name", "name", ""},
                                    {"UUID", "uuid", ""},
                                    {"Driver", "driver", ""},
                                    {"Maximum SM clock", "sm_clock_khz", "kHz"},
                                    {"Memory clock", "memory_clock_khz", "kHz"},
                                    {"Memory", "memory_bytes", "bytes"},
                                    {"Power limit", "power_limit_w", "W"},
                                    {"ECC", "ecc", ""}};
  json info = parse_object(row.hard_json);
  info.update(parse_object(row.info_json));
  Device device;
  device.key = row.hard_key;
  device.name = text_at(info, "name");
  device.driver = text_at(info, "driver");
  for (const Field& field : kHard) device.hard.emplace_back(field.label, field_text(info, field.key, field.unit));
  for (const Field& field : kSoft) device.soft.emplace_back(field.label, field_text(info, field.key, field.unit));
  const double clock_khz = number_at(info, "memory_clock_khz").value_or(0);
  const double bus_bits = number_at(info, "memory_bus_bits").value_or(0);
  // Double data rate: two transfers a clock.
  if (clock_khz > 0 && bus_bits > 0) device.theoretical_bytes_per_s = clock_khz * 1e3 * bus_bits / 8 * 2;
  const double peak = base::peak_operations_per_s(info);
  if (peak > 0) device.theoretical_operations_per_s = peak;
  return device;
}

Session read_session(const db::SessionRow& row) {
  const json summary = parse_object(row.summary_json);
  Session session;
  session.strategy = row.strategy;
  session.seed = row.seed;
  session.state = row.state;
  session.started_at = row.started_at;
  session.finished_at = row.finished_at;
  session.budget = text_at(summary, "budget");
  session.run = text_at(summary, "run");
  session.replayed_from = recording_name(text_at(summary, "replayed_from"));
  session.attune_version = text_at(summary, "attune_version");
  session.space_size = row.space_size > 0 ? row.space_size : count_at(summary, "space_size").value_or(0);
  session.different_launches = count_at(summary, "different_launches").value_or(0);
  session.measured = count_at(summary, "measured");
  session.reused = count_at(summary, "reused");
  if (const json* failed = find(summary, "failed"); failed != nullptr && failed->is_object()) {
    session.failed = 0;
    for (const auto& [outcome, count] : failed->items()) {
      if (count.is_number_unsigned()) *session.failed += count.get<std::uint64_t>();
    }
  }
  const json* points = find(summary, "convergence");
  if (points == nullptr || !points->is_array()) return session;
  for (const json& point : *points) {
    if (!point.is_array() || point.size() != 3 || !point[0].is_number_unsigned() || !point[1].is_number() || !point[2].is_number() ||
        point[2].get<double>() <= 0) {
      continue;
    }
    session.convergence.push_back({point[0].get<std::uint64_t>(), point[1].get<double>(), point[2].get<double>()});
  }
  return session;
}

Metrics read_metrics(const json& detail) {
  Metrics metrics;
  if (const json* values = find(detail, "metrics"); values != nullptr && values->is_object()) {
    for (const auto& [name, value] : values->items())
      if (value.is_number()) metrics.values.emplace(name, value.get<double>());
  }
  metrics.power_w = number_at(detail, "power.watts");
  metrics.power_resolution = number_at(detail, "power.resolution");
  const auto value = number_at(detail, "objective.value");
  if (!value) return metrics;
  const json* maximise = find(detail, "objective.maximise");
  metrics.objective = {text_at(detail, "objective.of"), maximise != nullptr && maximise->is_boolean() && maximise->get<bool>(), *value,
                       number_at(detail, "objective.default")};
  return metrics;
}

Best read_best(const db::BestRow& row) {
  const json detail = parse_object(row.detail_json);
  Best best;
  best.configuration = row.configuration;
  best.median_us = row.median_us;
  if (row.default_us > 0) best.default_us = row.default_us;
  if (row.default_us > 0 && row.median_us > 0) best.speed_up = row.default_us / row.median_us;
  best.tie = row.tie;
  best.recorded_at = row.recorded_at;
  best.driver = row.driver;
  best.rounds = count_at(detail, "rounds");
  best.metrics = read_metrics(detail);
  const json* finalists = find(detail, "finalists");
  if (finalists == nullptr || !finalists->is_array()) return best;
  for (const json& item : *finalists) {
    const auto median_us = number_at(item, "median_us"), ratio = number_at(item, "ratio");
    if (!median_us || !ratio) continue;
    const Finalist& finalist = best.finalists.emplace_back(
        Finalist{text_at(item, "configuration"), *median_us, number_at(item, "low_us"), number_at(item, "high_us"), *ratio,
                 number_at(item, "low").value_or(*ratio), number_at(item, "high").value_or(*ratio)});
    if (finalist.configuration != row.configuration || !finalist.low_us || !finalist.high_us) continue;
    best.low_us = finalist.low_us;
    best.high_us = finalist.high_us;
  }
  return best;
}

void add_measurement(Best& best, const db::RecordRow& row) {
  const json detail = parse_object(row.detail_json);
  best.verified = row.verified;
  // Without the run-off's own interval that of the search serves, where it is one of the published time at all.
  const bool covers = row.low_us > 0 && row.low_us <= best.median_us && best.median_us <= row.high_us;
  if (!best.low_us && covers) {
    best.low_us = row.low_us;
    best.high_us = row.high_us;
  }
  best.registers = integer_at(detail, "resources.registers");
  best.shared_bytes = integer_at(detail, "resources.shared_bytes");
  best.spill_bytes = integer_at(detail, "resources.spill_bytes");
  best.occupancy = number_at(detail, "resources.occupancy");
  const auto clock_mhz = integer_at(detail, "sm_clock_mhz");
  if (clock_mhz && *clock_mhz > 0) best.sm_clock_mhz = clock_mhz;
  best.throttle = text_at(detail, "throttle");
}

void add_clock(std::optional<Clocks>& clocks, const db::RecordRow& row) {
  const json detail = parse_object(row.detail_json);
  const auto clock_mhz = integer_at(detail, "sm_clock_mhz").value_or(0);
  const std::string throttle = text_at(detail, "throttle");
  if (clock_mhz <= 0 && throttle.empty()) return;
  if (!clocks) clocks.emplace();
  if (clock_mhz > 0) {
    clocks->low_mhz = clocks->read == 0 ? clock_mhz : std::min(clocks->low_mhz, clock_mhz);
    clocks->high_mhz = std::max(clocks->high_mhz, clock_mhz);
    ++clocks->read;
  }
  if (throttle.empty()) return;
  ++clocks->throttled;
  std::istringstream reasons(throttle);
  for (std::string reason; std::getline(reasons, reason, ',');) ++clocks->reasons[reason];
}

std::string failure_detail(const db::RecordRow& row) { return text_at(parse_object(row.detail_json), "detail"); }

ProblemParts read_problem(const std::string& text) {
  ProblemParts parts;
  const json problem = parse_object(text);
  for (const auto& [axis, value] : problem.items()) {
    if (value.is_number_integer()) {
      parts.sizes[axis] = value.get<std::int64_t>();
    } else {
      parts.choices[axis] = value_text(value);
    }
  }
  return parts;
}

std::vector<DeclaredParameter> read_parameters(const std::string& spec_json) {
  // Ordered: parameters are shown in the order in which the template declares them. Templates may hold comments.
  const auto spec = nlohmann::ordered_json::parse(spec_json, nullptr, false, true);
  std::vector<DeclaredParameter> parameters;
  if (!spec.is_object() || !spec.contains("parameters") || !spec["parameters"].is_object()) return parameters;
  for (const auto& [name, declaration] : spec["parameters"].items()) {
    DeclaredParameter parameter;
    parameter.name = name;
    if (declaration.is_object() && declaration.contains("values") && declaration["values"].is_array()) {
      for (const auto& value : declaration["values"]) parameter.values.push_back(value_text(value));
    }
    if (declaration.is_object() && declaration.contains("default")) {
      parameter.default_value = value_text(declaration["default"]);
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

}  // namespace attune::report
