#include "tuner/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tuner/base/json.hpp"
#include "tuner/base/text.hpp"
#include "tuner/report/rows.hpp"

namespace attune::report {

std::string format_number(double value) {
  if (value == 0 || !std::isfinite(value)) return value == 0 ? "0" : fmt::format("{}", value);
  // Rounding may carry into the next power of ten (9.9996 -> 10.00), so the exponent is that of the rounded value.
  const double magnitude = std::floor(std::log10(std::abs(value)));
  const double step = std::pow(10.0, magnitude - 3);
  const double rounded = std::round(value / step) * step;
  const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-12)), 0, 9);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string format_gb_per_s(double bytes_per_s) { return format_number(bytes_per_s / 1e9); }

std::string format_gflop_per_s(double operations_per_s) { return format_number(operations_per_s / 1e9); }

std::string format_percent(double share) {
  return std::abs(share) < 0.01 ? fmt::format("{:.2f} %", share * 100) : fmt::format("{:.1f} %", share * 100);
}

std::string format_ratio(double ratio) { return fmt::format("{:.2f}×", ratio); }

std::string format_bytes(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::int64_t scale = 1;
  std::size_t unit = 0;
  while (bytes / scale >= 1024 && unit + 1 < std::size(kUnits)) {
    scale *= 1024;
    ++unit;
  }
  if (bytes % scale == 0) return fmt::format("{} {}", bytes / scale, kUnits[unit]);
  return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(scale), kUnits[unit]);
}

std::string sizes_text(const std::map<std::string, std::int64_t>& sizes) {
  if (sizes.empty()) return "-";
  std::string text;
  for (const auto& [name, size] : sizes) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, base::format_count(size));
  }
  return text;
}

std::string choices_text(const std::map<std::string, std::string>& choices) {
  std::string text;
  for (const auto& [name, choice] : choices) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, choice);
  return text;
}

std::string configuration_text(const std::string& canonical) {
  const auto parsed = base::try_parse_json(canonical);
  if (!parsed.is_object()) return canonical;
  std::string text;
  for (const auto& [name, value] : parsed.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value.is_string() ? value.get<std::string>() : base::dump_json(value));
  }
  return text;
}

std::string policy_text(const std::string& policy) {
  if (policy == "cold/graph") return "cold L2, CUDA graph";
  if (policy == "hot/graph") return "hot L2, CUDA graph";
  if (policy == "cold/stream") return "cold L2, plain launches";
  if (policy == "hot/stream") return "hot L2, plain launches";
  return policy;
}

std::string outcome_text(const std::string& outcome) {
  std::string text = outcome;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string list_text(const std::vector<std::string>& items) {
  return items.empty() ? kNotRecorded : fmt::format("{}", fmt::join(items, ", "));
}

namespace {

std::string minute_text(const std::string& iso) {
  // "2026-11-20T13:17:05Z", with or without a fraction; anything else is shown as it is.
  if (iso.size() < 20 || iso[10] != 'T' || iso.back() != 'Z') return iso;
  return iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC";
}

}  // namespace

std::string date_text(const std::string& first, const std::string& last) {
  if (first.empty() && last.empty()) return kNotRecorded;
  if (first.empty() || last.empty()) return minute_text(first.empty() ? last : first);
  const std::string from = minute_text(first), to = minute_text(last);
  if (from == to) return from;
  constexpr std::size_t kDay = 10, kMinute = 16;  // lengths of "2026-11-20" and "2026-11-20 13:17"
  if (from.size() > kMinute && to.size() > kMinute && from.compare(0, kDay, to, 0, kDay) == 0) {
    return from.substr(0, kMinute) + " to " + to.substr(kDay + 1);
  }
  return from + " to " + to;
}

std::string origin_statement(const Report& report) {
  std::vector<std::string> recordings;
  bool measured = false;
  for (const std::string& origin : report.origins) {
    if (origin.rfind("recording:", 0) == 0) {
      recordings.push_back(recording_name(origin));
    } else {
      measured = measured || origin == "measured";
    }
  }
  if (recordings.empty() && !measured) return "How these times were obtained was not recorded.";
  std::vector<std::string> devices;
  for (const Device& device : report.devices) devices.push_back(device.name.empty() ? device.key : device.name);
  const std::string where = fmt::format("{}", fmt::join(devices, ", "));
  if (recordings.empty()) return fmt::format("Measured on {} by the tuning runs themselves.", where);
  const std::string replayed = fmt::format("replayed from a recording ({})", fmt::join(recordings, ", "));
  if (measured) return fmt::format("Partly measured on {}, partly {}.", where, replayed);
  return fmt::format("Not measured by these tuning runs but {}: the times were recorded earlier on {}.", replayed, where);
}

std::string ceiling_statement(const Series& series) {
  if (!series.ceiling) return "The bandwidth ceiling was not recorded.";
  const std::string rate = format_gb_per_s(series.ceiling->bytes_per_s);
  if (series.ceiling->kind == Ceiling::Kind::Measured) {
    return fmt::format("Bandwidth ceiling: {} GB/s, the best pure read measured on this device.", rate);
  }
  return fmt::format("Bandwidth ceiling: {} GB/s, theoretical (memory clock × bus width × 2); no measured one is recorded.", rate);
}

std::string peak_statement(const Series& series) {
  if (!shows_operations(series)) return "";
  if (!series.peak_operations_per_s) return " The arithmetic peak of the device is not known.";
  return fmt::format(" Arithmetic peak: {} GFLOP/s, theoretical, of single precision (multiprocessors × lanes × 2 × maximum SM clock).",
                     format_gflop_per_s(*series.peak_operations_per_s));
}

std::string clock_text(const std::optional<Clocks>& clocks) {
  if (!clocks || clocks->read == 0) return kNotRecorded;
  if (clocks->low_mhz == clocks->high_mhz) return fmt::format("{} MHz", clocks->low_mhz);
  return fmt::format("{} to {} MHz", clocks->low_mhz, clocks->high_mhz);
}

std::string throttle_text(const std::optional<Clocks>& clocks, std::uint64_t records) {
  if (!clocks) return kNotRecorded;
  if (clocks->throttled == 0) return "none";
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : clocks->reasons) reasons.push_back(fmt::format("{} {}", reason, count));
  return fmt::format("{} of {} ({})", clocks->throttled, records, fmt::join(reasons, ", "));
}

