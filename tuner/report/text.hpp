#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/report.hpp"

namespace attune::report {

inline constexpr const char* kNotRecorded = "not recorded";

/// Four significant digits without an exponent: 1.234, 12.34, 123.4, 12345.
[[nodiscard]] std::string format_number(double value);
[[nodiscard]] std::string format_gb_per_s(double bytes_per_s);
[[nodiscard]] std::string format_gflop_per_s(double operations_per_s);
[[nodiscard]] std::string format_percent(double share);      ///< "93.4 %"; below 1 % "0.05 %"
[[nodiscard]] std::string format_ratio(double ratio);        ///< "1.24×"
[[nodiscard]] std::string format_bytes(std::int64_t bytes);  ///< "60 MiB", "140.4 GiB"

/// "n = 2^20"; several as "m = 2^10, n = 2^12"; "-" without sizes.
[[nodiscard]] std::string sizes_text(const std::map<std::string, std::int64_t>& sizes);
/// "T = f32, op = sum"
[[nodiscard]] std::string choices_text(const std::map<std::string, std::string>& choices);
/// {"block_size":256,"stage":"two_pass"} -> "block_size=256, stage=two_pass". A text that is no JSON object is returned
/// as it is.
[[nodiscard]] std::string configuration_text(const std::string& json);
/// "cold/graph" -> "cold L2, CUDA graph"; an unknown policy as it is.
[[nodiscard]] std::string policy_text(const std::string& policy);
/// "compile_failed" -> "compile failed".
[[nodiscard]] std::string outcome_text(const std::string& outcome);
/// "a, b"; "not recorded" when empty.
[[nodiscard]] std::string list_text(const std::vector<std::string>& items);
/// "2026-11-20 13:17 UTC", "2026-11-20 13:17 to 13:25 UTC", or two whole dates; "not recorded" when empty.
[[nodiscard]] std::string date_text(const std::string& first, const std::string& last);

/// Whether the times were measured or replayed, in a sentence or two.
[[nodiscard]] std::string origin_statement(const Report& report);
/// "Measured ceiling: 4570 GB/s (a pure read on this device)."
[[nodiscard]] std::string ceiling_statement(const Series& series);
/// "Arithmetic peak: 66900 GFLOP/s ..." behind the ceiling's, with a space before it; empty where the series shows no operations.
[[nodiscard]] std::string peak_statement(const Series& series);
/// "1755 to 1980 MHz"; "not recorded" when no clock was read.
[[nodiscard]] std::string clock_text(const std::optional<Clocks>& clocks);
/// "12 of 340 (power_cap 12, thermal_sw 3)", `records` being all of the problem; "none"; "not recorded" when neither a
/// clock nor a reason was read.
[[nodiscard]] std::string throttle_text(const std::optional<Clocks>& clocks, std::uint64_t records);
/// "1980 MHz", "1620 MHz, throttled: power_cap"; "not recorded".
[[nodiscard]] std::string clock_text(const Best& best);
/// "gflops 1234; energy_mj, as small as possible: 1.234 (default 2.345); 350.0 W to 0.60 %"; empty where the template asks for none.
[[nodiscard]] std::string metrics_text(const Metrics& metrics);
/// Whether some problem of the series has any.
[[nodiscard]] bool shows_metrics(const Series& series);
/// What shares of parameters mean; and where there are none, why. As plain text.
[[nodiscard]] std::string shares_statement();
[[nodiscard]] std::string no_shares_statement();
/// "320 of 5712 configurations (5.6 %), 12 of them failed": what random search draws from.
[[nodiscard]] std::string course_text(const SearchCourse& course);
/// What the figures beside random search mean, and how far they may be trusted; as plain text.
[[nodiscard]] std::string course_statement();
/// Number of records of a problem whose outcome is not "ok".
[[nodiscard]] std::uint64_t failed_count(const ProblemReport& problem);
[[nodiscard]] std::uint64_t ok_count(const ProblemReport& problem);

}  // namespace attune::report
