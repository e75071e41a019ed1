#include "db/prune_size.hpp"

#include <algorithm>

namespace attune::db {
namespace {

std::uint64_t pragma_number(StatementCache& statements, const char* sql) {
  Use use(statements.prepared(sql));
  if (!use.step()) return 0;
  ColumnReader reader(use.row());
  std::uint64_t number = 0;
  reader(number);
  return number;
}

/// Every table and index has a page, however empty, and their names and texts have some.
std::uint64_t bytes_without_rows(StatementCache& statements, std::uint64_t page) {
  constexpr std::uint64_t kOverhead = 16;  // of a row of a few columns
  const std::uint64_t texts =
      pragma_number(statements, "SELECT sum(length(type) + length(name) + length(tbl_name) + coalesce(length(sql), 0)) FROM sqlite_schema");
  const std::uint64_t rows = pragma_number(statements, "SELECT count(*) FROM sqlite_schema"),
                      roots = pragma_number(statements, "SELECT count(*) FROM sqlite_schema WHERE rootpage > 0");
  const std::uint64_t leaves = (texts + kOverhead * rows) / page + 1;
  return (roots + leaves + (leaves > 1 ? 1 : 0)) * page;
}

}  // namespace

PruneSize::PruneSize(StatementCache& statements, std::uint64_t content_bytes) : content_(static_cast<double>(content_bytes)) {
  const std::uint64_t page = std::max<std::uint64_t>(pragma_number(statements, "PRAGMA page_size"), 512);
  const std::uint64_t pages = pragma_number(statements, "PRAGMA page_count"),
                      free_pages = pragma_number(statements, "PRAGMA freelist_count");
  bytes_of_rows_ = (pages - std::min(pages, free_pages)) * page;
  least_bytes_ = bytes_without_rows(statements, page);
  // Pages of a file that lost rows before may be nearly empty, and contents that fit into the pages of empty tables take none.
  constexpr double kLeastOverhead = 0.25, kMostOverhead = 2;
  if (content_bytes == 0) return;
  overhead_ =
      std::clamp((static_cast<double>(bytes_of_rows_) - static_cast<double>(least_bytes_)) / content_, kLeastOverhead, kMostOverhead);
}

std::uint64_t PruneSize::take(double content_bytes) {
  taken_ += content_bytes;
  return in_file(content_bytes);
}

bool PruneSize::is_enough() const {
  if (!goal_bytes_ || *goal_bytes_ < least_bytes_) return false;
  // A sixteenth less than asked: how full the pages of what stays are is only known on average. Of a goal that is hardly above the least
  // size only half of what it leaves to rows.
  return left_bytes() <= *goal_bytes_ - std::min(*goal_bytes_ / 16, (*goal_bytes_ - least_bytes_) / 2);
}

}  // namespace attune::db