std::string metrics_text(const Metrics& metrics) {
  if (metrics.empty()) return "";
  std::vector<std::string> parts, values;
  for (const auto& [name, value] : metrics.values) values.push_back(fmt::format("{} {:.4g}", name, value));
  if (!values.empty()) parts.push_back(fmt::format("{}", fmt::join(values, ", ")));
  if (const auto& objective = metrics.objective) {
    const std::string standard = objective->default_value ? fmt::format(" (default {:.4g})", *objective->default_value) : "";
    parts.push_back(
        fmt::format("{}, as {} as possible: {:.4g}{}", objective->of, objective->maximise ? "large" : "small", objective->value, standard));
  }
  if (metrics.power_w)
    parts.push_back(fmt::format("{} W to {}", format_number(*metrics.power_w), format_percent(metrics.power_resolution.value_or(0))));
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool shows_metrics(const Series& series) {
  return std::any_of(series.problems.begin(), series.problems.end(),
                     [](const ProblemReport& problem) { return problem.best && !problem.best->metrics.empty(); });
}

std::string clock_text(const Best& best) {
  const std::string clock = best.sm_clock_mhz ? fmt::format("{} MHz", *best.sm_clock_mhz) : kNotRecorded;
  return best.throttle.empty() ? clock : fmt::format("{}, throttled: {}", clock, best.throttle);
}

std::string shares_statement() {
  return "The share is what part of the variance of the logarithms of the times a forest of 100 trees explains no more once the values of the "
         "parameter are mixed: 0 where it does not matter, 1 where it alone does. What two parameters do together counts for both. The interval "
         "holds eight of ten trees. Shares tell of what was measured, and a search passes over what is slow. Problems with fewer than 100 times, "
         "or of which every interval reaches 0, are left out; of more than 1000 times a random choice of so many is learnt from.";
}

std::string no_shares_statement() {
  return "Too little was measured to tell: it takes 100 configurations with a time, and one parameter at least whose interval does not reach 0.";
}

std::string course_text(const SearchCourse& course) {
  std::string text = course.space_share ? fmt::format("{} of {} configurations ({})", course.evaluations, course.space_size,
                                                      format_percent(*course.space_share))
                                        : fmt::format("{} configurations of a space whose size was {}", course.evaluations, kNotRecorded);
  if (course.evaluations > course.worked) text += fmt::format(", {} of them failed", course.evaluations - course.worked);
  return text;
}

std::string course_statement() {
  return "Best time after so many evaluations, of all that is stored in the order in which it was first measured, failures counted; beside it "
         "what as many random draws without replacement are expected to have found, computed exactly. They draw from what was measured "
         "alone: where that is a part of the space which the search chose well, random search looks better than it would in the whole "
         "space. Draws of failures alone count as the slowest that worked.";
}

std::uint64_t failed_count(const ProblemReport& problem) {
  std::uint64_t count = 0;
  for (const Failure& failure : problem.failures) count += failure.count;
  return count;
}

std::uint64_t ok_count(const ProblemReport& problem) {
  const auto found = problem.outcomes.find("ok");
  return found == problem.outcomes.end() ? 0 : found->second;
}

}  // namespace attune::report
