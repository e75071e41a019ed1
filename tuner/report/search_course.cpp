#include "tuner/report/search_course.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/search/random_expectation.hpp"

namespace attune::report {

namespace {

using Records = std::vector<const db::RecordRow*>;

/// Measuring single configurations again (after failures, or under another driver) dates few records later than those behind them. Of
/// records in an order of keys every second one is.
constexpr std::size_t kFewestStepsOfOneBack = 4;
constexpr double kPointsOfDecade = 20;

Records in_order_of_search(Records records) {
  std::size_t back = 0;
  for (std::size_t i = 1; i < records.size(); ++i) back += records[i]->recorded_at < records[i - 1]->recorded_at ? 1 : 0;
  if (back * kFewestStepsOfOneBack <= records.size()) return records;
  std::stable_sort(records.begin(), records.end(), [](const auto* a, const auto* b) { return a->recorded_at < b->recorded_at; });
  return records;
}

/// 1, 2, 5, 10, 25, 50, 100, 200, 400 and so on doubling, as far as they go, and the last.
std::set<std::uint64_t> table_marks(std::uint64_t last) {
  std::set<std::uint64_t> marks = {last};
  for (const std::uint64_t mark : {1, 2, 5, 10, 25, 50}) {
    if (mark < last) marks.insert(mark);
  }
  for (std::uint64_t mark = 100; mark < last; mark *= 2) marks.insert(mark);
  return marks;
}

/// Where a curve has its points: those of the table, some in each decade, and every improvement.
std::set<std::uint64_t> curve_marks(std::uint64_t last, const std::vector<double>& best_us) {
  std::set<std::uint64_t> marks = table_marks(last);
  for (int i = 0;; ++i) {
    const auto mark = static_cast<std::uint64_t>(std::llround(std::pow(10.0, i / kPointsOfDecade)));
    if (mark >= last) break;
    marks.insert(mark);
  }
  for (std::size_t i = 1; i < best_us.size(); ++i) {
    if (best_us[i] < best_us[i - 1]) marks.insert(i + 1);
  }
  return marks;
}

}  // namespace

std::optional<SearchCourse> search_course(const std::vector<const db::RecordRow*>& records, std::uint64_t space_size) {
  std::vector<double> times_us, best_us;  // of those that worked; the fastest so far of all
  double best = std::numeric_limits<double>::infinity();
  for (const auto* record : in_order_of_search(records)) {
    if (record->outcome == "ok" && record->median_us > 0) {
      times_us.push_back(record->median_us);
      best = std::min(best, record->median_us);
    }
    best_us.push_back(best);
  }
  if (best_us.size() < 2 || times_us.empty()) return std::nullopt;
  std::sort(times_us.begin(), times_us.end());

  SearchCourse course;
  course.evaluations = best_us.size();
  course.worked = times_us.size();
  course.space_size = space_size;
  // One launch may be stored under several names.
  if (space_size > 0) course.space_share = std::min(1.0, static_cast<double>(best_us.size()) / static_cast<double>(space_size));
  const auto point = [&](std::uint64_t evaluations) {
    const double found = best_us[evaluations - 1];
    return CoursePoint{evaluations, std::isfinite(found) ? std::optional(found) : std::nullopt,
                       search::expected_best(times_us, best_us.size(), evaluations)};
  };
  for (const auto mark : table_marks(course.evaluations)) course.points.push_back(point(mark));
  for (const auto mark : curve_marks(course.evaluations, best_us)) course.curve.push_back(point(mark));
  return course;
}

std::set<std::uint64_t> common_marks(const std::vector<ProblemReport>& problems) {
  std::set<std::uint64_t> marks;
  for (const ProblemReport& problem : problems) {
    if (!problem.course) continue;
    for (const CoursePoint& point : problem.course->points) {
      if (point.evaluations < problem.course->evaluations) marks.insert(point.evaluations);
    }
  }
  return marks;
}

const CoursePoint* point_at(const SearchCourse& course, std::uint64_t evaluations) {
  const auto found =
      std::find_if(course.points.begin(), course.points.end(), [&](const CoursePoint& point) { return point.evaluations == evaluations; });
  return found == course.points.end() ? nullptr : &*found;
}

}  // namespace attune::report
