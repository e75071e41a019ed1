#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/database.hpp"

namespace attune::report {

/// The report model: plain data, the same for every writer. An empty optional or string means "not recorded".

/// Bandwidth that a problem is compared with.
struct Ceiling {
  enum class Kind {
    Measured,     ///< a pure read, measured on the device by a session
    Theoretical,  ///< memory clock x bus width x 2
  };
  double bytes_per_s = 0;
  Kind kind = Kind::Measured;
};
[[nodiscard]] const char* name(Ceiling::Kind kind);  ///< "measured", "theoretical"

struct Device {
  std::string key;
  std::string name;
  std::string driver;
  std::vector<std::pair<std::string, std::string>> hard;  ///< (field, value) of the identity that records are keyed by
  std::vector<std::pair<std::string, std::string>> soft;  ///< (field, value) that is only shown
  std::optional<double> theoretical_bytes_per_s;
  std::optional<double> theoretical_operations_per_s;  ///< of the single-precision units (base/roofline.hpp)
};

/// One value of a parameter, over the configurations of one problem that ran and verified.
struct ValueEffect {
  std::string value;
  bool is_default = false;
  std::uint64_t configurations = 0;    ///< with this value, of any outcome
  std::uint64_t timed = 0;             ///< of them, those with a time
  std::optional<double> best_ratio;    ///< fastest with this value / fastest of all
  std::optional<double> median_ratio;  ///< median over `timed` / fastest of all
};

struct ParameterEffect {
  std::string parameter;
  std::vector<ValueEffect> values;  ///< in the template's order
};

/// The part of the variance of the logarithms of the times that a forest explains no more once the values of one parameter are mixed: 0
/// where it does not matter, 1 where it alone does. What two parameters do together counts for both.
struct ParameterShare {
  std::string parameter;
  double share = 0;
  double low = 0, high = 0;  ///< eight of ten trees lie between them
};

struct ParameterShares {
  std::uint64_t learnt_from = 0;           ///< configurations with a time
  std::vector<ParameterShare> parameters;  ///< those of several values, the greatest share first
};

/// Configurations that failed in one way.
struct Failure {
  std::string outcome;
  std::uint64_t count = 0;
  std::string example_configuration;
  std::string example_detail;
};

/// SM clocks under which the records of a problem were measured, and what held them down.
struct Clocks {
  std::uint64_t read = 0;  ///< records whose clock is known
  std::int64_t low_mhz = 0, high_mhz = 0;
  std::uint64_t throttled = 0;                   ///< records measured while something held the clocks down
  std::map<std::string, std::uint64_t> reasons;  ///< of them, by reason; a record may have several
};

struct ConvergencePoint {
  std::uint64_t evaluations = 0;
  double elapsed_s = 0;
  double best_us = 0;
};

/// A search after so many evaluations, beside random search.
struct CoursePoint {
  std::uint64_t evaluations = 0;
  std::optional<double> best_us;  ///< the fastest so far; nothing: none had worked
  double random_us = 0;           ///< what as many random draws of the measured configurations are expected to have found
};

/// What was found on one problem in the order in which its configurations were first decided, by all its sessions.
struct SearchCourse {
  std::uint64_t evaluations = 0;      ///< configurations, those that failed included
  std::uint64_t worked = 0;           ///< of them, those with a time
  std::uint64_t space_size = 0;       ///< different launches where they were counted, else configurations; 0: not recorded
  std::optional<double> space_share;  ///< of it, what was measured: random search draws from that alone
  std::vector<CoursePoint> points;    ///< after 1, 2, 5, 10, 25, 50, 100, 200, 400, ... and all evaluations: what tables show
  std::vector<CoursePoint> curve;     ///< these, every improvement and some between them: what charts show
};

struct Session {
  std::string strategy;
  std::uint64_t seed = 0;
  std::string state;
  std::string budget;
  std::string run;  ///< shared by the sessions of one command
  std::string started_at;
  std::string finished_at;
  std::string replayed_from;
  std::string attune_version;
  std::uint64_t space_size = 0;          ///< 0: not recorded
  std::uint64_t different_launches = 0;  ///< configurations of the space that repeat no other's launches; 0: not counted
  std::optional<std::uint64_t> measured, reused, failed;
  std::vector<ConvergencePoint> convergence;
};

struct Finalist {
  std::string configuration;
  double median_us = 0;
  std::optional<double> low_us, high_us;
  double ratio = 1;  ///< its time / the fastest time, paired
  double low = 1, high = 1;
};

/// What the template asks for beside the time of the best configuration.
struct Metrics {
  struct Objective {
    std::string of;  ///< the expression
    bool maximise = false;
    double value = 0;
    std::optional<double> default_value;
  };
  std::map<std::string, double> values;
  std::optional<Objective> objective;  ///< nothing: the time
  std::optional<double> power_w, power_resolution;

