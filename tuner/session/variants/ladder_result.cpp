#include "tuner/session/variants/ladder_result.hpp"

#include <algorithm>

#include "tuner/base/json.hpp"

namespace attune::session {
namespace {

using nlohmann::json;

json tables_json(const LadderResult& result, const spec::VariantLadder& ladder) {
  json tables = json::array();
  const auto winner = result.winner();
  if (!winner) return tables;
  const RungResult& rung = result.rungs[*winner];
  for (std::size_t i = 0; i < ladder.tables.size() && i < rung.tables.size(); ++i) {
    json cells = json::array();
    for (const auto& cell : rung.tables[i]) {
      cells.push_back({{"value", cell.value}, {"median_us", cell.median_us}, {"configuration", base::parse_json(cell.configuration)}});
    }
    tables.push_back({{"parameter", ladder.tables[i]}, {"rung", rung.name}, {"cells", std::move(cells)}});
  }
  return tables;
}

/// Null: not known.
void add_rates(json& rung, const LadderResult& result, double median_us) {
  const auto add = [&](const char* name, const char* share_name, std::int64_t amount, double most) {
    const double rate = amount > 0 && median_us > 0 ? static_cast<double>(amount) / (median_us * 1e-6) : 0;
    rung[name] = rate > 0 ? json(rate) : json(nullptr);
    rung[share_name] = rate > 0 && most > 0 ? json(rate / most) : json(nullptr);
  };
  add("bytes_per_s", "ceiling_share", result.tuned.work.bytes, result.read_ceiling_bytes_per_s);
  add("operations_per_s", "peak_share", result.tuned.work.operations, result.peak_operations_per_s);
}

json published_json(const std::vector<spec::PublishedFigure>& figures) {
  json list = json::array();
  for (const auto& figure : figures) list.push_back({{"text", figure.text}, {"hardware", figure.hardware}, {"source", figure.source}});
  return list;
}

}  // namespace

std::optional<std::size_t> LadderResult::winner() const {
  std::optional<std::size_t> fastest;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    if (rungs[i].median_us > 0 && (!fastest || rungs[i].median_us < rungs[*fastest].median_us)) fastest = i;
  }
  return fastest;
}

std::optional<double> LadderResult::step(std::size_t index) const {
  if (rungs[index].median_us <= 0) return std::nullopt;
  for (std::size_t above = index; above-- > 0;) {
    if (rungs[above].median_us > 0) return rungs[above].median_us / rungs[index].median_us;
  }
  return std::nullopt;
}

json to_json(const RungResult& rung) {
  json object = {{"name", rung.name}, {"configurations", rung.size}, {"decided", rung.decided}, {"failed", rung.failed}};
  if (rung.size == 0) object["emptied_by"] = rung.emptied_by;
  object["configuration"] = rung.configuration.empty() ? json(nullptr) : base::parse_json(rung.configuration);
  object["median_us"] = rung.median_us > 0 ? json(rung.median_us) : json(nullptr);
  if (rung.median_us > 0) object.update({{"low_us", rung.low_us}, {"high_us", rung.high_us}, {"screened", rung.screened}});
  if (rung.to_best)
    object.update({{"ratio", rung.to_best->median_ratio}, {"ratio_low", rung.to_best->low}, {"ratio_high", rung.to_best->high}});
  return object;
}

json to_json(const LadderResult& result, const spec::VariantLadder& ladder) {
  json rungs = json::array();
  for (std::size_t i = 0; i < result.rungs.size(); ++i) {
    json rung = to_json(result.rungs[i]);
    rung["why"] = ladder.rungs[i].why;
    rung["where"] = ladder.rungs[i].where.expression.text();
    rung["published"] = published_json(ladder.rungs[i].published);
    const auto step = result.step(i);
    rung["step"] = step ? json(*step) : json(nullptr);
    add_rates(rung, result, result.rungs[i].median_us);
    rungs.push_back(std::move(rung));
  }
  const double ceiling = result.read_ceiling_bytes_per_s, peak = result.peak_operations_per_s;
  return {{"rungs", std::move(rungs)},
          {"tables", tables_json(result, ladder)},
          {"ran_off", result.ran_off},
          {"cut_short", result.cut_short},
          {"complete", result.complete},
          {"planned", result.planned},
          {"summary", ladder.summary},
          {"read_ceiling_bytes_per_s", ceiling > 0 ? json(ceiling) : json(nullptr)},
          {"peak_operations_per_s", peak > 0 ? json(peak) : json(nullptr)}};
}

std::vector<std::string> winners_of(const std::vector<RungResult>& rungs) {
  std::vector<std::string> winners;
  for (const auto& rung : rungs) {
    if (!rung.configuration.empty() && spokesman_of(rungs, rung) == &rung) winners.push_back(rung.configuration);
  }
  return winners;
}

const RungResult* spokesman_of(const std::vector<RungResult>& rungs, const RungResult& of) {
  const auto first = std::find_if(rungs.begin(), rungs.end(), [&](const RungResult& rung) {
    return rung.launches == of.launches && rung.configuration.empty() == of.configuration.empty();
  });
  return first == rungs.end() ? &of : &*first;
}

bool take_times(LadderResult& result, const json& earlier) try {
  if (!earlier.value("ran_off", false)) return false;
  const json& rungs = earlier.at("rungs");
  if (rungs.size() != result.rungs.size()) return false;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const json& configuration = rungs[i].at("configuration");
    const std::string text = configuration.is_null() ? "" : base::dump_json(configuration);
    if (rungs[i].at("name") != result.rungs[i].name || text != result.rungs[i].configuration) return false;
  }
  std::vector<RungResult> taken = result.rungs;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    RungResult& rung = taken[i];
    if (rung.configuration.empty()) continue;
    rung.median_us = rungs[i].at("median_us");
    rung.low_us = rungs[i].at("low_us");
    rung.high_us = rungs[i].at("high_us");
    rung.to_best = measure::PairedComparison{rungs[i].at("ratio"), rungs[i].at("ratio_low"), rungs[i].at("ratio_high")};
    rung.screened = false;
  }
  result.rungs = std::move(taken);
  result.ran_off = true;
  return true;
} catch (const json::exception&) {  // an imported session may say anything there
  return false;
}

}  // namespace attune::session
