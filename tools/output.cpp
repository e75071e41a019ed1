#include "tools/output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/problem_arguments.hpp"
#include "tuner/base/characters.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/report/rows.hpp"
#include "tuner/report/text.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;

bool numeric(const std::string& cell) { return !cell.empty() && (base::is_digit(cell[0]) || cell[0] == '-'); }

/// As the template stated it when the row was stored; 0 where the row does not tell.
struct Work {
  double bytes = 0, operations = 0;
};

Work work_of(const db::BestRow& row) {
  const json detail = base::parse_json(row.detail_json.empty() ? "{}" : row.detail_json);
  return {base::member_or(detail, "work_bytes", 0.0), base::member_or(detail, "work_operations", 0.0)};
}

/// A line for each row whose template asks for metrics.
std::string metrics_lines(const std::vector<const db::BestRow*>& rows) {
  std::string text;
  for (const auto* row : rows) {
    const std::string metrics = report::metrics_text(report::read_best(*row).metrics);
    if (metrics.empty()) continue;
    text +=
        base::escape_line(fmt::format("{} {}: {}", row->template_name, describe(spec::problem_from_text(row->problem)), metrics)) + "\n";
  }
  return text;
}

}  // namespace

void TextTable::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = base::escape_line(cell);
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      const bool right = rows_.size() > 1 && numeric(rows_[1][i]) && !last;
      line += right ? fmt::format("{:>{}}", row[i], widths[i]) : fmt::format("{:<{}}", row[i], last ? 0 : widths[i]);
      if (!last) line += "  ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string json_text(const json& value, int indent) { return base::escape_json(base::dump_json_replacing(value, indent)); }

void print_json(const json& value, int indent) {
  base::write_standard_output(json_text(value, indent));
  base::write_standard_output("\n");
}

void print_notices(const db::Database& database) {
  for (const std::string& notice : database.notices()) base::tell_message(notice);
}

void print_damaged(const db::Database& database, const std::filesystem::path& path) {
  if (database.bad_rows() > 0)
    base::tell("attune: {} damaged rows of {} were skipped; see attune db check\n", database.bad_rows(), path.string());
}

std::string short_configuration(const std::string& canonical_json) {
  std::string text;
  const json configuration = base::parse_json(canonical_json);
  for (const auto& [name, value] : configuration.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name,
                        value.is_string() ? value.get<std::string>() : base::dump_json_replacing(value));
  }
  return base::escape_line(text);
}

std::string format_us(double us) {
  if (us < 100) return fmt::format("{:.3f}", us);
  return fmt::format("{:.1f}", us);
}

RateCells rate_cells(double amount, double us, double most_per_s) {
  if (amount <= 0 || us <= 0) return {};
  const double rate = amount / (us * 1e-6);
  return {fmt::format("{:.1f}", rate / 1e9), most_per_s > 0 ? fmt::format("{:.1f}%", 100 * rate / most_per_s) : "-"};
}

std::string best_table(const std::vector<db::BestRow>& rows, const base::Roofline& roofline) {
  std::vector<const db::BestRow*> ordered;
  std::map<const db::BestRow*, Work> works;
  for (const auto& row : rows) {
    ordered.push_back(&row);
    works[&row] = work_of(row);
  }
  const bool arithmetic = std::any_of(works.begin(), works.end(),
                                      [](const auto& one) { return base::arithmetic_matters(one.second.bytes, one.second.operations); });
  std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
    const auto left = spec::problem_from_text(a->problem), right = spec::problem_from_text(b->problem);
    return std::tie(a->template_name, left.choices, left.sizes, a->policy, a->device_key) <
           std::tie(b->template_name, right.choices, right.sizes, b->policy, b->device_key);
  });
  std::vector<std::string> headers = {"problem", "policy", "best us", "default us", "speed-up", "GB/s", "of ceiling"};
  if (arithmetic) headers.insert(headers.end(), {"GFLOP/s", "of peak"});
  headers.emplace_back("configuration");
  TextTable table(headers);
  for (const auto* row : ordered) {
    const Work& work = works.at(row);
    const RateCells moved = rate_cells(work.bytes, row->median_us, roofline.bytes_per_s);
    const bool has_default = row->default_us > 0;
    std::vector<std::string> cells = {row->template_name + " " + describe(spec::problem_from_text(row->problem)),
                                      row->policy,
                                      format_us(row->median_us),
                                      has_default ? format_us(row->default_us) : "-",
                                      has_default ? fmt::format("{:.2f}x", row->default_us / row->median_us) : "-",
                                      moved.rate,
                                      moved.share};
    if (arithmetic) {
      const RateCells computed = rate_cells(work.operations, row->median_us, roofline.operations_per_s);
      cells.insert(cells.end(), {computed.rate, computed.share});
    }
    cells.push_back(short_configuration(row->configuration) + (row->tie ? " (tie)" : "") +
                    (row->objective == db::kUnverifiedTime ? " (unverified)" : ""));
    table.add(std::move(cells));
  }
  return table.text() + metrics_lines(ordered);
}

void add_metrics(json& best, const db::BestRow& row) {
  const json detail = base::parse_json(row.detail_json.empty() ? "{}" : row.detail_json);
  for (const char* const name : {"metrics", "objective", "power"})
    if (const auto found = detail.find(name); found != detail.end()) best[name] = *found;
}

}  // namespace attune::tools
