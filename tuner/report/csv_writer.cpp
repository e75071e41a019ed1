#include <fmt/format.h>

#include <set>

#include "tuner/base/escape.hpp"
#include "tuner/report/parameter_shares.hpp"
#include "tuner/report/search_course.hpp"
#include "tuner/report/writers.hpp"

namespace attune::report {

namespace {

constexpr const char* kOutcomes[] = {"ok", "compile_failed", "exceeds_limits", "launch_failed", "wrong_result", "crashed", "timed_out"};

class Line {
 public:
  void add(const std::string& field) { put(base::escape_csv(field)); }
  void add(const char* field) { add(std::string(field)); }
  /// The shortest text that reads back as the same number; a minus begins no formula.
  void add(double value) { put(fmt::format("{}", value)); }
  void add(std::uint64_t value) { put(fmt::format("{}", value)); }
  void add(std::int64_t value) { put(fmt::format("{}", value)); }
  void add(bool value) { put(value ? "true" : "false"); }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      add("");
    }
  }
  [[nodiscard]] std::string end() const { return text_ + "\r\n"; }

 private:
  void put(const std::string& field) {
    if (!first_) text_ += ',';
    text_ += field;
    first_ = false;
  }

  std::string text_;
  bool first_ = true;
};

/// Columns that depend on what there is to tell.
struct FurtherColumns {
  std::set<std::uint64_t> marks;
  std::vector<std::string> parameters;
};

std::string csv_header(const FurtherColumns& further) {
  Line line;
  for (const char* column :
       {"template",     "template_hash", "device",     "device_key", "policy",        "problem",     "best_us",
        "low_us",       "high_us",       "default_us", "speed_up",   "work_bytes",    "bytes_per_s", "ceiling_bytes_per_s",
        "ceiling_kind", "ceiling_share", "tie",        "verified",   "configuration", "space_size",  "different_launches"}) {
    line.add(column);
  }
  for (const char* outcome : kOutcomes) line.add(outcome);
  // Whoever reads by position finds older columns where they were: new ones come last.
  for (const char* column : {"failure_examples", "driver", "nvrtc", "recorded_at", "origin", "work_operations", "operations_per_s",
                             "peak_operations_per_s", "peak_share", "evaluations", "space_share"}) {
    line.add(column);
  }
  for (const auto mark : further.marks) {
    line.add(fmt::format("best_us_after_{}", mark));
    line.add(fmt::format("random_us_after_{}", mark));
  }
  line.add("shares_learnt_from");
  for (const auto& parameter : further.parameters) {
    for (const char* figure : {"share", "share_low", "share_high"}) line.add(fmt::format("{}_of_{}", figure, parameter));
  }
  return line.end();
}

FurtherColumns further_columns(const Report& report) {
  FurtherColumns further;
  std::set<std::string> parameters;
  for (const Series& series : report.series) {
    further.marks.merge(common_marks(series.problems));
    for (const auto& name : shared_parameters(series.problems)) parameters.insert(name);
  }
  further.parameters.assign(parameters.begin(), parameters.end());
  return further;
}

void add_course(Line& line, const std::optional<SearchCourse>& course, const std::set<std::uint64_t>& marks) {
  line.add(course ? std::optional(course->evaluations) : std::nullopt);
  line.add(course ? course->space_share : std::nullopt);
  for (const auto mark : marks) {
    const CoursePoint* point = course ? point_at(*course, mark) : nullptr;
    line.add(point != nullptr ? point->best_us : std::nullopt);
    line.add(point != nullptr ? std::optional(point->random_us) : std::nullopt);
  }
}

void add_shares(Line& line, const ProblemReport& problem, const std::vector<std::string>& parameters) {
  line.add(problem.shares ? std::optional(problem.shares->learnt_from) : std::nullopt);
  for (const auto& parameter : parameters) {
    const ParameterShare* one = share_of(problem, parameter);
    for (double ParameterShare::*figure : {&ParameterShare::share, &ParameterShare::low, &ParameterShare::high}) {
      line.add(one != nullptr ? std::optional(one->*figure) : std::nullopt);
    }
  }
}

void add_best(Line& line, const std::optional<Best>& best, const ProblemReport& problem, const std::optional<Ceiling>& ceiling) {
  const auto of_best = [&best](std::optional<double> Best::*member) { return best ? (*best).*member : std::nullopt; };
  line.add(best ? std::optional<double>(best->median_us) : std::nullopt);
  line.add(of_best(&Best::low_us));
  line.add(of_best(&Best::high_us));
  line.add(of_best(&Best::default_us));
  line.add(of_best(&Best::speed_up));
  line.add(problem.work_bytes);
  line.add(of_best(&Best::bytes_per_s));
  line.add(ceiling ? std::optional<double>(ceiling->bytes_per_s) : std::nullopt);
  line.add(ceiling ? name(ceiling->kind) : "");
  line.add(of_best(&Best::ceiling_share));
  line.add(best ? std::optional<bool>(best->tie) : std::nullopt);
  line.add(best ? std::optional<bool>(best->verified) : std::nullopt);
  line.add(best ? best->configuration : std::string());
}

/// "wrong_result: block=128: out[0] is 1; timed_out: ...": one a kind, as the counts stand in columns of their own.
std::string examples(const std::vector<Failure>& failures) {
  std::vector<std::string> texts;
  for (const Failure& failure : failures) {
    texts.push_back(fmt::format("{}: {}: {}", failure.outcome, failure.example_configuration,
                                failure.example_detail.empty() ? "no reason recorded" : failure.example_detail));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string joined(const std::vector<std::string>& items) { return fmt::format("{}", fmt::join(items, "; ")); }

}  // namespace

std::string write_csv(const Report& report) {
  const FurtherColumns further = further_columns(report);
  std::string text = csv_header(further);
  for (const Series& series : report.series) {
    for (const ProblemReport& problem : series.problems) {
      Line line;
      line.add(report.template_name);
      line.add(report.template_hash);
      line.add(report.devices[series.device].name);
      line.add(report.devices[series.device].key);
      line.add(series.policy);
      line.add(problem.problem);
      add_best(line, problem.best, problem, series.ceiling);
      line.add(problem.space_size > 0 ? std::optional<std::uint64_t>(problem.space_size) : std::nullopt);
      line.add(problem.different_launches > 0 ? std::optional<std::uint64_t>(problem.different_launches) : std::nullopt);
      for (const char* outcome : kOutcomes) {
        const auto count = problem.outcomes.find(outcome);
        line.add(count == problem.outcomes.end() ? std::uint64_t{0} : count->second);
      }
      line.add(examples(problem.failures));
      line.add(joined(problem.drivers));
      line.add(joined(problem.nvrtcs));
      line.add(problem.best ? problem.best->recorded_at : problem.last_recorded_at);
      line.add(joined(problem.origins));
      line.add(problem.work_operations);
      line.add(problem.best ? problem.best->operations_per_s : std::nullopt);
      line.add(series.peak_operations_per_s);
      line.add(problem.best ? problem.best->peak_share : std::nullopt);
      add_course(line, problem.course, further.marks);
      add_shares(line, problem, further.parameters);
      text += line.end();
    }
  }
  return text;
}

}  // namespace attune::report
