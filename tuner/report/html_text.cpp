#include "tuner/report/html_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tuner/base/text.hpp"

namespace attune::report {

std::string sizes_html(const std::map<std::string, std::int64_t>& sizes) {
  if (sizes.empty()) return "&ndash;";
  std::string html;
  for (const auto& [name, size] : sizes) {
    const std::string count = base::format_count(size);
    html += fmt::format("{}{}&nbsp;=&nbsp;", html.empty() ? "" : ", ", escape_html(name));
    html += count.rfind("2^", 0) == 0 ? fmt::format("2<sup>{}</sup>", count.substr(2)) : count;
  }
  return html;
}

namespace {

/// Digits after the point of a plain number; nothing for other cells.
std::optional<std::size_t> decimals_of(const std::string& cell) {
  if (cell.empty() || cell.find_first_not_of("-0123456789.") != std::string::npos) return std::nullopt;
  const std::size_t point = cell.find('.');
  return point == std::string::npos ? 0 : cell.size() - point - 1;
}

/// Invisible digits after a number with fewer decimals than its column, so that the points stand under each other.
std::string padded(const std::string& cell, std::size_t decimals) {
  const auto own = decimals_of(cell);
  if (!own || *own >= decimals) return cell;
  std::string padding(decimals - *own, '0');
  if (*own == 0) padding.insert(padding.begin(), '.');
  return fmt::format("{}<span class=\"pad\" aria-hidden=\"true\">{}</span>", cell, padding);
}

}  // namespace

void HtmlTable::add(const std::vector<std::string>& cells, const std::vector<std::string>& classes) {
  rows_.push_back({cells, classes, false});
}

void HtmlTable::add_group(const std::string& title) { rows_.push_back({{title}, {}, true}); }

std::string HtmlTable::row_html(const Row& row, const std::vector<std::size_t>& decimals) const {
  if (row.group) {
    return fmt::format("<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\"><span>{}</span></th></tr>\n", columns_.size(),
                       row.cells.front());
  }
  std::string html = "<tr>";
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    std::string css = columns_[i].kind == Kind::Text ? "" : "num";
    if (i < row.classes.size() && !row.classes[i].empty()) css += (css.empty() ? "" : " ") + row.classes[i];
    const std::string attribute = css.empty() ? "" : fmt::format(" class=\"{}\"", css);
    const std::string cell = columns_[i].kind == Kind::Decimal ? padded(row.cells[i], decimals[i]) : row.cells[i];
    html += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", attribute, cell) : fmt::format("<td{}>{}</td>", attribute, cell);
  }
  return html + "</tr>\n";
}

std::string HtmlTable::html() const {
  std::string head, body;
  for (const Column& column : columns_) {
    head += fmt::format("<th scope=\"col\"{}>{}</th>", column.kind == Kind::Text ? "" : " class=\"num\"", column.title);
  }
  std::vector<std::size_t> decimals(columns_.size(), 0);
  for (const Row& row : rows_) {
    for (std::size_t i = 0; !row.group && i < row.cells.size(); ++i) {
      decimals[i] = std::max(decimals[i], decimals_of(row.cells[i]).value_or(0));
    }
  }
  for (const Row& row : rows_) body += row_html(row, decimals);
  return fmt::format("<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n", head, body);
}

}  // namespace attune::report
