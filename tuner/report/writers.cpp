#include "tuner/report/writers.hpp"

#include <fmt/format.h>

#include "attune/error.hpp"

namespace attune::report {

Format format_from_name(const std::string& name) {
  if (name == "html") return Format::Html;
  if (name == "md") return Format::Markdown;
  if (name == "csv") return Format::Csv;
  if (name == "json") return Format::Json;
  throw UsageError(fmt::format(
      "failed choosing the report format '{}': the formats are html, md, csv and json, and of one problem t4 and kernel-tuner", name));
}

std::string write(const Report& report, Format format) {
  switch (format) {
    case Format::Html:
      return write_html(report);
    case Format::Markdown:
      return write_markdown(report);
    case Format::Csv:
      return write_csv(report);
    case Format::Json:
      return write_json(report);
  }
  throw Error("failed writing the report: unknown format");
}

}  // namespace attune::report
