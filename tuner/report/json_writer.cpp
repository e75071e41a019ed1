#include <nlohmann/json.hpp>

#include "tuner/base/escape.hpp"
#include "tuner/report/writers.hpp"

namespace attune::report {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_json(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json fields_json(const std::vector<std::pair<std::string, std::string>>& fields) {
  Json object = Json::object();
  for (const auto& [label, value] : fields) object[label] = value;
  return object;
}

Json device_json(const Device& device) {
  return {{"key", device.key},
          {"name", text_json(device.name)},
          {"driver", text_json(device.driver)},
          {"identity", fields_json(device.hard)},
          {"described_by", fields_json(device.soft)},
          {"theoretical_bytes_per_s", optional_json(device.theoretical_bytes_per_s)},
          {"theoretical_operations_per_s", optional_json(device.theoretical_operations_per_s)}};
}

/// Null where the template asks for none.
Json metrics_json(const Metrics& metrics) {
  if (metrics.empty()) return nullptr;
  Json objective = nullptr;
  if (const auto& of = metrics.objective)
    objective = {{"of", of->of}, {"maximise", of->maximise}, {"value", of->value}, {"default", optional_json(of->default_value)}};
  return {{"values", metrics.values},
          {"objective", objective},
          {"power_w", optional_json(metrics.power_w)},
          {"power_resolution", optional_json(metrics.power_resolution)}};
}

Json best_json(const Best& best) {
  Json finalists = Json::array();
  for (const Finalist& finalist : best.finalists) {
    finalists.push_back({{"configuration", finalist.configuration},
                         {"median_us", finalist.median_us},
                         {"low_us", optional_json(finalist.low_us)},
                         {"high_us", optional_json(finalist.high_us)},
                         {"ratio", finalist.ratio},
                         {"low", finalist.low},
                         {"high", finalist.high}});
  }
  return {{"configuration", best.configuration},
          {"median_us", best.median_us},
          {"low_us", optional_json(best.low_us)},
          {"high_us", optional_json(best.high_us)},
          {"default_us", optional_json(best.default_us)},
          {"speed_up", optional_json(best.speed_up)},
          {"bytes_per_s", optional_json(best.bytes_per_s)},
          {"ceiling_share", optional_json(best.ceiling_share)},
          {"operations_per_s", optional_json(best.operations_per_s)},
          {"peak_share", optional_json(best.peak_share)},
          {"tie", best.tie},
          {"verified", best.verified},
          {"recorded_at", text_json(best.recorded_at)},
          {"driver", text_json(best.driver)},
          {"registers", optional_json(best.registers)},
          {"shared_bytes", optional_json(best.shared_bytes)},
          {"spill_bytes", optional_json(best.spill_bytes)},
          {"occupancy", optional_json(best.occupancy)},
          {"sm_clock_mhz", optional_json(best.sm_clock_mhz)},
          {"throttle", text_json(best.throttle)},
          {"run_off_rounds", optional_json(best.rounds)},
          {"metrics", metrics_json(best.metrics)},
          {"finalists", finalists}};
}

Json failures_json(const std::vector<Failure>& failures) {
  Json list = Json::array();
  for (const Failure& failure : failures) {
    list.push_back({{"outcome", failure.outcome},
                    {"count", failure.count},
                    {"example_configuration", failure.example_configuration},
                    {"example_detail", text_json(failure.example_detail)}});
  }
  return list;
}

Json clocks_json(const Clocks& clocks) {
  return {{"read", clocks.read},
          {"low_mhz", clocks.read > 0 ? Json(clocks.low_mhz) : Json(nullptr)},
          {"high_mhz", clocks.read > 0 ? Json(clocks.high_mhz) : Json(nullptr)},
          {"throttled", clocks.throttled},
          {"reasons", clocks.reasons}};
}

Json effects_json(const std::vector<ParameterEffect>& effects) {
  Json list = Json::array();
  for (const ParameterEffect& effect : effects) {
    Json values = Json::array();
    for (const ValueEffect& value : effect.values) {
      values.push_back({{"value", value.value},
                        {"default", value.is_default},
                        {"configurations", value.configurations},
                        {"timed", value.timed},
                        {"best_ratio", optional_json(value.best_ratio)},
                        {"median_ratio", optional_json(value.median_ratio)}});
    }
    list.push_back({{"parameter", effect.parameter}, {"values", values}});
  }
  return list;
}

Json shares_json(const ParameterShares& shares) {
  Json list = Json::array();
  for (const ParameterShare& one : shares.parameters) {
    list.push_back({{"parameter", one.parameter}, {"share", one.share}, {"low", one.low}, {"high", one.high}});
  }
  return {{"learnt_from", shares.learnt_from}, {"parameters", list}};
}

Json points_json(const std::vector<CoursePoint>& points) {
  Json list = Json::array();
  for (const CoursePoint& point : points) list.push_back(Json::array({point.evaluations, optional_json(point.best_us), point.random_us}));
  return list;
}

Json course_json(const SearchCourse& course) {
  return {{"evaluations", course.evaluations},
          {"worked", course.worked},
          {"space_size", course.space_size == 0 ? Json(nullptr) : Json(course.space_size)},
          {"space_share", optional_json(course.space_share)},
          {"points", points_json(course.points)},
          {"curve", points_json(course.curve)}};
}

Json session_json(const Session& session) {
  Json points = Json::array();
  for (const ConvergencePoint& point : session.convergence) {
    points.push_back(Json::array({point.evaluations, point.elapsed_s, point.best_us}));
  }
  return {{"strategy", text_json(session.strategy)},
          {"seed", session.seed},
          {"state", text_json(session.state)},
          {"budget", text_json(session.budget)},
          {"run", text_json(session.run)},
          {"started_at", text_json(session.started_at)},
          {"finished_at", text_json(session.finished_at)},
          {"replayed_from", text_json(session.replayed_from)},
          {"attune_version", text_json(session.attune_version)},
          {"space_size", session.space_size == 0 ? Json(nullptr) : Json(session.space_size)},
          {"different_launches", session.different_launches == 0 ? Json(nullptr) : Json(session.different_launches)},
          {"measured", optional_json(session.measured)},
          {"reused", optional_json(session.reused)},
          {"failed", optional_json(session.failed)},
          {"convergence", points}};
}

Json ladder_json(const Ladder& ladder) {
  Json rungs = Json::array(), tables = Json::array(), peers = Json::array();
  for (const LadderRung& rung : ladder.rungs) {
    Json published = Json::array();
    for (const LadderFigure& figure : rung.published) {
      published.push_back({{"text", figure.text}, {"hardware", figure.hardware}, {"source", figure.source}});
    }
    rungs.push_back({{"name", rung.name},
                     {"why", text_json(rung.why)},
                     {"where", text_json(rung.where)},
                     {"configurations", rung.configurations},
                     {"decided", optional_json(rung.decided)},
                     {"failed", rung.failed},
                     {"configuration", text_json(rung.configuration)},
                     {"median_us", optional_json(rung.median_us)},
                     {"ratio", optional_json(rung.ratio)},
                     {"step", optional_json(rung.step)},
                     {"bytes_per_s", optional_json(rung.bytes_per_s)},
                     {"ceiling_share", optional_json(rung.ceiling_share)},
                     {"operations_per_s", optional_json(rung.operations_per_s)},
                     {"peak_share", optional_json(rung.peak_share)},
                     {"screened", rung.screened},
                     {"published", published}});
  }
  for (const LadderTable& table : ladder.tables) {
    Json cells = Json::array();
    for (const auto& [value, us] : table.cells) cells.push_back({{"value", value}, {"median_us", us}});
    tables.push_back({{"parameter", table.parameter}, {"rung", table.rung}, {"cells", cells}});
  }
  for (const LadderPeer& peer : ladder.peers) {
    peers.push_back({{"name", peer.name},
                     {"median_us", peer.median_us},
                     {"version", text_json(peer.version)},
                     {"driver", text_json(peer.driver)},
                     {"date", text_json(peer.date)}});
  }
  return {{"ran_off", ladder.ran_off},
          {"finished_at", text_json(ladder.finished_at)},
          {"ceiling_bytes_per_s", optional_json(ladder.ceiling_bytes_per_s)},
          {"rungs", rungs},
          {"tables", tables},
          {"peers", peers}};
}

Json problem_json(const ProblemReport& problem) {
  Json sessions = Json::array();
  for (const Session& session : problem.sessions) sessions.push_back(session_json(session));
  return {{"problem", problem.problem},
          {"sizes", problem.sizes},
          {"work_bytes", optional_json(problem.work_bytes)},
          {"work_operations", optional_json(problem.work_operations)},
          {"space_size", problem.space_size == 0 ? Json(nullptr) : Json(problem.space_size)},
          {"different_launches", problem.different_launches == 0 ? Json(nullptr) : Json(problem.different_launches)},
          {"best", problem.best ? best_json(*problem.best) : Json(nullptr)},
          {"outcomes", problem.outcomes},
          {"failures", failures_json(problem.failures)},
          {"clocks", problem.clocks ? clocks_json(*problem.clocks) : Json(nullptr)},
          {"effects", effects_json(problem.effects)},
          {"shares", problem.shares ? shares_json(*problem.shares) : Json(nullptr)},
          {"course", problem.course ? course_json(*problem.course) : Json(nullptr)},
          {"sessions", sessions},
          {"ladder", problem.ladder ? ladder_json(*problem.ladder) : Json(nullptr)},
          {"convergence_session", optional_json(problem.convergence_session)},
          {"drivers", problem.drivers},
          {"nvrtc", problem.nvrtcs},
          {"origins", problem.origins},
          {"first_recorded_at", text_json(problem.first_recorded_at)},
          {"last_recorded_at", text_json(problem.last_recorded_at)}};
}

Json series_json(const Series& series) {
  Json problems = Json::array();
  for (const ProblemReport& problem : series.problems) problems.push_back(problem_json(problem));
  Json ceiling = nullptr;
  if (series.ceiling) ceiling = {{"bytes_per_s", series.ceiling->bytes_per_s}, {"kind", name(series.ceiling->kind)}};
  return {{"device", series.device},
          {"policy", series.policy},
          {"choices", series.choices},
          {"ceiling", ceiling},
          {"peak_operations_per_s", optional_json(series.peak_operations_per_s)},
          {"shows_operations", shows_operations(series)},
          {"problems", problems}};
}

}  // namespace

std::string write_json(const Report& report) {
  Json devices = Json::array(), series = Json::array();
  for (const Device& device : report.devices) devices.push_back(device_json(device));
  for (const Series& one : report.series) series.push_back(series_json(one));
  const Json root = {{"attune_report", 1},
                     {"generated_at", report.generated_at},
                     {"template", {{"name", report.template_name}, {"hash", report.template_hash}, {"summary", text_json(report.summary)}}},
                     {"records", report.records},
                     {"records_of_other_versions", report.other_hash_records},
                     {"drivers", report.drivers},
                     {"nvrtc", report.nvrtcs},
                     {"origins", report.origins},
                     {"attune_versions", report.attune_versions},
                     {"first_recorded_at", text_json(report.first_recorded_at)},
                     {"last_recorded_at", text_json(report.last_recorded_at)},
                     {"devices", devices},
                     {"series", series}};
  // A compiler log in a failure's detail may hold bytes that are no UTF-8.
  // What acts on a terminal is a JSON escape, which means the same text.
  return base::escape_json(root.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace attune::report
