#include <fmt/format.h>

#include <map>
#include <string_view>

#include "attune/error.hpp"
#include "tuner/base/embedded.hpp"
#include "tuner/report/html_sections.hpp"
#include "tuner/report/html_text.hpp"
#include "tuner/report/writers.hpp"

namespace attune::base {
EmbeddedFiles embedded_report_page();
EmbeddedFiles embedded_report_chart_js();
}  // namespace attune::base

namespace attune::report {

namespace {

std::string_view page_file(std::string_view name) {
  for (const base::EmbeddedFile& file : base::embedded_report_page()) {
    if (file.path.size() >= name.size() && file.path.substr(file.path.size() - name.size()) == name) return file.contents;
  }
  throw Error(fmt::format("failed writing the HTML report: '{}' is not part of this build", name));
}

/// Replaces every "@@NAME@@" in one pass, so that nothing inside an inserted text is taken for a place.
std::string fill_in(std::string_view page, const std::map<std::string_view, std::string_view>& parts) {
  std::string filled;
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = page.find("@@", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = page.find("@@", begin + 2);
    filled.append(page.substr(at, begin - at));
    filled.append(parts.at(page.substr(begin + 2, end - begin - 2)));
    at = end + 2;
  }
  return filled.append(page.substr(at));
}

std::string contents(const Report& report) {
  if (report.series.size() < 2) return "";
  std::string html = "<nav aria-label=\"Contents\"><ul>\n";
  for (std::size_t i = 0; i < report.series.size(); ++i) {
    html += fmt::format("<li><a href=\"#series-{}\">{}</a></li>\n", i, escape_html(series_title(report, report.series[i])));
  }
  return html + "</ul></nav>\n";
}

}  // namespace

std::string write_html(const Report& report) {
  std::string body = contents(report);
  for (std::size_t i = 0; i < report.series.size(); ++i) {
    body += fmt::format("<div id=\"series-{}\">\n{}</div>\n", i, series_html(report, i));
  }
  for (const Device& device : report.devices) body += device_html(device);
  const std::string name = escape_html(report.template_name);
  const std::string summary = escape_html(report.summary);
  const std::string facts = summary_html(report);
  const std::string data = escape_script_json(write_json(report));
  const std::string script = fmt::format("{}{}{}", page_file("chart_parts.js"), page_file("search_figures.js"), page_file("/charts.js"));
  return fill_in(page_file("page.html"), {{"NAME", name},
                                          {"SUMMARY", summary},
                                          {"FACTS", facts},
                                          {"BODY", body},
                                          {"DATA", data},
                                          {"STYLE", page_file("style.css")},
                                          {"CHART_JS", base::embedded_report_chart_js().begin()->contents},
                                          {"SCRIPT", script}});
}

}  // namespace attune::report
