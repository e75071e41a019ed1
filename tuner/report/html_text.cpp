#include "tuner/report/html_text.hpp"

#include <fmt/format.h>

#include "tuner/base/text.hpp"

namespace attune::report {

std::string escape_html(const std::string& text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string escape_script_json(const std::string& json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json) {
    // Outside strings JSON has none of these, inside them the escape means the same character.
    switch (c) {
      case '<': escaped += "\\u003c"; break;
      case '>': escaped += "\\u003e"; break;
      case '&': escaped += "\\u0026"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

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

void HtmlTable::add(const std::vector<std::string>& cells, const std::vector<std::string>& classes) {
  body_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string css = columns_[i].kind == Kind::Number ? "num" : "";
    if (i < classes.size() && !classes[i].empty()) css += (css.empty() ? "" : " ") + classes[i];
    const std::string attribute = css.empty() ? "" : fmt::format(" class=\"{}\"", css);
    body_ += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", attribute, cells[i])
                    : fmt::format("<td{}>{}</td>", attribute, cells[i]);
  }
  body_ += "</tr>\n";
}

void HtmlTable::add_group(const std::string& title) {
  body_ += fmt::format("<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\"><span>{}</span></th></tr>\n", columns_.size(),
                       title);
}

std::string HtmlTable::html() const {
  std::string head;
  for (const Column& column : columns_) {
    head += fmt::format("<th scope=\"col\"{}>{}</th>", column.kind == Kind::Number ? " class=\"num\"" : "", column.title);
  }
  return fmt::format("<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n", head,
                     body_);
}

}  // namespace attune::report
