#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/report.hpp"

namespace attune::report {

/// The JSON texts of database rows, read so that a field that is missing or has another type is simply not recorded:
/// older versions wrote fewer of them.

/// An object; an empty one when the text holds none.
[[nodiscard]] nlohmann::json parse_object(const std::string& text);
/// The member at `path` ("timing.median_us").
[[nodiscard]] std::optional<double> number_at(const nlohmann::json& object, const std::string& path);
[[nodiscard]] std::optional<std::int64_t> integer_at(const nlohmann::json& object, const std::string& path);
[[nodiscard]] std::string text_at(const nlohmann::json& object, const std::string& path);

[[nodiscard]] Device read_device(const db::DeviceRow& row);
[[nodiscard]] Session read_session(const db::SessionRow& row);
/// The members "metrics", "objective" and "power" of a best row's detail.
[[nodiscard]] Metrics read_metrics(const nlohmann::json& detail);
/// Everything of `Best` that the row itself tells; times per byte are filled in by `build`.
[[nodiscard]] Best read_best(const db::BestRow& row);
/// Verification and resources of the measurement of the best configuration; its interval where the row had none.
void add_measurement(Best& best, const db::RecordRow& row);
/// Counts the record's clock and throttle reasons, where it has them.
void add_clock(std::optional<Clocks>& clocks, const db::RecordRow& row);
/// "recording:reduce.json.zst" -> "reduce.json.zst"; other texts as they are.
[[nodiscard]] std::string recording_name(const std::string& origin);
/// Why this measurement failed.
[[nodiscard]] std::string failure_detail(const db::RecordRow& row);
/// A problem of canonical JSON, taken apart: integers are sizes, strings are choices.
struct ProblemParts {
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, std::string> choices;
};
[[nodiscard]] ProblemParts read_problem(const std::string& json);

/// Parameters as a template declares them, for the order of tables and the mark of defaults.
struct DeclaredParameter {
  std::string name;
  std::vector<std::string> values;
  std::string default_value;
};
[[nodiscard]] std::vector<DeclaredParameter> read_parameters(const std::string& spec_json);
/// One value of a configuration as text: strings bare, the rest as JSON.
[[nodiscard]] std::string value_text(const nlohmann::json& value);

}  // namespace attune::report