  [[nodiscard]] bool empty() const { return values.empty() && !objective; }
};

struct Best {
  std::string configuration;
  double median_us = 0;
  std::optional<double> low_us, high_us;  ///< interval of median_us
  std::optional<double> default_us;       ///< of the same run-off; nothing: the default does not run
  std::optional<double> speed_up;         ///< default / best
  std::optional<double> bytes_per_s;
  std::optional<double> ceiling_share;
  std::optional<double> operations_per_s;
  std::optional<double> peak_share;
  bool tie = false;
  bool verified = false;
  std::string recorded_at;
  std::string driver;
  std::optional<std::int64_t> registers, shared_bytes, spill_bytes, sm_clock_mhz;
  std::optional<double> occupancy;
  std::string throttle;  ///< what held the clocks down when it was measured: "power_cap,thermal_sw"; empty: nothing
  std::vector<Finalist> finalists;
  std::optional<std::uint64_t> rounds;
  Metrics metrics;
};

/// What was published about a variant, on hardware of its own.
struct LadderFigure {
  std::string text, hardware, source;
};

/// One published variant of the kernel at its best on this problem.
struct LadderRung {
  std::string name, why, where;
  std::uint64_t configurations = 0;      ///< 0: the variant does not exist at this size
  std::optional<std::uint64_t> decided;  ///< of them, those that have an outcome
  std::uint64_t failed = 0;
  std::string configuration;                                                 ///< empty: none has worked
  std::optional<double> median_us, ratio, step, bytes_per_s, ceiling_share;  ///< `step`: time of the rung above / own
  std::optional<double> operations_per_s, peak_share;
  bool screened = false;  ///< its time is of few samples
  std::vector<LadderFigure> published;
};

/// The fastest of each value of a parameter in the winning rung.
struct LadderTable {
  std::string parameter, rung;
  std::vector<std::pair<std::string, double>> cells;  ///< value, us
};

/// What another library took for the problem on the same device.
struct LadderPeer {
  std::string name;
  double median_us = 0;
  std::string version, driver, date;
};

/// The published variants of a kernel on one problem, from the naive one up.
struct Ladder {
  std::string summary;
  std::string finished_at;
  bool ran_off = false;  ///< the times are of one run-off; else each rung's of its own search
  std::optional<double> ceiling_bytes_per_s;
  std::vector<LadderRung> rungs;
  std::vector<LadderTable> tables;
  std::vector<LadderPeer> peers;  ///< where the writer of the page was given some
};

struct ProblemReport {
  std::string problem;  ///< canonical JSON
  std::map<std::string, std::int64_t> sizes;
  std::optional<std::int64_t> work_bytes;
  std::optional<std::int64_t> work_operations;
  std::uint64_t space_size = 0;          ///< 0: not recorded
  std::uint64_t different_launches = 0;  ///< configurations of the space that repeat no other's launches; 0: not counted
  std::optional<Best> best;              ///< nothing: no configuration was valid
  std::map<std::string, std::uint64_t> outcomes;
  std::vector<Failure> failures;  ///< most frequent first
  std::optional<Clocks> clocks;
  std::vector<ParameterEffect> effects;
  std::optional<ParameterShares> shares;  ///< nothing: too little was measured
  std::optional<SearchCourse> course;     ///< nothing: too little was stored
  std::vector<Session> sessions;          ///< newest first
  std::optional<Ladder> ladder;           ///< of the newest session that climbed one
  /// The session whose convergence is shown: the newest that measured something itself, else the newest that has any.
  std::optional<std::size_t> convergence_session;
  std::vector<std::string> drivers, nvrtcs, origins;
  std::string first_recorded_at, last_recorded_at;
};

/// Problems that differ only in size, on one device, under one policy; ascending in size.
struct Series {
  std::size_t device = 0;  ///< into Report::devices
  std::string policy;
  std::map<std::string, std::string> choices;  ///< {"T": "f32", "op": "sum"}
  std::optional<Ceiling> ceiling;
  std::optional<double> peak_operations_per_s;  ///< the device's theoretical_operations_per_s: what GFLOP/s are compared with
  std::vector<ProblemReport> problems;
};
/// Whether the tables and charts of the series show GFLOP/s: where the arithmetic of one of its problems matters (base/roofline.hpp).
[[nodiscard]] bool shows_operations(const Series& series);

struct Report {
  std::string generated_at;
  std::string template_name;
  std::string template_hash;
  std::string summary;  ///< the template's own sentence
  std::uint64_t records = 0;
  std::uint64_t other_hash_records = 0;  ///< of older versions of the template, left out
  std::vector<std::string> drivers, nvrtcs, origins, attune_versions;
  std::string first_recorded_at, last_recorded_at;
  std::vector<Device> devices;  ///< those that occur
  std::vector<Series> series;
};

struct Request {
  std::string template_name;                   ///< empty: the only one in the database
  std::optional<std::string> device;           ///< content key (or its beginning), or part of the name
  std::optional<std::string> policy;           ///< "cold/graph"
  std::map<std::string, std::string> problem;  ///< {"T": "f32", "n": "2^20"}: axes that have to match
};

/// What a report is made of, as read.
struct Rows {
  std::vector<db::TemplateRow> templates;
  std::vector<db::DeviceRow> devices;
  std::vector<db::RecordRow> records;
  std::vector<db::SessionRow> sessions;
  std::vector<db::BestRow> best;
};

/// The report on the newest version (by date of its rows) of one template.
/// Throws: UsageError naming what was asked for and what is there: unknown template or device, several templates and
/// none named, no row that matches.
[[nodiscard]] Report build(const db::Database& database, const Request& request);
[[nodiscard]] Report build(const Rows& rows, const Request& request);

}  // namespace attune::report
