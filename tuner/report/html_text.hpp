#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/base/escape.hpp"

namespace attune::report {

using base::escape_html;
using base::escape_script_json;

/// What stands where a figure was not recorded.
inline constexpr const char* kMissingHtml = "<span class=\"missing\">not recorded</span>";

template <class T, class F>
[[nodiscard]] std::string or_missing(const std::optional<T>& value, F format) {
  return value ? escape_html(format(*value)) : kMissingHtml;
}

/// "n = 2^20" with the exponent raised.
[[nodiscard]] std::string sizes_html(const std::map<std::string, std::int64_t>& sizes);

/// A table whose cells are markup already. Wide ones scroll inside their own frame, with the first column kept in view.
class HtmlTable {
 public:
  enum class Kind {
    Text,
    Number,   ///< right-aligned
    Decimal,  ///< right-aligned with the decimal points under each other
  };
  struct Column {
    std::string title;  ///< markup
    Kind kind = Kind::Number;
  };
  explicit HtmlTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// A row; `classes[i]`, where there is one, is set on its cell.
  void add(const std::vector<std::string>& cells, const std::vector<std::string>& classes = {});
  /// A line across all columns that names what follows.
  void add_group(const std::string& title);
  [[nodiscard]] std::string html() const;

 private:
  struct Row {
    std::vector<std::string> cells;  ///< of a group line: its title alone
    std::vector<std::string> classes;
    bool group = false;
  };
  [[nodiscard]] std::string row_html(const Row& row, const std::vector<std::size_t>& decimals) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace attune::report
