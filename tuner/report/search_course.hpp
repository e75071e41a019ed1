#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "tuner/report/report.hpp"

namespace attune::report {

/// The search of one problem beside random search, of all its stored records: each configuration once, however often it was measured or
/// reused, and failures among them. `records` are in the order in which they were first stored, which is that of the search; where their
/// dates jump back so often that they were imported (an import stores them by key), the dates tell the order.
/// `space_size`: configurations, or different launches where those were counted; 0: not recorded.
/// Nothing where there are fewer than two records, or none that worked.
[[nodiscard]] std::optional<SearchCourse> search_course(const std::vector<const db::RecordRow*>& records, std::uint64_t space_size);

/// After how many evaluations the tables tell something of one of these problems, but for the last of each, which are as many as problems.
[[nodiscard]] std::set<std::uint64_t> common_marks(const std::vector<ProblemReport>& problems);
/// Nothing where the problem has no such point.
[[nodiscard]] const CoursePoint* point_at(const SearchCourse& course, std::uint64_t evaluations);

}  // namespace attune::report
