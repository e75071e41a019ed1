#include "tools/ladder_output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "db/records.hpp"
#include "tools/output.hpp"
#include "tools/problem_arguments.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/text.hpp"
#include "tuner/report/size_cuts.hpp"

namespace attune::tools {
namespace {

using nlohmann::json;
using session::LadderResult;
using session::RungResult;

/// Which arm of the roofline a column is of.
enum class Rate { Bytes, Operations };

RateCells rates(const LadderResult& result, double us, Rate of) {
  const auto& work = result.tuned.work;
  return of == Rate::Bytes ? rate_cells(static_cast<double>(work.bytes), us, result.read_ceiling_bytes_per_s)
                           : rate_cells(static_cast<double>(work.operations), us, result.peak_operations_per_s);
}

bool arithmetic_matters(const LadderResult& result) {
  const auto& work = result.tuned.work;
  return base::arithmetic_matters(static_cast<double>(work.bytes), static_cast<double>(work.operations));
}

/// The last cell of a rung: what was fastest, or why nothing was.
std::string rung_note(const RungResult& rung) {
  if (rung.size == 0) return fmt::format("empty here: \"{}\" leaves nothing", rung.emptied_by);
  if (rung.configuration.empty()) {
    return rung.decided == 0 ? fmt::format("none of its {} configurations was measured", rung.size)
                             : fmt::format("none of {} configurations is valid, {} failed", rung.decided, rung.failed);
  }
  const std::string sampled = rung.decided < rung.size ? fmt::format(" (of {} of {} tried)", rung.decided, rung.size) : "";
  return short_configuration(rung.configuration) + (rung.screened ? " (few samples)" : "") + sampled;
}

/// Whether somebody compared what its rungs give; nothing where none has worked.
std::optional<bool> is_verified(const LadderResult& result) {
  if (!result.tuned.best) return std::nullopt;
  return result.tuned.best->objective != db::kUnverifiedTime;
}

std::string heading(const LadderResult& result, const std::string& template_name, const std::string& policy) {
  const double ceiling = result.read_ceiling_bytes_per_s;
  return base::escape_line(fmt::format("{} {}, {}, at most {} of {} configurations, read ceiling {}", template_name,
                                       describe(result.tuned.problem), policy, result.planned, result.tuned.space_size,
                                       ceiling > 0 ? fmt::format("{:.0f} GB/s", ceiling / 1e9) : "unknown"));
}

/// Rung by problem of the cut; `common` is what all of it have in common.
std::string curve_table(const std::vector<LadderResult>& results, const report::SizeCut& cut, const spec::Problem& common, Rate of) {
  std::vector<std::string> columns = {"rung"}, names;
  for (const std::size_t i : cut.problems) {
    columns.push_back(base::format_count(results[i].tuned.problem.sizes.at(cut.axis)));
    for (const RungResult& rung : results[i].rungs) {
      if (std::find(names.begin(), names.end(), rung.name) == names.end()) names.push_back(rung.name);
    }
  }
  TextTable table(columns);
  for (const auto& name : names) {
    std::vector<std::string> row = {name};
    for (const std::size_t i : cut.problems) {
      const auto& rungs = results[i].rungs;
      const auto rung = std::find_if(rungs.begin(), rungs.end(), [&](const RungResult& one) { return one.name == name; });
      row.push_back(rung == rungs.end() ? "-" : rates(results[i], rung->median_us, of).rate);
    }
    table.add(row);
  }
  return fmt::format("\n{} over {}, {}\n{}", of == Rate::Bytes ? "GB/s" : "GFLOP/s", base::escape_line(cut.axis), describe(common),
                     table.text());
}

}  // namespace

std::string ladder_table(const LadderResult& result, const std::string& template_name, const std::string& policy,
                         const std::vector<Peer>& peers) {
  const bool arithmetic = arithmetic_matters(result);
  std::vector<std::string> headers = {"rung", "us", "GB/s", "of ceiling"};
  if (arithmetic) headers.insert(headers.end(), {"GFLOP/s", "of peak"});
  headers.insert(headers.end(), {"step", "fastest configuration"});
  TextTable table(headers);
  const auto add = [&](const std::string& name, double us, const std::string& step, const std::string& note) {
    const RateCells moved = rates(result, us, Rate::Bytes), computed = rates(result, us, Rate::Operations);
    std::vector<std::string> cells = {name, us > 0 ? format_us(us) : "-", moved.rate, moved.share};
    if (arithmetic) cells.insert(cells.end(), {computed.rate, computed.share});
    cells.insert(cells.end(), {step, note});
    table.add(std::move(cells));
  };
  for (std::size_t i = 0; i < result.rungs.size(); ++i) {
    const RungResult& rung = result.rungs[i];
    const auto step = result.step(i);
    add(rung.name, rung.median_us, step ? fmt::format("{:.2f}x", *step) : "-", rung_note(rung));
  }
  for (const Peer& peer : peers) {
    add("peer " + peer.name, peer.median_us, "-",
        fmt::format("{}recorded {}, driver {}", peer.version.empty() ? "" : peer.version + ", ", peer.date, peer.driver));
  }
  std::string text = heading(result, template_name, policy) + "\n" + table.text();
  if (!result.complete)
    text += "interrupted here; the rungs above are done and stored, the last as far as it came\n";
  else
    text += result.ran_off ? "times of one run-off of the rungs' fastest\n" : "each rung's time is of its own search, not of a run-off\n";
  if (is_verified(result) == false) text += "unverified, all of it: the template has no reference\n";
  return text;
}

std::string value_tables(const std::vector<LadderResult>& results, const spec::VariantLadder& ladder) {
  std::string text;
  for (std::size_t parameter = 0; parameter < ladder.tables.size(); ++parameter) {
    std::vector<std::string> values;  // of all problems, in the order of the template
    for (const auto& result : results) {
      const auto winner = result.winner();
      if (!winner) continue;
      std::vector<std::string> own;
      for (const auto& cell : result.rungs[*winner].tables[parameter]) own.push_back(cell.value);
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (std::find(values.begin(), values.end(), own[i]) != values.end()) continue;
        const auto before = i == 0 ? values.begin() : std::find(values.begin(), values.end(), own[i - 1]) + 1;
        values.insert(before, own[i]);
      }
    }
    if (values.empty()) continue;
    std::vector<std::string> columns = {"problem", "rung"};
    columns.insert(columns.end(), values.begin(), values.end());
    TextTable table(columns);
    for (const auto& result : results) {
      const auto winner = result.winner();
      if (!winner) continue;
      std::vector<std::string> row = {describe(result.tuned.problem), result.rungs[*winner].name};
      for (const auto& value : values) {
        const auto& cells = result.rungs[*winner].tables[parameter];
        const auto cell = std::find_if(cells.begin(), cells.end(), [&](const auto& one) { return one.value == value; });
        row.push_back(cell == cells.end() ? "-" : format_us(cell->median_us));
      }
      table.add(row);
    }
    text += fmt::format("\nFastest of each {} in the winning rung, us of the search\n{}", base::escape_line(ladder.tables[parameter]),
                        table.text());
  }
  return text;
}

std::string curve_tables(const std::vector<LadderResult>& results) {
  std::map<std::map<std::string, std::string>, std::map<std::size_t, report::Sizes>> groups;
  for (std::size_t i = 0; i < results.size(); ++i) groups[results[i].tuned.problem.choices][i] = results[i].tuned.problem.sizes;
  std::string text;
  for (const auto& [choices, problems] : groups) {
    const auto cuts = report::size_cuts(problems);
    for (const auto& cut : cuts) {
      if (cut.axis != cuts[report::widest_cut(cuts)].axis) continue;
      text += curve_table(results, cut, {choices, cut.fixed}, Rate::Bytes);
      const bool arithmetic =
          std::any_of(cut.problems.begin(), cut.problems.end(), [&](std::size_t i) { return arithmetic_matters(results[i]); });
      if (arithmetic) text += curve_table(results, cut, {choices, cut.fixed}, Rate::Operations);
    }
  }
  return text;
}

std::string ladder_legend(const spec::VariantLadder& ladder) {
  std::string text = "\nWhy each rung, and what was published on other hardware\n";
  for (const auto& rung : ladder.rungs) {
    text += fmt::format("  {}: {}\n", base::escape_line(rung.name), base::escape_line(rung.why));
    for (const auto& figure : rung.published)
      text += fmt::format("    published: {} ({}; {})\n", base::escape_line(figure.text), base::escape_line(figure.hardware),
                          base::escape_line(figure.source));
  }
  return text;
}

json ladder_event(const LadderResult& result, const spec::VariantLadder& ladder, const std::vector<Peer>& peers) {
  json event = session::to_json(result, ladder);
  event["problem"] = base::parse_json(spec::to_text(result.tuned.problem));
  event["measured"] = result.tuned.measured;
  const auto verified = is_verified(result);
  event["verified"] = verified ? json(*verified) : json(nullptr);
  event["peers"] = json::array();
  for (const Peer& peer : peers) {
    event["peers"].push_back(
        {{"name", peer.name}, {"median_us", peer.median_us}, {"version", peer.version}, {"driver", peer.driver}, {"date", peer.date}});
  }
  return event;
}

}  // namespace attune::tools
